Feature: No way around the proxy
  With network: allowlist the only way out is the proxy. What does not use it does not get out.
  So far: TCP and names. UDP, ICMP, IPv6 and raw packets follow.

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

    Scenario: cannot connect directly while the proxy is in use
      When the step runs the probe "connect --proxy connect allowed.example:443 + connect --proxy none blocked.example:443 + connect --proxy none 93.184.216.35:80"
      Then the origin "allowed" answers
      And the origin "blocked" does not answer
      And bare, "blocked.example:443" answers

    # A process that drops the proxy's variables goes nowhere (case N01)
    @case:N01
    Scenario: a process without the proxy's variables cannot connect
      When the step runs the shell command "env -i tools/probe connect --proxy none blocked.example:443"
      Then no origin answers
      And bare, "blocked.example:443" answers
