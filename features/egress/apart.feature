Feature: Each attempt and its proxy
  What a step is told of the proxy, where the proxy is, and that no attempt ever has what another one may.

  @EGR-10
  Rule: HTTPS_PROXY and HTTP_PROXY in both cases and NO_PROXY=localhost,127.0.0.1,::1 are set for every sandboxed process in allowlist mode

    Background:
      Given a sandboxed step
      And the network is allowlist

    Scenario Outline: they are set for <whom>
      When the step runs the shell command "<command>"
      Then the proxy's variables name a proxy on loopback
      And planted, with network open they name none

      Examples:
        | whom                      | command                                                                                    |
        | what a shell starts       | tools/probe env HTTPS_PROXY HTTP_PROXY https_proxy http_proxy NO_PROXY; true                |
        | a shell of a shell        | sh -c 'sh -c "tools/probe env HTTPS_PROXY HTTP_PROXY https_proxy http_proxy NO_PROXY"; true' |
        | a process in the background | tools/probe env HTTPS_PROXY HTTP_PROXY https_proxy http_proxy NO_PROXY & wait             |
        | a session of its own      | setsid -w tools/probe env HTTPS_PROXY HTTP_PROXY https_proxy http_proxy NO_PROXY; true      |

    Scenario: they are set for the step itself
      When the step runs the probe "env HTTPS_PROXY HTTP_PROXY https_proxy http_proxy NO_PROXY"
      Then the proxy's variables name a proxy on loopback
      And planted, with network open they name none

    @needs:factory
    Scenario Outline: they are set for what an agent of <provider> starts
      Given the step is run by the provider "<provider>" with the prompt "tools/probe env HTTPS_PROXY HTTP_PROXY https_proxy http_proxy NO_PROXY"
      When the step is run
      Then the proxy's variables name a proxy on loopback
      And planted, with network open they name none

      Examples:
        | provider    |
        | claude-code |
        | cursor      |

  @EGR-11
  Rule: The step's network namespace holds loopback only; the proxy is reached on loopback inside it

    Background:
      Given a sandboxed step
      And the network is allowlist
      And the host "allowed.example" is allowed

    Scenario: there is no network interface but loopback
      When the step runs the probe "read /proc/net/dev"
      Then it has no network interface but "lo"
      And bare, there are others

    Scenario: its network namespace is its own
      When the step runs the probe "namespaces self"
      Then its net namespace is not the host's
      And bare, its net namespace is the host's

    Scenario: the proxy is called on loopback
      When the step runs the probe "connect --proxy connect allowed.example:443"
      Then the origin "allowed" answers
      And it is called on loopback
      And bare, a proxy elsewhere is not

    # The path of a unix socket ends at 107 bytes
    @case:N08
    Scenario: the proxy is called on loopback where the attempt's folder has a long path
      Given the factory's folder has a long name
      When the step runs the probe "connect --proxy connect allowed.example:443"
      Then the origin "allowed" answers
      And it is called on loopback
      And bare, a proxy elsewhere is not

  @EGR-13
  Rule: One proxy per serve process; an attempt never gets another's allowlist

    Background:
      Given a sandboxed step
      And the network is allowlist
      And the host "blocked.example" is allowed for another step

    @case:N11
    Scenario Outline: while the other step runs, by <way> a step does not reach what that may
      When while the other step waits and then runs "tools/probe connect --proxy connect blocked.example:443", the step runs "tools/probe <probe>; true"
      Then the origin "blocked" does not answer
      And in the first attempt, the origin "blocked" answers
      And bare, "blocked.example:443" answers

      Examples:
        | way                               | probe                                       |
        | CONNECT                           | connect --proxy connect blocked.example:443 |
        | plain HTTP                        | connect --proxy http blocked.example:80     |
        | every port and socket that it sees | every-way blocked.example:443              |

    Scenario: after the other step, a step does not reach what that could
      When after the other step has run the probe "connect --proxy connect blocked.example:443", the step runs it
      Then the origin "blocked" does not answer
      And in the first attempt, the origin "blocked" answers
      And bare, "blocked.example:443" answers

    @needs:serve @needs:egress-log @case:N11
    # llxprt-code 1954: two attempts on one proxy, each with another allowlist
    Scenario: attempts at the same time on one serve reach each its own host alone
      When on one serve, a step that may reach "allowed.example" and, beside it, one that may reach "other.example" ask each for both
      Then the first attempt is answered by "allowed" alone
      And the last attempt is answered by "blocked" alone
      And the egress.log of the first attempt names exactly "other.example"
      And the egress.log names exactly "allowed.example"
      And bare, "allowed.example:443" answers
      And bare, "right.example:443" answers

    @needs:serve @needs:egress-log @case:N10
    # deer-flow 5152: after a restart with a changed allowlist an old proxy is adopted
    Scenario: a serve that is started anew has nothing of one that was killed
      When a serve is killed while a step that may reach "allowed.example" runs, and on a new one a step that may reach "other.example" asks for both
      Then the first attempt's step did not go on
      And the last attempt is answered by "blocked" alone
      And the egress.log names exactly "allowed.example"
      And bare, "allowed.example:443" answers

  @EGR-17
  Rule: A leased local port is reachable inside; no other is

    Background:
      Given a sandboxed step
      And the network is allowlist
      And services listen on the host's localhost

    Scenario Outline: a leased port is reached at <authority>
      Given "localhost:{local-port}" is allowed
      When the step runs the probe "connect --proxy none <authority>"
      Then the origin "local" answers
      And planted, with no host allowed no origin answers

      Examples:
        | authority        |
        | localhost:{local-port} |
        | 127.0.0.1:{local-port} |

    Scenario: nobody inside leads to a port that is not leased
      Given "localhost:{local-port}" is allowed
      When the step runs the probe "every-way localhost:{other-port}"
      Then the origin "other" does not answer
      And planted, with "localhost:{other-port}" allowed the same command reaches an origin
