@needs:factory
Feature: An agent's own sandbox
  Two sandboxes in each other do not work everywhere. Inside the factory's, an agent gets told that its own is off. Nothing else
  that the user has told it changes, and outside nothing at all.

  @AGT-04
  Rule: The agent's own sandbox is off inside; permission modes and presets stay

    Background:
      Given a sandboxed step

    Scenario Outline: <provider> is told so
      Given the step is run by the provider "<provider>" with the prompt "tools/probe argv end"
      When the step is run
      Then the agent's own sandbox is off, by one word
      And all else in the agent's argv is as written
      And planted, without the sandbox it is not off

      Examples:
        | provider    |
        | claude-code |
        | cursor      |

    Scenario Outline: <provider> is told nothing where the step is not wrapped
      Given a step whose sandbox is "off"
      And the step is run by the provider "<provider>" with the prompt "tools/probe argv end"
      And the step's arguments are
        | <argument> | x y | --verbose |
      When the step is run
      Then the agent's argv is as written
      And planted, with the sandbox it is not

      Examples:
        | provider    | argument                              |
        | claude-code | --settings={"sandbox":{"enabled":true}} |
        | cursor      | --sandbox=enabled                     |

    Scenario Outline: <what> stay as they are
      Given the step is run by the provider "<provider>" with the prompt "tools/probe argv end"
      And the step's arguments are
        | <option> | <value> | --model | a b "c" | |
      When the step is run
      Then the agent's own sandbox is off, by one word
      And all else in the agent's argv is as written
      And planted, without the sandbox it is not off

      Examples:
        | what                  | provider    | option            | value             |
        | permission modes      | claude-code | --permission-mode | bypassPermissions |
        | planning              | claude-code | --permission-mode | plan              |
        | permission flags      | claude-code | --dangerously-skip-permissions | --verbose |
        | allowed tools         | claude-code | --allowedTools    | Bash(git *) Edit  |
        | flags like the option | claude-code | --setting-sources | user,project      |
        | approvals             | cursor      | --force           | --trust           |
        | output formats        | cursor      | --output-format   | stream-json       |

    # claude-code 50781: the switch was merged wrongly. Of an option that is given twice the agents heed the last one.
    @extra @case:K02
    Scenario Outline: <provider> is told so although the user says otherwise: <how>
      Given the step is run by the provider "<provider>" with the prompt "tools/probe argv end"
      And the step's arguments are
        | --verbose | <one> | <two> | x |
      When the step is run
      Then the agent's own sandbox is off, by one word
      And all else in the agent's argv is as written
      And planted, without the sandbox it is not off

      Examples:
        | how                | provider    | one                                     | two                                     |
        | in two words       | claude-code | --settings                              | {"sandbox":{"enabled":true}}            |
        | in one word        | claude-code | --settings={"sandbox":{"enabled":true}} | y                                       |
        | twice              | claude-code | --settings={"model":"m"}                | --settings={"sandbox":{"enabled":true}} |
        | with blanks        | claude-code | --settings                              | { "sandbox" : { "enabled" : true } }    |
        | as no object       | claude-code | --settings                              | {"sandbox":"on"}                        |
        | in two words       | cursor      | --sandbox                               | enabled                                 |
        | in one word        | cursor      | --sandbox=enabled                       | y                                       |
        | twice              | cursor      | --sandbox=disabled                      | --sandbox=enabled                       |

    @extra @case:K02
    Scenario Outline: the user's settings are told with it, from <where>
      Given the user's home is "{library}"
      And on the user's host, "{home}/own.json" holds '{"model":"m","sandbox":{"enabled":true,"excludedCommands":["docker"]}}'
      And the step is run by the provider "claude-code" with the prompt "tools/probe argv end"
      And the step's arguments are
        | --settings | <value> |
      When the step is run
      Then the agent's own sandbox is off, by one word
      And the agent's settings hold '{"model":"m","sandbox":{"excludedCommands":["docker"]}}'
      And planted, without arguments they do not

      Examples:
        | where             | value                                                                  |
        | the argument      | {"model":"m","sandbox":{"enabled":true,"excludedCommands":["docker"]}} |
        | a file            | {home}/own.json                                                        |
        | a file of ~/      | ~/own.json                                                             |

    @extra @case:K02
    Scenario: the user's settings are told with it, from a file in the worktree
      Given in the repository, the user has done "echo {\"model\":\"m\"} >own.json; git add own.json; git commit -q -m Settings"
      And the step is run by the provider "claude-code" with the prompt "tools/probe argv end"
      And the step's arguments are
        | --settings | own.json |
      When the step is run
      Then the agent's own sandbox is off, by one word
      And the agent's settings hold '{"model":"m"}'
      And planted, without arguments they do not

    # whoever reads a file for the step must not read more than the step may
    @extra @needs:protected
    Scenario Outline: settings in <what> are not read for it
      Given the user's home is "{library}"
      And on the user's host, "{home}/.docker/config.json" holds '{"auths":{}}'
      And on the user's host, "{store}/secrets-{nonce}.json" holds '{"a":1}'
      And "{home}/linked.json" is a link to "{home}/.docker/config.json"
      And in the repository, the user has done "ln -s {home}/.docker/config.json linked.json; git add -A; git commit -q -m Link"
      And the step is run by the provider "claude-code" with a prompt that leaves a mark
      And the step's arguments are
        | --settings | <file> |
      And the attempt may be refused
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, without arguments the mark is found

      Examples:
        | what                            | file                         |
        | a login                         | {home}/.docker/config.json   |
        | a login, by a link              | {home}/linked.json           |
        | a login, by the repository's link | linked.json                |
        | a login, by dots                | ../../../../../../library/{nonce}/.docker/config.json |
        | the secret store                | {store}/secrets-{nonce}.json |
        | nothing                         | {home}/nowhere.json          |

    @extra
    Scenario: only an agent takes arguments
      Given the step leaves a mark
      And the step's arguments are
        | --settings | {} |
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, without arguments the mark is found

    # qwen-code PR 11614: the user's own were replaced instead of kept
    @extra @case:K05
    Scenario Outline: <variable> of the step is kept as written
      Given the step is run by the provider "<provider>" with the prompt "tools/probe env"
      And the step has the variable "<variable>" with "<value>"
      When the step is run
      Then the variable "<variable>" is "<value>"
      And planted, with another value it is not

      Examples:
        | provider    | variable                | value                                     |
        | claude-code | NODE_OPTIONS            | --use-openssl-ca --max-old-space-size=512 |
        | cursor      | NODE_OPTIONS            | --use-openssl-ca                          |
        | claude-code | CLAUDE_CODE_OAUTH_TOKEN | sk-ant-oat01-x                            |
        | claude-code | ANTHROPIC_MODEL         | opus                                      |
        | cursor      | CURSOR_API_KEY          | key_x                                     |
