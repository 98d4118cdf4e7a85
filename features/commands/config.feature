@needs:factory @needs:secret
Feature: The secrets of a step
  A login token is for one step of one factory. It is kept by a command, and the step has it as a variable.

  @CLI-06
  Rule: config set KEY --secret stores a step's secret

    Scenario Outline: the step has it, sandbox <mode>
      Given a step whose sandbox is "<mode>"
      And a secret is kept for the step's variable "TOKEN"
      When the step runs the probe "env TOKEN"
      Then the variable "TOKEN" has the secret
      And planted, where none is kept it has not

      Examples:
        | mode     |
        | off      |
        | required |

    Scenario: the last one that was set counts
      Given a sandboxed step
      And a secret is kept for the step's variable "TOKEN"
      And another secret is kept for the step's variable "TOKEN"
      When the step runs the probe "env TOKEN"
      Then the variable "TOKEN" has the other secret
      And planted, where none is kept it has not

    Scenario: another step of the factory has it not
      Given a sandboxed step
      And a secret is kept for the step's variable "TOKEN"
      When the step beside it runs the probe "env TOKEN"
      Then the secret does not arrive
      And planted, as a variable of the settings it does

    Scenario: a step of the same name in another factory has it not
      Given a sandboxed step
      # No other scenario keeps one of this name: where names are shared by factories, nobody replaces it
      And a secret is kept for the step's variable "SHARED"
      When the same step of another factory runs the probe "env SHARED"
      Then the secret does not arrive
      And planted, as a variable of the settings it does

    Scenario: with network allowlist the step has it too
      Given a sandboxed step
      And the network is allowlist
      And a secret is kept for the step's variable "TOKEN"
      When the step runs the probe "env TOKEN"
      Then the variable "TOKEN" has the secret
      And planted, where none is kept it has not

    @extra
    Scenario Outline: what cannot be a variable of a step is refused, with what would be right: <key>
      Given a sandboxed step
      When a secret is to be kept as "<key>"
      Then it is refused with the word "<word>"
      And planted, as "steps.probe.env.TOKEN" it is taken

      Examples:
        | key                    | word                  |
        | steps.prob.env.TOKEN   | probe                 |
        | steps.probe.TOKEN      | steps.probe.env.TOKEN |
        | steps.probe.env.MY-KEY | steps.probe.env.MY_KEY |
        | step.probe.env.TOKEN   | steps.probe.env.TOKEN |
        | steps.probe.env.       | steps.STEP.env.NAME   |
        | ../../key              | steps.STEP.env.NAME   |

    # Nobody could tell which of the two is meant
    @extra
    Scenario: a variable that stands in the settings takes no secret
      Given a sandboxed step
      And the step has the variable "TOKEN" with "plain"
      When a secret is to be kept as "steps.probe.env.TOKEN"
      Then it is refused with the word "TOKEN"
      And planted, as "steps.probe.env.OTHER" it is taken

    @extra
    Scenario: a step whose secret stands in the settings as well is refused
      Given a sandboxed step
      And a secret is kept for the step's variable "TOKEN"
      And the step has the variable "TOKEN" with "plain"
      And the step leaves a mark
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, without that variable in the settings the mark is found
