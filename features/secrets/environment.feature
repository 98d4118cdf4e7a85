Feature: The environment a step inherits
  Whoever starts a factory has tokens in the environment. None of them is for a step.

  @SEC-06
  Rule: The step sees only the documented list of variables, also in /proc of any process it can see

    Background:
      Given a sandboxed step

    Scenario: the caller's variables do not arrive
      When the step runs the probe "env"
      Then no secret arrives
      And bare, the same probe gets the secret

    # bubblewrap 725: variables that were cleared for the step stand in /proc/1/environ
    @case:R04
    Scenario: nor do they stand in /proc of any process
      When the step runs the shell command "cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\0' '\n'"
      Then no secret arrives
      And bare, the same probe gets the secret

    # bubblewrap 535, sandlock 11: what a process of the host works in, has open, and has in its environment
    @case:R12
    Scenario Outline: no process that it can see shows <what>
      When the step runs the probe "processes --find <text>"
      Then no process shows it
      And bare, a process shows it

      Examples:
        | what                                       | text       |
        | a token in its environment or command line | {token}    |
        | the folder of keys as the place it works   | /dev/.ssh  |
        | a key that it has open                     | id_ed25519 |

    @case:R12
    Scenario: nothing is read by way of where another process is
      When the step runs the shell command "cat /proc/[0-9]*/cwd/id_ed25519 /proc/[0-9]*/root/home/dev/.ssh/id_ed25519 2>/dev/null"
      Then no secret arrives
      And bare, the same probe gets the secret

    @case:R12
    Scenario: nor with network allowlist
      Given the network is allowlist
      When the step runs the probe "processes --find {token} --find /dev/.ssh"
      Then no process shows it
      And bare, a process shows it

    @case:I01 @needs:factory
    Scenario: the step's own variables do arrive
      Given the step has the variable "OWN" with "its value"
      When the step runs the probe "env OWN CALLERS_OWN"
      Then the variable "OWN" is "its value"
      And the variable "CALLERS_OWN" is not set
      And bare, it is set
