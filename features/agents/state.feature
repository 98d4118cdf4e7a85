@needs:factory
Feature: What an agent has in the home
  An agent keeps its login, its settings and its sessions in the user's home. Of the home these are inside, where the agent
  looks for them, and what the agent changes there is there afterwards. They are there for that agent's steps alone.

  @AGT-01
  Rule: Claude Code's state and Cursor's folders are mounted read/write; nothing else of the home is

    Background:
      Given a sandboxed step
      And the user's home is "{library}"

    Scenario Outline: <provider> reads <what> in <place>
      Given the user has the secrets
        | {home}/<place> |
      And the step is run by the provider "<provider>" with the prompt "tools/probe read {home}/<place>"
      When the step is run
      Then the secret arrives
      And planted, for a step that runs a program of its own none does

      Examples:
        | provider    | what         | place                                |
        | claude-code | its login    | .claude/.credentials.json            |
        | claude-code | its settings | .claude/settings.json                |
        | claude-code | its sessions | .claude/projects/-srv/0001.jsonl     |
        | claude-code | its own file | .claude.json                         |
        | cursor      | its settings | .cursor/cli-config.json              |
        | cursor      | its login    | .config/cursor/auth.json             |

    Scenario Outline: what <provider> writes in <folder> is there afterwards
      Given the user has the secrets
        | {home}/<folder>/settings.json |
      And the step is run by the provider "<provider>" with the prompt "tools/probe write {home}/<folder>/new-{nonce} x + rename {home}/<folder>/new-{nonce} {home}/<folder>/renamed-{nonce}"
      When the step is run
      Then on the host, "{home}/<folder>/renamed-{nonce}" holds "x"
      And planted, after a step that runs a program of its own it is not so

      Examples:
        | provider    | folder         |
        | claude-code | .claude        |
        | cursor      | .cursor        |
        | cursor      | .config/cursor |

    Scenario Outline: an agent of <provider> does not see <what>
      Given the user has the secrets
        | {home}/.claude/settings.json  |
        | {home}/.claude.json           |
        | {home}/.cursor/mcp.json       |
        | {home}/.config/cursor/x.json  |
        | {home}/.config/gh/hosts.yml   |
        | {home}/.ssh/id_ed25519        |
        | {home}/.claude-backup/x       |
        | {home}/.claude.json.backup    |
        | {home}/{canary}.txt           |
        | {home}/.config/{canary}.txt   |
      And the step is run by the provider "<provider>" with the prompt "tools/probe <probe>"
      When the step is run
      Then no secret arrives
      And bare, the probe "<probe>" gets the secret

      Examples:
        | provider    | what                     | probe                                                           |
        | claude-code | other names of the home  | list {home}                                             |
        | claude-code | what is called alike     | read {home}/.claude-backup/x + read {home}/.claude.json.backup |
        | claude-code | keys                     | read {home}/.ssh/id_ed25519                             |
        | claude-code | another agent's state    | read {home}/.cursor/mcp.json + read {home}/.config/cursor/x.json |
        | cursor      | another agent's state    | read {home}/.claude/settings.json + read {home}/.claude.json |
        | cursor      | what lies beside its own | list {home}/.config + read {home}/.config/gh/hosts.yml |
        | cursor      | other names of the home  | list {home}                                             |

    Scenario Outline: with <variable>, the state of <provider> is read there
      Given the user has the secrets
        | {home}/elsewhere/settings |
      And its caller has the variable "<variable>" with "<value>"
      And the step is run by the provider "<provider>" with the prompt "tools/probe read {home}/elsewhere/settings"
      When the step is run
      Then the secret arrives
      And planted, for a step that runs a program of its own none does

      Examples:
        | provider    | variable          | value            |
        | claude-code | CLAUDE_CONFIG_DIR | {home}/elsewhere |
        | cursor      | CURSOR_CONFIG_DIR | {home}/elsewhere |

    Scenario Outline: <variable> is set inside, and what <provider> writes there is there afterwards
      Given on the user's host, "{home}/<folder>/settings" holds '{}'
      And its caller has the variable "<variable>" with "{home}/elsewhere"
      And the step is run by the provider "<provider>" with the prompt "tools/probe env + write {home}/<folder>/new-{nonce} x"
      When the step is run
      Then the variable "<variable>" is "{home}/elsewhere"
      And on the host, "{home}/<folder>/new-{nonce}" holds "x"
      And planted, after a step that runs a program of its own it is not so

      Examples:
        | provider    | variable          | folder           |
        | claude-code | CLAUDE_CONFIG_DIR | elsewhere        |
        | cursor      | CURSOR_CONFIG_DIR | elsewhere        |
        | cursor      | XDG_CONFIG_HOME   | elsewhere/cursor |

    Scenario: with CLAUDE_CONFIG_DIR, the usual places are not there
      Given the user has the secrets
        | {home}/.claude/settings.json |
        | {home}/elsewhere/settings.json    |
      And its caller has the variable "CLAUDE_CONFIG_DIR" with "{home}/elsewhere"
      And the step is run by the provider "claude-code" with the prompt "tools/probe read {home}/.claude/settings.json"
      When the step is run
      Then no secret arrives
      And bare, the probe "read {home}/.claude/settings.json" gets the secret

    # Claude Code locks ~/.claude.json by a folder beside it, writes another file and renames it over: measured, 2.1.332
    Scenario: what it notes in ~/.claude.json is there afterwards, whole, and nothing beside it
      Given on the user's host, "{home}/.claude.json" holds '{"first":1}'
      And the step is run by the provider "claude-code" with the prompt "remember one && remember two && tools/probe read {home}/.claude.json"
      When the step is run
      Then on the host, the keys of "{home}/.claude.json" are exactly "first one two"
      And the folder "{home}" holds nothing but ".claude.json"
      And planted, after an agent that notes nothing they are not

    Scenario: attempts at the same time lose nothing of each other
      Given on the user's host, "{home}/.claude.json" holds '{"first":1}'
      When while an agent that has done "remember one" waits and then does "remember three", another does "remember two"
      Then on the host, the keys of "{home}/.claude.json" are exactly "first one two three"
      And the folder "{home}" holds nothing but ".claude.json"
      And planted, after an agent that notes nothing they are not

    # The agent's own lock: whoever has it reads, changes and writes, and what others write meanwhile is lost
    @extra @needs:setup
    Scenario: what others do with ~/.claude.json under its lock is waited for
      Given on the user's host, "{home}/.claude.json" holds '{"first":1}'
      And the step has the setup command "mkdir {home}/.claude.json.lock; (until [ -e done ]; do touch {home}/.claude.json.lock; sleep 0.1; done; sleep 2; echo '{"first":1,"theirs":1}' >{home}/.claude.json; rmdir {home}/.claude.json.lock) >/dev/null 2>&1 </dev/null &"
      And the step is run by the provider "claude-code" with the prompt "remember one && touch done && tools/probe read {home}/.claude.json"
      When the step is run
      Then on the host, the keys of "{home}/.claude.json" are exactly "first one theirs"
      And the folder "{home}" holds nothing but ".claude.json"
      And planted, after an agent that notes nothing they are not

    @extra
    Scenario: what is not there is not made
      Given on the user's host, "{home}/.claude/settings.json" holds '{}'
      And the step is run by the provider "claude-code" with the prompt "remember one; tools/probe write {home}/.claude.json.new x + mkdir {home}/.cursor"
      When the step is run
      Then the folder "{home}" holds nothing but ".claude"
      And planted, a name too many is noticed

    @extra
    Scenario: what an agent leaves there that is no JSON is not taken over
      Given on the user's host, "{home}/.claude.json" holds '{"first":1}'
      And the step is run by the provider "claude-code" with the prompt "tools/probe write {home}/.claude.json {"
      When the step is run
      Then on the host, the keys of "{home}/.claude.json" are exactly "first"
      And planted, after an agent that notes something else they are not

    # dotfile managers: chezmoi, stow, yadm, bare git repositories
    @extra
    Scenario Outline: linked state is read and written: <what>
      Given the user has the secrets
        | {home}/dotfiles/<file> |
        | {home}/dotfiles/other  |
      And "{home}/<link>" is a link to "<target>"
      And the step is run by the provider "<provider>" with the prompt "tools/probe read {home}/<path>"
      When the step is run
      Then the secret arrives
      And planted, for a step that runs a program of its own none does

      Examples:
        | what                     | provider    | file                  | link            | target                                | path                    |
        | a folder                 | claude-code | claude/settings.json  | .claude         | {home}/dotfiles/claude        | .claude/settings.json   |
        | a folder, relatively     | claude-code | claude/settings.json  | .claude         | dotfiles/claude                       | .claude/settings.json   |
        | a file                   | claude-code | claude.json           | .claude.json    | {home}/dotfiles/claude.json   | .claude.json            |
        | another agent's folder   | cursor      | cursor/mcp.json       | .cursor         | {home}/dotfiles/cursor        | .cursor/mcp.json        |
        | the folder it lies in    | cursor      | config/cursor/x.json  | .config         | {home}/dotfiles/config        | .config/cursor/x.json   |

    @extra
    Scenario Outline: what lies beside linked state is not opened: <what>
      Given the user has the secrets
        | {home}/dotfiles/<file> |
        | {home}/dotfiles/other  |
        | {home}/dotfiles/{canary} |
      And "{home}/<link>" is a link to "{home}/dotfiles/<target>"
      And the step is run by the provider "claude-code" with the prompt "tools/probe read {home}/dotfiles/other + list {home}/dotfiles"
      When the step is run
      Then no secret arrives
      And bare, the probe "read {home}/dotfiles/other + list {home}/dotfiles" gets the secret

      Examples:
        | what     | file                 | link         | target      |
        | a folder | claude/settings.json | .claude      | claude      |
        | a file   | claude.json          | .claude.json | claude.json |

    @extra @needs:protected
    Scenario Outline: state that is a link to <what> is refused
      Given the user has the secrets
        | <file> |
      And "{home}/<link>" is a link to "<target>"
      And the step is run by the provider "claude-code" with a prompt that leaves a mark
      And the attempt may be refused
      When the step is run
      Then the attempt is refused with the reason "protected-path"
      And no mark is found
      And planted, without that link the mark is found

      Examples:
        | what              | file                   | link         | target                 |
        | SSH keys          | {home}/.ssh/id_ed25519 | .claude      | {home}/.ssh            |
        | a file of them    | {home}/.ssh/id_ed25519 | .claude.json | {home}/.ssh/id_ed25519 |
        | passwords         | {home}/.netrc          | .claude.json | {home}/.netrc          |
        | the whole home    | {home}/.netrc          | .claude      | {home}                 |
        | a folder of many  | {home}/.config/gh/x    | .claude      | {home}/.config         |
        | the secret store  | {store}/secrets        | .claude      | {store}                |
        | a file of it      | {store}/secrets        | .claude.json | {store}/secrets        |
        | a shell's start   | {home}/.bashrc         | .claude.json | {home}/.bashrc         |

    # as stow makes them: a real folder, full of links
    @extra
    Scenario Outline: a link in its state is followed: <what>
      Given the user has the secrets
        | {home}/dotfiles/<file> |
      And on the user's host, "{home}/.claude/<beside>" holds '{}'
      And "{home}/.claude/<link>" is a link to "<target>"
      And the step is run by the provider "claude-code" with the prompt "tools/probe read {home}/.claude/<path> + write {home}/dotfiles/<file> x"
      When the step is run
      Then the secret arrives
      And on the host, "{home}/dotfiles/<file>" holds "x"
      And planted, for a step that runs a program of its own none does

      Examples:
        | what               | file            | beside       | link          | target                        | path            |
        | its settings       | settings.json   | x            | settings.json | ../dotfiles/settings.json     | settings.json   |
        | a folder           | skills/own/x.md | x            | skills        | {home}/dotfiles/skills        | skills/own/x.md |
        | a file in a folder | review.md       | commands/x   | commands/review.md | ../../dotfiles/review.md | commands/review.md |

    @extra
    Scenario: what lies beside that is not opened
      Given the user has the secrets
        | {home}/dotfiles/settings.json |
        | {home}/dotfiles/other         |
        | {home}/dotfiles/{canary}      |
      And on the user's host, "{home}/.claude/x" holds '{}'
      And "{home}/.claude/settings.json" is a link to "../dotfiles/settings.json"
      And the step is run by the provider "claude-code" with the prompt "tools/probe read {home}/dotfiles/other + list {home}/dotfiles"
      When the step is run
      Then no secret arrives
      And bare, the probe "read {home}/dotfiles/other + list {home}/dotfiles" gets the secret

    # who can make a link there could have the next attempt open anything
    @extra
    Scenario Outline: a link that a step leaves there opens nothing to the next: <how>
      Given the user has the secrets
        | {home}/<file> |
      And on the user's host, "{home}/.claude/settings.json" holds '{}'
      And the step is run by the provider "claude-code" with the prompt "<first>; tools/probe read {home}/.claude/<link>"
      When the step is run
      And in a second attempt, the step is run
      Then no secret arrives
      And on the host, "{home}/.claude/<link>" is a link
      And bare, the probe "read {home}/.claude/<link>" gets the secret

      Examples:
        | how                      | file             | link          | first                                                                                  |
        | a new one                | notes            | planted       | ln -sf {home}/notes {home}/.claude/planted                                             |
        | one in place of settings | notes            | settings.json | rm -f {home}/.claude/settings.json && ln -s ../notes {home}/.claude/settings.json      |

    @extra
    Scenario: a link in its state to keys is refused
      Given the user has the secrets
        | {home}/.ssh/id_ed25519 |
      And on the user's host, "{home}/.claude/x" holds '{}'
      And "{home}/.claude/keys" is a link to "../.ssh"
      And the step is run by the provider "claude-code" with a prompt that leaves a mark
      And the attempt may be refused
      When the step is run
      Then the attempt is refused with the reason "protected-path"
      And no mark is found
      And planted, without that link the mark is found

  @AGT-07
  Rule: The agent's own login folders, which are mounted for it, are inside

    # D15: documented, not prevented (CVE-2026-25725, CVE-2026-48124 are of this class)
    @case:K03
    Scenario Outline: what <provider> writes into <file> is there for the user's next session
      Given a sandboxed step
      And the user's home is "{library}"
      And on the user's host, "{home}/<file>" holds '{}'
      And the step is run by the provider "<provider>" with the prompt "tools/probe write {home}/<file> {\"hooks\":1}"
      When the step is run
      Then on the host, "{home}/<file>" holds "{"hooks":1}"
      And planted, after a step that runs a program of its own it is not so

      Examples:
        | provider    | file                          |
        | claude-code | .claude/settings.json         |
        | claude-code | .claude.json                  |
        | claude-code | .claude/skills/own/SKILL.md   |
        | cursor      | .cursor/mcp.json              |
