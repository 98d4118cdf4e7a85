@needs:factory @needs:block
Feature: The block sandbox of validate --json
  A program that starts attempts sees beforehand whether they could be sandboxed here, and nothing of it where none would be.

  @CLI-04
  Rule: validate --json includes sandbox: {backend, available, reason, fix} when any attempt could be sandboxed

    Scenario Outline: the block is there for step <step>, repos <repos>, mode <mode>
      Given a step whose sandbox is "<step>"
      And its active repos have the sandbox "<repos>"
      And the factory's sandbox mode is "<mode>"
      When the object of validate is asked for
      Then it has the block sandbox with backend, available, reason and fix
      And planted, with the step's sandbox "off" it has none

      Examples:
        | step             | repos           | mode     |
        | required         | unset           | unset    |
        | required         | off             | off      |
        | {mode: required} | none            | unset    |
        | unset            | required        | off      |
        | unset            | off+required    | unset    |
        | {network: open}  | unset+required  | unset    |
        | unset            | unset           | required |
        | unset            | off+unset       | required |
        | unset            | none            | required |

    Scenario Outline: there is no block for step <step>, repos <repos>, mode <mode>
      Given a step whose sandbox is "<step>"
      And its active repos have the sandbox "<repos>"
      And the factory's sandbox mode is "<mode>"
      When the object of validate is asked for
      Then it has no block sandbox
      And planted, with the step's sandbox "required" it has one

      Examples:
        | step            | repos     | mode     |
        | unset           | unset     | unset    |
        | unset           | unset     | off      |
        | off             | required  | required |
        | {mode: off}     | required  | required |
        | {network: open} | off       | required |
        | unset           | off+off   | required |
        | unset           | off+unset | off      |

    Scenario: one step that could be sandboxed is enough
      Given a step whose sandbox is "off"
      And another step whose sandbox is "required"
      When the object of validate is asked for
      Then it has the block sandbox with backend, available, reason and fix
      And planted, with the step's sandbox "off" it has none

    Scenario Outline: the block says that the backend is not available, why and a fix when <fault>
      Given a sandboxed step
      And <fault>
      When the object of validate is asked for
      Then the block says that the backend is not available
      And planted, without the fault the block says that the backend is available

      Examples:
        | fault                     |
        | bubblewrap is not on PATH |
        | user namespaces are off   |
