@needs:factory
Feature: The sandbox is off unless it is asked for
  A factory that never sets sandbox behaves as before: same argv, same environment, no sandbox program.

  @SET-01
  Rule: Default off: a factory that never sets sandbox keeps its argv, and no sandbox program is started

    Background:
      Given a factory that never sets sandbox

    Scenario Outline: the argv arrives unchanged: <what>
      When the step runs the probe with the arguments
        | argv | <argument> | end |
      Then its argv is what the settings say
      And no sandbox program is started
      And planted, with sandbox required a sandbox program is seen to start

      Examples:
        | what                   | argument           |
        | a plain word           | word               |
        | nothing                |                    |
        | blanks and quotes      | a "b" 'c'          |
        | what a shell would run | $(id); `id` && id  |
        | an option of a sandbox | --ro-bind          |
        | a double dash          | --                 |
        | other alphabets        | größe-尺寸          |
        | a star                 | *                  |

    Scenario: the step is not confined
      When the step runs the probe "read ~/.netrc"
      Then the secret arrives
      And no sandbox program is started
      And planted, with sandbox required a sandbox program is seen to start

    Scenario: the host's network is used as it is
      When the step runs the probe "connect --proxy none blocked.example:443"
      Then the origin "blocked" answers
      And no sandbox program is started
      And planted, with sandbox required a sandbox program is seen to start

    Scenario: it works where no sandbox program is installed
      Given bubblewrap is not on PATH
      When the step runs the probe "read ~/.netrc"
      Then the secret arrives
      And bare, the same probe gets the secret

    Scenario: an agent's argv has no sandbox switch
      Given the step is run by the provider "claude-code" with the prompt "tools/probe env PATH"
      When the step is run
      Then the agent's argv has no sandbox switch
      And no sandbox program is started
      And planted, a sandbox switch in the agent's argv is noticed
      And planted, with sandbox required a sandbox program is seen to start

    @extra
    # claude-code 12150: proxy variables leaked into commands that run outside the sandbox (case C13)
    @case:C13
    Scenario: the environment is the caller's
      When the step runs the probe "env"
      Then its environment is the caller's
      And no sandbox program is started
      And planted, a variable too many is noticed
      And planted, with sandbox required a sandbox program is seen to start
