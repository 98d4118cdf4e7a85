@needs:allowlist
Feature: The open network
  network: open is the default: everything is reachable as without a sandbox, the services of the host's own localhost too.
  Shown here, so that nobody takes a sandbox with an open network for more than it is.

  @NET-01
  Rule: network: open leaves the network, services on the host's localhost included, unrestricted

    Background:
      Given a sandboxed step

    Scenario Outline: with network open a step reaches <what>
      Given the network is open
      When the step runs the probe "connect --proxy none <authority>"
      Then the origin "<origin>" answers
      And planted, with network allowlist no origin answers

      Examples:
        | what                    | authority           | origin  |
        | any host                | blocked.example:443 | blocked |
        | any address             | 93.184.216.35:80    | blocked |
        | any port                | 93.184.216.35:22    | blocked |
        | a private address       | 10.9.0.1:80         | private |

    Scenario: with network open a step sends datagrams
      Given the network is open
      When the step runs the probe "datagram 93.184.216.35:9999 + datagram 93.184.216.35:53"
      Then the origin "blocked" answers
      And planted, with network allowlist no origin answers

    Scenario Outline: with network <network> a step reaches a service on the host's localhost <how>
      Given services listen on the host's localhost
      And the network is <network>
      When the step runs the probe "<probe>"
      Then the origin "local" answers
      And planted, with network allowlist no origin answers

      Examples:
        | network | how                    | probe                                |
        | open    | by its name            | connect --proxy none localhost:{local-port} |
        | open    | by its address         | connect --proxy none 127.0.0.1:{local-port} |
        | open    | by UDP                 | datagram 127.0.0.1:{local-port}            |

    Scenario: where no network is set a step reaches a service on the host's localhost
      Given services listen on the host's localhost
      When the step runs the probe "connect --proxy none localhost:{local-port}"
      Then the origin "local" answers
      And planted, with network allowlist no origin answers

    @needs:check
    Scenario: it says so
      When it is asked what it does not protect from
      Then it says "network: open"
      And planted, without --verbose it does not say it
