@needs:egress-log @needs:events
Feature: One proxy for a whole factory
  A process that serves a factory hosts the one proxy of all its attempts. What an attempt may reach is its own all the same,
  and whatever dies, each attempt fails closed and has its summary.

  @EGR-13
  Rule: One proxy per serve process; an attempt never gets another's allowlist

    Background:
      Given a sandboxed step
      And the network is allowlist

    @needs:serve @case:N11
    # llxprt-code 1954: two attempts on one proxy, each with another allowlist
    Scenario: attempts at the same time on one serve reach each its own host alone
      When on one serve, a step that may reach "allowed.example" and, beside it, one that may reach "other.example" ask each for both
      Then the first attempt is answered by "allowed" alone
      And the last attempt is answered by "blocked" alone
      And the egress.log of the first attempt names exactly "other.example"
      And the egress.log names exactly "allowed.example"
      And bare, "allowed.example:443" answers
      And bare, "right.example:443" answers

    @needs:serve @case:N10
    # deer-flow 5152: after a restart with a changed allowlist an old proxy is adopted
    Scenario: a serve that is started anew has nothing of one that was killed
      When a serve is killed while a step that may reach "allowed.example" runs, and on a new one a step that may reach "other.example" asks for both
      Then the first attempt's step did not go on
      And the last attempt is answered by "blocked" alone
      And the egress.log names exactly "allowed.example"
      And bare, "allowed.example:443" answers

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
