@needs:factory
Feature: Wrong settings
  A mistake in the settings must not turn the sandbox off. Nothing is executed until they are right.

  @SET-04
  Rule: Wrong settings are refused and nothing is executed

    Background:
      Given a sandboxed step
      And the step leaves a mark

    Scenario Outline: a sandbox block with <what> is refused
      Given the sandbox settings
        """
        <settings>
        """
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, with mode required alone the mark is found

      Examples:
        | what                   | settings                                                   |
        | an unknown mode        | {mode: requierd}                                           |
        | a mode of other case   | {mode: Required}                                           |
        | an empty mode          | {mode: ''}                                                 |
        | an unknown network     | {mode: required, network: closed}                          |
        | a network of other case | {mode: required, network: Allowlist}                      |
        | a host that is a URL   | {mode: required, network: allowlist, egress: {allow: ['https://a.example']}} |
        | a host that is a star  | {mode: required, network: allowlist, egress: {allow: ['*']}}                 |

    @needs:yaml
    Scenario Outline: <what> is refused
      Given the sandbox settings are written as
        """
        <settings>
        """
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, with right settings the mark is found

      Examples:
        | what                      | settings                                                    |
        | an unknown key            | {mode: required, netwrok: allowlist}                        |
        | an unknown key of egress  | {mode: required, egress: {alow: [a.example]}}               |
        | a mode that is no word    | {mode: true}                                                |
        | a mode that is a list     | {mode: [required]}                                          |
        | a block that is a list    | [mode, required]                                            |
        | a block that is a word    | required                                                    |
        | a key twice               | {mode: required, mode: off}                                 |
        | hosts that are no list    | {mode: required, egress: {allow: a.example}}                |
        | a star in the middle      | {mode: required, egress: {allow: ['a.*.example']}}          |
        | a port that is no port    | {mode: required, egress: {allow: ['a.example:65536']}}      |
        | a path that is a glob     | {mode: required, allow_read: ['/srv/*']}                    |
        | provider_hosts as a word  | {mode: required, egress: {provider_hosts: perhaps}}         |
        | inject as a number        | {mode: required, egress: {inject: 7}}                       |

    @needs:yaml
    Scenario Outline: a settings file that is <what> is refused
      Given the settings file is <what>
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, with right settings the mark is found

      Examples:
        | what                                |
        | not there                           |
        | empty                               |
        | a folder                            |
        | not readable                        |
        | not UTF-8                           |
        | 10 MB long                          |
        | cut off in the middle               |
        | 100000 nested brackets              |
        | 700 nested blocks                   |
        | an alias bomb                       |
        | two documents                       |
        | right but for a step that is there twice |
        | right but for a tab as indentation  |
        | right but for a repo nobody knows   |
        | right but for an unknown key at the top |
        | right but for an unknown key of the step |
        | right but for an unknown key of the repo |
        | right but for a step that both runs and prompts |
        | right but for a repo that is there twice |
        | right but for a variable that is no name |
        | right but for a merge key           |

    Scenario: a step nobody knows is refused
      Given the step that is asked for is called "nobody"
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, with right settings the mark is found

    @needs:yaml
    Scenario Outline: <what> as the sandbox of a step is refused
      Given the step's sandbox is written as "<value>"
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, with right settings the mark is found

      Examples:
        | what                   | value       |
        | true                   | true        |
        | false                  | false       |
        | a word of other case   | Off         |
        | an empty word          | ''          |
        | null                   | null        |
        | a number               | 0           |
        | a list                 | [off]       |
        | a mode of other case   | {mode: OFF} |
        | a mode that is a key   | {mode: {required: }} |
        | a bad host of its own  | {mode: required, egress: {allow: ['*']}} |
        | an unknown key of its own | {mode: required, netwrok: open} |

    @needs:yaml
    # YAML 1.1 reads the word off as false
    Scenario Outline: the value of a step's sandbox is read as a word: <how>
      Given the step's sandbox is written as "<value>"
      When the step is run
      Then it ran <effective>, by its mark
      And planted, with right settings the mark is found

      Examples:
        | how                     | value      | effective |
        | plain off               | off        | free      |
        | plain required          | required   | confined  |
        | off in double quotes    | "off"      | free      |
        | required in quotes      | 'required' | confined  |
