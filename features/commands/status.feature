@needs:factory @needs:status @needs:availability
Feature: The state of the service
  Whoever looks at what runs for a factory also sees whether its steps can be sandboxed here.

  @CLI-03
  Rule: service status reports whether this machine can run the backend

    Background:
      Given a sandboxed step

    Scenario: it says that this machine can run the backend
      When its command "status" is asked whether this machine can run the backend
      Then it says that it can
      And planted, with bubblewrap not on PATH it says that it cannot, why, and a fix

    Scenario Outline: it says that this machine cannot run the backend when <fault>
      Given <fault>
      When its command "status" is asked whether this machine can run the backend
      Then it says that it cannot, why, and a fix
      And planted, without the fault it says that it can

      Examples:
        | fault                     |
        | bubblewrap is not on PATH |
        | bubblewrap does "exit 0"  |
        | user namespaces are off   |
        | /proc is masked           |
