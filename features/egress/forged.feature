@needs:egress-log @needs:events
Feature: A log that a step cannot forge
  The log and the events belong to the factory. Whatever a step does, and whatever dies, they say what happened, and each attempt
  has its summary.

  @EGR-16 @extra
  Rule: The step cannot change, truncate, replace or forge the log; totals in the summary are exact; it comes exactly once

    Background:
      Given a sandboxed step
      And the network is allowlist

    @needs:serve @case:O05
    # cplt 240: no summary where the step or serve was killed
    Scenario Outline: there is one summary when the <who> <is> killed
      When its <who> <is> killed by SIGKILL while a step runs that has asked for "before.example", and another attempt has run
      Then there is one egress.summary event
      And the egress.log names exactly "before.example"
      And planted, a summary too many is noticed

      Examples:
        | who                | is  |
        | serve              | is  |
        | launcher           | is  |
        | serve and launcher | are |

    @case:O05
    Scenario: there is one summary when the step is killed
      When the step runs the shell command "tools/probe connect --proxy connect before.example:443; kill -9 $$"
      Then there is one egress.summary event
      And the egress.log names exactly "before.example"
      And planted, a summary too many is noticed
