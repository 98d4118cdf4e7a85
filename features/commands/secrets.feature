@needs:factory @needs:secret
Feature: Where a secret is
  It goes in once, by a command that reads it, and comes out in one place, the environment of its step.

  @CLI-08
  Rule: A secret is never in the settings file, argv or output

    Background:
      Given a sandboxed step
      And the network is allowlist

    @extra
    Scenario: it is in the argv of no process, and in no environment but the step's
      When a secret is kept for the step, the step has it, and the factory is asked all it can be
      Then the step had it, by its digest
      And it was in no argv, and in no environment outside the step
      And planted, as an argument and a variable of a process it is seen

    @extra
    Scenario: no command prints it
      When a secret is kept for the step, the step has it, and the factory is asked all it can be
      Then the step had it, by its digest
      And nobody printed it
      And planted, a step that prints it is seen to

    @extra
    Scenario: it is in no file: settings, records, the store, temporary folders
      When a secret is kept for the step, the step has it, and the factory is asked all it can be
      Then the step had it, by its digest
      And no file of the user's holds it
      And planted, in the settings it is found
