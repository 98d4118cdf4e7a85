@needs:egress-log @needs:events
Feature: A log that a step cannot forge
  The log and the events belong to the factory. Whatever a step does, and whatever dies, they say what happened, and each attempt
  has its summary.

  @EGR-16
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

    # The log lies in a folder that the step can see
    @case:O04
    Scenario Outline: a step that <does> changes nothing in it
      When the step runs the shell command "tools/probe connect --proxy connect before.example:443; (<command>) 2>/dev/null; tools/probe connect --proxy connect after.example:443"
      Then the egress.log names exactly "before.example, after.example"
      And there is one egress.summary event
      And bare, "<command>" changes a copy of its log
      And planted, a missing line is noticed

      Examples:
        | does                        | command                                                        |
        | empties its log             | true >{egress-log}                                             |
        | truncates its log           | truncate -s 0 {egress-log}                                     |
        | writes a line into its log  | head -n 1 {egress-log} >>{egress-log}                          |
        | removes its log             | rm -f {egress-log}                                             |
        | moves its log away          | mv {egress-log} {egress-log}.old                               |
        | puts a link in its place    | ln -sf /dev/null {egress-log}                                  |
        | puts another in its place   | echo forged >$TMPDIR/f && cp -f $TMPDIR/f {egress-log}         |

    Scenario: the summary counts every request and every host
      When the step runs the probe "connect --proxy connect --times 7 one.example:443 + connect --proxy http --times 5 one.example:80 + connect --proxy connect two.example:443 + connect --proxy connect --parallel 20 --times 2 three.example:443"
      Then the egress.summary counts 53 requests to 3 hosts
      And planted, another number is noticed
