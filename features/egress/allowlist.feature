Feature: What an attempt's allowlist is made of
  The factory's list, the step's own, and the hosts that the agent which runs the step needs. Nothing else adds to it: not
  what another step may, not what a handshake asks for.

  @EGR-04
  Rule: A step's egress.allow adds to the factory's allowlist

    Background:
      Given a sandboxed step
      And the network is allowlist
      And the host "allowed.example" is allowed
      And the host "blocked.example" is allowed for this step

    Scenario Outline: by <way>, a step reaches <what>
      When the step runs the probe "connect --proxy <way> <host>:<port>"
      Then the origin "<origin>" answers
      And planted, with no host allowed no origin answers

      Examples:
        | way     | what                     | host            | port | origin  |
        | connect | what its own list names  | blocked.example | 443  | blocked |
        | http    | what its own list names  | blocked.example | 80   | blocked |
        | connect | what the factory's names | allowed.example | 443  | allowed |
        | http    | what the factory's names | allowed.example | 80   | allowed |

    Scenario Outline: by <way>, a step does not reach what neither list names
      When the step runs the probe "connect --proxy <way> third.example:<port>"
      Then no origin answers
      And bare, "third.example:<port>" answers

      Examples:
        | way     | port |
        | connect | 443  |
        | http    | 80   |

  @EGR-05
  Rule: provider_hosts: true adds each runner's egress hosts; false adds none

    Background:
      Given a sandboxed step
      And the network is allowlist

    Scenario Outline: with provider_hosts true, a step of <provider> reaches its host
      Given provider_hosts is true
      And the step is run by the provider "<provider>" with the prompt "tools/probe connect --proxy connect <host>:443"
      When the step is run
      Then the origin "provider" answers
      And planted, with provider_hosts false no origin answers

      Examples:
        | provider    | host              |
        | claude-code | api.anthropic.com |
        | cursor      | api2.cursor.sh    |

    # An empty list must not be taken for no list (sandbox-runtime, 2025-11)
    @case:N05
    Scenario Outline: with provider_hosts false and an empty list, a step of <provider> reaches nothing
      Given provider_hosts is false
      And no host is allowed
      And the step is run by the provider "<provider>" with the prompt "tools/probe connect --proxy connect <host>:443 + connect --proxy connect allowed.example:443 + connect --proxy http blocked.example:80"
      When the step is run
      Then no origin answers
      And bare, "<host>:443" answers

      Examples:
        | provider    | host              |
        | claude-code | api.anthropic.com |
        | cursor      | api2.cursor.sh    |

    Scenario Outline: with provider_hosts true, a step of <provider> reaches no other host
      Given provider_hosts is true
      And the step is run by the provider "<provider>" with the prompt "tools/probe connect --proxy connect blocked.example:443"
      When the step is run
      Then no origin answers
      And bare, "blocked.example:443" answers

      Examples:
        | provider    |
        | claude-code |
        | cursor      |

    @extra
    Scenario: with provider_hosts true, a step that says false itself reaches nothing
      Given provider_hosts is true
      And a step whose sandbox is "{mode: required, egress: {provider_hosts: false}}"
      And the step is run by the provider "claude-code" with the prompt "tools/probe connect --proxy connect api.anthropic.com:443"
      When the step is run
      Then no origin answers
      And bare, "api.anthropic.com:443" answers

    @extra
    Scenario: a command has no provider's hosts
      Given provider_hosts is true
      When the step runs the probe "connect --proxy connect api.anthropic.com:443"
      Then no origin answers
      And bare, "api.anthropic.com:443" answers

  @EGR-06
  Rule: Hosts from a handshake are never allowed by themselves; validate warns (W3) until the user adds them

    Background:
      Given a sandboxed step
      And the network is allowlist
      And the step's handshake asks for the host "blocked.example"

    Scenario Outline: by <way>, a host that the handshake asks for is not reached
      When the step runs the probe "connect --proxy <way> blocked.example:<port>"
      Then no origin answers
      And planted, with "blocked.example" allowed the same command reaches an origin

      Examples:
        | way     | port |
        | connect | 443  |
        | http    | 80   |

    Scenario: a host that the handshake asks for is reached when the user has added it
      Given the host "blocked.example" is allowed
      When the step runs the probe "connect --proxy connect blocked.example:443"
      Then the origin "blocked" answers
      And planted, with no host allowed no origin answers

    @needs:validate
    Scenario: validate warns of a host that the handshake asks for
      When the settings are validated
      Then it warns "W3" of "blocked.example"
      And planted, with "blocked.example" allowed it does not warn

    @needs:validate
    Scenario: validate does not warn of a host that the user has added
      Given the host "blocked.example" is allowed
      When the settings are validated
      Then it does not warn "W3" of "blocked.example"
      And planted, with no host allowed it warns
