@needs:factory
Feature: Where an agent is installed
  Agents are installed into the home, by npm, by version managers, by installers of their own. What they need to start becomes
  readable, and nothing that lies beside it.

  # codex 20906, 17367, 19299: the program lay in a home that was hidden
  @AGT-05
  Rule: The agent starts from wherever it is installed; its install root becomes readable and doctor says so

    Background:
      Given a sandboxed step
      And the user's home is "{library}"
      And the user has the secrets
        | {home}/.bashrc |

    @case:K01
    Scenario Outline: it starts from <where>, and what lies beside is not readable
      Given the agent's program is "{home}/<program>"
      And on the user's host, "{home}/<package>" holds '{}'
      And "{home}/<link>" is a link to "<target>"
      And its caller finds programs in the folder of "{home}/<link>" first
      And the user has the secrets
        | {home}/<beside> |
      And the step is run by the provider "<provider>" with the prompt "tools/probe read {home}/<beside> + read {home}/.bashrc"
      When the step is run
      Then no secret arrives
      And bare, the probe "read {home}/<beside> + read {home}/.bashrc" gets the secret

      Examples:
        | where                  | provider    | program | package | link | target | beside |
        | an npm prefix          | claude-code | .npm-global/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe | .npm-global/lib/node_modules/@anthropic-ai/claude-code/package.json | .npm-global/bin/claude | ../lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe | .npm-global/lib/node_modules/@anthropic-ai/notes |
        | a package without scope | cursor     | .npm-global/lib/node_modules/cursor/cli | .npm-global/lib/node_modules/cursor/package.json | .npm-global/bin/cursor-agent | ../lib/node_modules/cursor/cli | .npm-global/lib/node_modules/other/index.js |
        | its own installer      | claude-code | .local/share/claude/versions/2.1.332 | .local/share/claude/versions/2.1.331 | .local/bin/claude | {home}/.local/share/claude/versions/2.1.332 | .local/share/claude/notes |
        | its own installer      | cursor      | .local/share/cursor-agent/versions/2026.1/cursor-agent | .local/share/cursor-agent/versions/2026.1/index.js | .local/bin/cursor-agent | {home}/.local/share/cursor-agent/versions/2026.1/cursor-agent | .local/share/cursor-agent/notes |
        | under its other name   | cursor      | .local/share/cursor-agent/versions/2026.1/cursor-agent | .local/share/cursor-agent/versions/2026.1/index.js | bin/agent | {home}/.local/share/cursor-agent/versions/2026.1/cursor-agent | .local/share/cursor-agent/notes |
        | Homebrew               | claude-code | .linuxbrew/Cellar/claude-code/2.1/bin/claude | .linuxbrew/Cellar/claude-code/2.1/INSTALL_RECEIPT.json | .linuxbrew/bin/claude | ../Cellar/claude-code/2.1/bin/claude | .linuxbrew/Cellar/other/1.0/bin/other |
        | a folder of tools      | claude-code | tools/claude | tools/README | bin/claude | ../tools/claude | tools/notes |

    @case:K01
    Scenario Outline: it starts from <where>, outside of the home
      Given the agent's program is "<program>"
      And "<link>" is a link to "<program>"
      And its caller finds programs in the folder of "<link>" first
      And the user has the secrets
        | <beside> |
      And the step is run by the provider "claude-code" with the prompt "tools/probe read <beside>"
      When the step is run
      Then no secret arrives
      And bare, the probe "read <beside>" gets the secret

      Examples:
        | where                                 | program                                   | link                                | beside                           |
        | /opt                                  | /opt/data/library/{nonce}/claude/bin/claude | /opt/data/library/{nonce}/bin/claude | /opt/data/library/{nonce}/claude/bin/notes |
        | a link in a system folder to the home | {home}/.local/share/claude/versions/1     | /usr/local/games/{nonce}/claude     | {home}/.local/share/claude/notes |

    # as nvm, fnm and asdf have it: the interpreter lies in the hidden home as well
    @case:K01
    Scenario Outline: a script starts with the node beside it: <how>
      Given the agent's program is "{home}/<root>/lib/node_modules/@anthropic-ai/claude-code/cli.js", a script for "env node"
      And on the user's host, "{home}/<root>/lib/node_modules/@anthropic-ai/claude-code/package.json" holds '{}'
      And its interpreter is "{home}/<node>"
      And "{home}/<root>/bin/claude" is a link to "../lib/node_modules/@anthropic-ai/claude-code/cli.js"
      And its caller finds programs in the folder of "{home}/<root>/bin/claude" first
      And the user has the secrets
        | {home}/<beside>       |
        | {home}/<root>/bin/npm |
      And the step is run by the provider "claude-code" with the prompt "tools/probe read {home}/<beside> + read {home}/<root>/bin/npm"
      When the step is run
      Then no secret arrives
      And bare, the probe "read {home}/<beside> + read {home}/<root>/bin/npm" gets the secret

      Examples:
        | how | root                           | node                                    | beside                                                |
        | nvm | .nvm/versions/node/v22.1.0     | .nvm/versions/node/v22.1.0/bin/node     | .nvm/versions/node/v22.1.0/lib/node_modules/npm/notes |
        | fnm | .fnm/node-versions/v22/installation | .fnm/node-versions/v22/installation/bin/node | .fnm/notes                                   |

    Scenario Outline: of <what> it reads, and writes nothing
      Given the agent's program is "{home}/<program>"
      And on the user's host, "{home}/<package>" holds '{}'
      And the user has the secrets
        | {home}/<own> |
      And "{home}/bin/claude" is a link to "{home}/<program>"
      And its caller finds programs in the folder of "{home}/bin/claude" first
      And the step is run by the provider "claude-code" with the prompt "tools/probe read {home}/<own> + append {home}/<program> x + write {home}/<folder>/new x"
      When the step is run
      Then no action succeeds but the first
      And on the host, "{home}/<folder>/new" is gone
      And planted, for a step that runs a program of its own none does

      Examples:
        | what          | program                                   | package                                        | own                                          | folder                              |
        | its package   | lib/node_modules/@anthropic-ai/claude-code/bin/claude | lib/node_modules/@anthropic-ai/claude-code/package.json | lib/node_modules/@anthropic-ai/claude-code/vendor/rg | lib/node_modules/@anthropic-ai/claude-code |
        | its versions  | .local/share/claude/versions/2            | .local/share/claude/versions/1                 | .local/share/claude/versions/0               | .local/share/claude/versions        |

    @needs:doctor
    Scenario Outline: the <command> say which folder becomes readable
      Given the agent's program is "{home}/lib/node_modules/@anthropic-ai/claude-code/bin/claude"
      And on the user's host, "{home}/lib/node_modules/@anthropic-ai/claude-code/package.json" holds '{}'
      And "{home}/bin/claude" is a link to "../lib/node_modules/@anthropic-ai/claude-code/bin/claude"
      And its caller finds programs in the folder of "{home}/bin/claude" first
      And the step is run by the provider "claude-code" with the prompt "true"
      When its <command> are asked for
      Then they say "readable: {home}/lib/node_modules/@anthropic-ai/claude-code"
      And planted, with the usual agents they do not

      Examples:
        | command   |
        | providers |
        | doctor    |
