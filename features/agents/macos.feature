@needs:factory
Feature: An agent on macOS
  There are no mounts there: an agent gets a home of its own, fresh and empty, and signs in with a token.

  @AGT-02
  Rule: HOME is fresh and empty inside the private temp folder; the real agent folders are not mounted

    Background:
      Given a sandboxed step
      And the user's home is "{library}"

    Scenario Outline: the state of <provider> is not there
      Given the user has the secrets
        | {home}/<place> |
      And the step is run by the provider "<provider>" with the prompt "tools/probe read {home}/<place>"
      And the step has the variable "<variable>" with "x"
      When the step is run
      Then no secret arrives
      And bare, the probe "read {home}/<place>" gets the secret

      Examples:
        | provider    | place                 | variable                |
        | claude-code | .claude/settings.json | CLAUDE_CODE_OAUTH_TOKEN |
        | claude-code | .claude.json          | CLAUDE_CODE_OAUTH_TOKEN |
        | cursor      | .cursor/mcp.json      | CURSOR_API_KEY          |

    Scenario: its home is not the user's
      Given the step is run by the provider "claude-code" with the prompt "tools/probe env"
      And the step has the variable "CLAUDE_CODE_OAUTH_TOKEN" with "x"
      When the step is run
      Then the variable "HOME" is another than the user's
      And planted, without the sandbox it is the user's

  @AGT-03
  Rule: Without a login token validate warns and the attempt is refused before it starts; Probe reports the variable names

    Scenario Outline: a step of <provider> without a token is refused
      Given a sandboxed step
      And the step is run by the provider "<provider>" with a prompt that leaves a mark
      And the attempt may be refused
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, with the variable "<variable>" the mark is found

      Examples:
        | provider    | variable                |
        | claude-code | CLAUDE_CODE_OAUTH_TOKEN |
        | claude-code | ANTHROPIC_API_KEY       |
        | cursor      | CURSOR_API_KEY          |

    @needs:validate
    Scenario Outline: validate names the variables of <provider>: <variable>
      Given a sandboxed step
      And the step is run by the provider "<provider>" with the prompt "true"
      When the settings are validated
      Then validate says "<variable>"
      And planted, with that variable it does not

      Examples:
        | provider    | variable                |
        | claude-code | CLAUDE_CODE_OAUTH_TOKEN |
        | cursor      | CURSOR_API_KEY          |

  @AGT-08
  Rule: The agent's login token is in that step's environment

    Scenario Outline: <provider> has <variable>
      Given a sandboxed step
      And the step is run by the provider "<provider>" with the prompt "tools/probe env"
      And the step has the variable "<variable>" with "token-{nonce}"
      When the step is run
      Then the variable "<variable>" is "token-{nonce}"
      And planted, with another value it is not

      Examples:
        | provider    | variable                |
        | claude-code | CLAUDE_CODE_OAUTH_TOKEN |
        | cursor      | CURSOR_API_KEY          |
