Feature: What a step inherits
  Whoever starts a factory has tokens in the environment, files open, keys in a keyring. None of it is for a step.
  So far of SEC-07: descriptors beyond 2; writing and chmod through 0, 1 and 2 follow.

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

    @case:I01 @needs:factory
    Scenario: the step's own variables do arrive
      Given the step has the variable "OWN" with "its value"
      When the step runs the probe "env OWN CALLERS_OWN"
      Then the variable "OWN" is "its value"
      And the variable "CALLERS_OWN" is not set
      And bare, it is set

  @SEC-07
  Rule: The step inherits no descriptor beyond 0, 1, 2

    Background:
      Given a sandboxed step
      And the caller has a key and the home open as descriptors

    # firejail 4845, runc CVE-2024-21626
    @case:R06
    Scenario: no descriptor of the caller arrives
      When the step runs the probe "descriptors"
      Then there is no descriptor above 2
      And bare, there is a descriptor above 2

    @case:R06
    Scenario Outline: the caller's <what> cannot be read through its descriptor
      When the step runs the shell command "<command> 2>&1"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | what | command                |
        | key  | cat /proc/self/fd/7    |
        | home | ls -a /proc/self/fd/9/ |
