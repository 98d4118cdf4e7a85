Feature: Programs that know of no proxy
  Many programs read no proxy variables, or can be told not to. In allowlist mode they do not work; none of them gets out.

  @NET-04
  Rule: Tools that ignore the proxy variables fail closed

    Background:
      Given a sandboxed step
      And the network is allowlist
      And the host "allowed.example" is allowed

    Scenario Outline: a program that makes its own connections does not get out <how>
      When the step runs the shell command "<command>; true"
      Then no origin answers
      And bare, the same command reaches an origin

      Examples:
        | how                     | command                                                          |
        | to a listed host        | tools/probe connect --proxy none allowed.example:443             |
        | to a host not listed    | tools/probe connect --proxy none blocked.example:443             |
        | without an environment  | env -i tools/probe connect --proxy none allowed.example:443      |
        | in a session of its own | setsid -w tools/probe connect --proxy none 93.184.216.34:80      |
        | in the background       | tools/probe connect --proxy none 93.184.216.34:80 & wait         |

    @case:N01 @program:bash
    Scenario Outline: bash does not get out by /dev/tcp to <host>
      When the step runs the shell command "timeout 20 bash -c 'exec 3<>/dev/tcp/<host>/80 && printf "GET / HTTP/1.0\r\n\r\n" >&3 && cat <&3'; true"
      Then no origin answers
      And bare, the same command reaches an origin

      Examples:
        | host            |
        | 93.184.216.34   |
        | 93.184.216.35   |
        | allowed.example |
        | blocked.example |

    @case:N01 @program:curl
    Scenario Outline: curl without the proxy does not get out to <url>
      When the step runs the shell command "curl -sS -m 10 --noproxy '*' <url>; true"
      Then no origin answers
      And bare, the same command reaches an origin

      Examples:
        | url                     |
        | http://93.184.216.34/   |
        | http://93.184.216.35/   |
        | http://allowed.example/ |
        | http://blocked.example/ |

    @case:N01 @program:curl
    Scenario: curl without an environment does not get out
      When the step runs the shell command "env -i /usr/bin/curl -sS -m 10 http://allowed.example/ http://93.184.216.34/ http://93.184.216.35/; true"
      Then no origin answers
      And bare, the same command reaches an origin

    @case:N01 @program:wget
    Scenario Outline: wget without the proxy does not get out to <url>
      When the step runs the shell command "wget --no-proxy -T 5 -t 1 -qO- <url>; true"
      Then no origin answers
      And bare, the same command reaches an origin

      Examples:
        | url                     |
        | http://93.184.216.34/   |
        | http://allowed.example/ |
        | http://blocked.example/ |

    @case:N01 @program:python3
    Scenario Outline: a socket of python does not get out to <host>
      When the step runs the shell command "python3 -c 'import socket; s = socket.create_connection(("<host>", 80), 5); s.sendall(b"GET / HTTP/1.0\r\n\r\n"); print(s.recv(9999))' 2>&1; true"
      Then no origin answers
      And bare, the same command reaches an origin

      Examples:
        | host            |
        | 93.184.216.34   |
        | allowed.example |
        | blocked.example |

    # A fetch of node reads the variables only where NODE_USE_ENV_PROXY is set
    @case:N01 @program:node
    Scenario Outline: node's <what> without the proxy does not get out
      When the step runs the shell command "env -u NODE_USE_ENV_PROXY node -e '<script>' 2>&1; true"
      Then no origin answers
      And bare, the same command reaches an origin

      Examples:
        | what  | script                                                                                              |
        | fetch | fetch("http://blocked.example/").then(r => r.text()).then(console.log, e => console.log(String(e))) |
        | http  | require("http").get("http://93.184.216.35/", r => r.pipe(process.stdout)).on("error", console.log)  |

    @case:N01 @program:socat
    Scenario Outline: socat does not get out to <host>
      When the step runs the shell command "printf 'GET / HTTP/1.0\r\n\r\n' | socat -t 5 - TCP:<host>:80,connect-timeout=5; true"
      Then no origin answers
      And bare, the same command reaches an origin

      Examples:
        | host            |
        | 93.184.216.35   |
        | blocked.example |
