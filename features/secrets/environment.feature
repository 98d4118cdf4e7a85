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

    @case:I01 @needs:factory
    Scenario: the step's own variables do arrive
      Given the step has the variable "OWN" with "its value"
      When the step runs the probe "env OWN CALLERS_OWN"
      Then the variable "OWN" is "its value"
      And the variable "CALLERS_OWN" is not set
      And bare, it is set
