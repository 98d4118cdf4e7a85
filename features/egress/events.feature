@needs:events
Feature: The events of blocked hosts
  Whoever watches a factory sees a blocked host as an event, at most 50 of an attempt, and at its end a summary.

  @EGR-15
  Rule: It is emitted as egress.blocked, at most 50 per attempt, plus egress.summary

    Background:
      Given a sandboxed step
      And the network is allowlist
      And the host "allowed.example" is allowed

    Scenario Outline: a host blocked by <way> is an event
      When the step runs the probe "connect --proxy <way> blocked.example:<port>"
      Then no origin answers
      And an egress.blocked event names "blocked.example" and no other host
      And there is one egress.summary event
      And bare, "blocked.example:<port>" answers

      Examples:
        | way     | port |
        | connect | 443  |
        | http    | 80   |

    Scenario: without a blocked host there is a summary alone
      When the step runs the probe "connect --proxy connect allowed.example:443"
      Then the origin "allowed" answers
      And there is no egress.blocked event
      And there is one egress.summary event
      And planted, an event too many is noticed
      And planted, a summary too many is noticed

    Scenario Outline: <asked> blocked hosts are <events> events and a summary
      When the step asks for <asked> different hosts
      Then there are <events> egress.blocked events, each naming another of these hosts
      And there is one egress.summary event
      And planted, an event too many is noticed
      And planted, a summary too many is noticed

      Examples:
        | asked | events |
        | 2     | 2      |
        | 49    | 49     |
        | 50    | 50     |
        | 51    | 50     |
        | 120   | 50     |

    Scenario Outline: events are there after <end>
      When the step runs the shell command "tools/probe connect --proxy connect before.example:443; <command>"
      Then the step ends with <code>
      And an egress.blocked event names "before.example" and no other host
      And there is one egress.summary event
      And bare, "before.example:443" answers

      Examples:
        | end                      | command    | code |
        | a step that fails        | exit 7     | 7    |
        | a step killed by SIGKILL | kill -9 $$ | 137  |

    Scenario: each attempt has events of its own
      When two attempts of one factory at the same time ask for "left.example:443" and "right.example:443"
      Then an egress.blocked event of the first attempt names "left.example" and no other host
      And an egress.blocked event names "right.example" and no other host
      And there is one egress.summary event
      And planted, an event too many is noticed
      And planted, a summary too many is noticed

    @extra
    Scenario: a host asked for three times is one event
      When the step runs the probe "connect --proxy connect --times 3 again.example:443"
      Then there are 1 egress.blocked events, each naming another of these hosts
      And there is one egress.summary event
      And planted, an event too many is noticed
      And planted, a summary too many is noticed
