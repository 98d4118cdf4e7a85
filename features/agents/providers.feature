@needs:factory
Feature: Providers
  Which agent runs a step, and what a step can require of it.

  @AGT-06
  Rule: claude-code is the default provider, cursor optional; each provider's capabilities say what a step can require

    Background:
      Given a sandboxed step

    Scenario: a step that has a prompt and nothing else is Claude Code's
      Given the step has the prompt "tools/probe argv end" and no provider
      When the step is run
      Then it is run by the program "claude"
      And planted, with the provider "cursor" it is not

    Scenario Outline: a step of <provider> is run by <program>
      Given the step is run by the provider "<provider>" with the prompt "tools/probe argv end"
      When the step is run
      Then it is run by the program "<program>"
      And planted, with the provider "<other>" it is not

      Examples:
        | provider    | program      | other       |
        | claude-code | claude       | cursor      |
        | cursor      | cursor-agent | claude-code |

    # lince 237: one of several backends returned the bare inner command
    @extra @case:K06
    Scenario Outline: a step of <provider> is confined
      Given the step is run by the provider "<provider>" with a prompt that leaves a mark
      When the step is run
      Then it ran confined, by its mark
      And planted, without the sandbox the mark is found outside

      Examples:
        | provider    |
        | claude-code |
        | cursor      |

    Scenario Outline: a step of <provider> that requires the network's list is refused without one
      Given the step is run by the provider "<provider>" with a prompt that leaves a mark
      And the step's setting "requires" is "[network]"
      And the attempt may be refused
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, with network allowlist the mark is found

      Examples:
        | provider    |
        | claude-code |
        | cursor      |

    @extra @needs:validate
    Scenario Outline: validate says so of <provider>
      Given the step is run by the provider "<provider>" with the prompt "true"
      And the step's setting "requires" is "[network]"
      When the settings are validated
      Then validate says "not-supported"
      And planted, with network allowlist it does not

      Examples:
        | provider    |
        | claude-code |
        | cursor      |

    Scenario: a provider that nobody knows is refused
      Given the step is run by the provider "no-such-agent" with a prompt that leaves a mark
      And the attempt may be refused
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, with the provider "claude-code" the mark is found

    @extra @needs:providers
    Scenario Outline: the providers say that <provider> takes a login from <variable>
      Given the step is run by the provider "<provider>" with the prompt "true"
      And the step has the variable "<variable>" with "x"
      When its providers are asked for
      Then they say "<variable>, set in steps: probe"
      And planted, without the step's variables they do not

      Examples:
        | provider    | variable                |
        | claude-code | CLAUDE_CODE_OAUTH_TOKEN |
        | claude-code | ANTHROPIC_API_KEY       |
        | cursor      | CURSOR_API_KEY          |

    @extra @needs:providers
    Scenario Outline: the providers say where <provider> keeps its state: <place>
      Given the user's home is "{library}"
      When its providers are asked for
      Then they say "state: {home}/<place>, which is not there"
      And planted, with a file in it they do not

      Examples:
        | provider    | place          |
        | claude-code | .claude        |
        | cursor      | .cursor        |
        | cursor      | .config/cursor |
