Feature: No way around the proxy
  With network: allowlist the only way out is the proxy. What does not use it does not get out: by no protocol, to no address,
  by no kind of socket.

  @NET-03
  Rule: network: allowlist: a direct connection to any host fails

    Background:
      Given a sandboxed step
      And the network is allowlist
      And the host "allowed.example" is allowed

    Scenario Outline: cannot connect directly to <what>
      When the step runs the probe "connect --proxy none <authority>"
      Then no origin answers
      And bare, "<authority>" answers

      Examples:
        | what                        | authority           |
        | a host that is not listed   | blocked.example:443 |
        | a host that is listed       | allowed.example:443 |
        | an address                  | 93.184.216.35:443   |
        | the address of a listed one | 93.184.216.34:80    |
        | a port of another service   | 93.184.216.35:22    |
        | a DNS server by TCP         | 9.9.9.9:53          |

    Scenario Outline: cannot connect directly by IPv6 to <what>
      When the step runs the probe "connect --proxy none <authority>"
      Then no origin answers
      And bare, the same probe reaches an origin

      Examples:
        | what                      | authority              |
        | an address                | [2600:2::ffff]:443     |
        | a port of another service | [2600:2::ffff]:22      |

    Scenario: cannot connect directly while the proxy is in use
      When the step runs the probe "connect --proxy connect allowed.example:443 + connect --proxy none blocked.example:443 + connect --proxy none 93.184.216.35:80"
      Then the origin "allowed" answers
      And the origin "blocked" does not answer
      And bare, "blocked.example:443" answers

    Scenario Outline: cannot send a datagram to <what>
      When the step runs the probe "datagram <words>"
      Then no action gets an answer
      And bare, the same probe gets one

      Examples:
        | what                                          | words                           |
        | an address                                    | 93.184.216.35:9999              |
        | an address, connected                         | --connected 93.184.216.35:9999  |
        | the address of a listed one                   | 93.184.216.34:9999              |
        | the port of QUIC                              | 93.184.216.34:443               |
        | the port of QUIC, connected                   | --connected 93.184.216.34:443   |
        | the port of DNS                               | 93.184.216.35:53                |
        | the port of DNS, connected                    | --connected 93.184.216.35:53    |

    # Data leaves in echo requests as in any others
    Scenario Outline: cannot send an echo request to <what>
      When the step runs the probe "datagram --icmp <words>"
      Then no action gets an answer
      And bare, the same probe gets one

      Examples:
        | what                        | words                        |
        | an address                  | 93.184.216.35:1              |
        | an address, connected       | --connected 93.184.216.35:1  |
        | the address of a listed one | 93.184.216.34:1              |
        | an address of IPv6          | [2600:2::ffff]:1             |

    Scenario Outline: cannot ask a DNS server for a name <how>
      When the step runs the shell command "<command>"
      Then no address of the world arrives
      And bare, the same command gets one

      Examples:
        | how                           | command                                    |
        | with the system's resolver    | getent ahosts blocked.example; true        |
        | that is listed                | getent ahosts allowed.example; true        |

    # A process that drops the proxy's variables goes nowhere (case N01)
    @case:N01
    Scenario: a process without the proxy's variables cannot connect
      When the step runs the shell command "env -i tools/probe connect --proxy none blocked.example:443"
      Then no origin answers
      And bare, "blocked.example:443" answers

    # Root of its own user namespace has no capability over the network namespace
    Scenario: cannot connect from a user namespace
      When the step runs the probe "userns + connect --proxy none blocked.example:443 + connect --proxy none 93.184.216.35:80"
      Then no origin answers
      And bare, "blocked.example:443" answers

    # What forwards inside runs as the step's user, if it is a process at all. Where the host's processes are seen, none is
    # killed. A process of the step's own is among the killed: without it, nothing would show that any was.
    @case:N07 @needs:factory
    Scenario: a step that kills whatever it can see opens no other way
      When the step runs the shell command "{kill-all}; tools/probe connect --proxy connect blocked.example:443 + connect --proxy http blocked.example:80 + connect --proxy none blocked.example:443; true"
      Then no origin answers
      And in the worktree, "killed" is a file
      And bare, "blocked.example:443" answers
      And planted, in the worktree of an attempt that did nothing it is not so

    # Where nobody inside holds the port it cannot be taken: then the attempt at it is all there can be
    @case:N07 @needs:factory @program:python3
    Scenario: a step that tries to take over the proxy's port opens no other way
      When the step runs the shell command "{kill-all}; python3 -c 'import os, socket, time; p = int(os.environ["HTTPS_PROXY"].rsplit(":", 1)[1].strip("/")); s = socket.create_server(("127.0.0.1", p), reuse_port=True); open("taken", "w").write("yes"); time.sleep(2)' 2>why || mv why taken & for n in $(seq 200); do [ -s taken ] && break; sleep 0.02; done; tools/probe connect --timeout 700 --proxy connect blocked.example:443 + every-way blocked.example:443; true"
      Then no origin answers
      And in the worktree, "killed" is a file
      And in the worktree, "taken" is a file
      And bare, "blocked.example:443" answers
      And planted, in the worktree of an attempt that did nothing it is not so

    @case:N07 @needs:factory
    Scenario: what a step kills is nobody else's
      When while an attempt waits and then runs "tools/probe connect --proxy connect allowed.example:443", another runs "{kill-all}; true"
      Then in the first attempt, the origin "allowed" answers
      And in the worktree, "killed" is a file
      And bare, "allowed.example:443" answers

    # What they send no rule about ports sees. The kernel gives them to root of the network namespace (CAP_NET_RAW): neither the
    # step nor root of a user namespace of its own may be that. In a network namespace of its own there is nobody to send to.
    Scenario Outline: cannot make a socket of the kind <kind>
      When the step runs the probe "socket-type <kind>"
      Then no action succeeds
      And bare, the probe "userns + unshare net + socket-type <kind>" succeeds

      Examples:
        | kind   |
        | raw    |
        | raw6   |
        | packet |

    Scenario Outline: cannot make a socket of the kind <kind> as root of a user namespace
      When the step runs the probe "userns + socket-type <kind>"
      Then no socket is made
      And bare, the probe "userns + unshare net + socket-type <kind>" succeeds

      Examples:
        | kind   |
        | raw    |
        | raw6   |
        | packet |

    # Asks every port and every socket that it can see for a host that is not listed
    Scenario: nobody inside leads to a host that is not listed
      When the step runs the probe "every-way blocked.example:443"
      Then no origin answers
      And planted, with "blocked.example" allowed the same command reaches an origin
