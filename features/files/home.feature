Feature: The user's home
  A step works in its worktrees. The home folder of the user who runs the factory is not part of what it sees:
  not its files, not their names, by no road. Each case reads a canary, a file with a token that stands nowhere else.

  @FS-06
  Rule: The user's home cannot be listed and none of its files read

    Background:
      Given a sandboxed step

    Scenario Outline: cannot read <file>
      When the step runs the probe "read <file>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | file                                    |
        | ~/.netrc                                |
        | ~/.bash_history                         |
        | ~/.bashrc                               |
        | ~/.git-credentials                      |
        | ~/.npmrc                                |
        | ~/.aws/credentials                      |
        | ~/.cargo/credentials.toml               |
        | ~/.config/gh/hosts.yml                  |
        | ~/.docker/config.json                   |
        | ~/.kube/config                          |
        | ~/.mozilla/firefox/default/logins.json  |

    Scenario: cannot read a file whose name has blanks
      When the step runs the probe with the arguments
        | read | ~/Documents/letter to the bank.txt |
      Then no secret arrives
      And bare, the same probe gets the secret

    Scenario Outline: cannot list <folder>
      When the step runs the probe "list <folder>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | folder      |
        | ~           |
        | ~/Documents |
        | ~/.config   |
        | ~/.aws      |

    Scenario Outline: cannot read the home by <road>
      When the step runs the probe "read <path>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | road                      | path                                        |
        | its own root in /proc     | /proc/self/root/home/dev/.netrc             |
        | its thread's root         | /proc/thread-self/root/home/dev/.netrc      |
        | dots                      | /home/../home/./dev//.netrc                 |
        | climbing from the cwd | ../../../../../../../../../../../../../../../../../../../../home/dev/.netrc |
        | climbing from /proc | /proc/self/cwd/../../../../../../../../../../../../../../../../../../../../home/dev/.netrc |
        | climbing from /usr        | /usr/bin/../../home/dev/.netrc              |
        | a link in /etc            | /etc/ssl/certs/dev.pem                      |

    # it lies in the home as well: its settings, and what belongs to other attempts
    Scenario Outline: cannot <what> the factory's folder
      Given the user has the secrets
        | {factory}/notes        |
        | {factory}/{canary}.txt |
      When the step runs the probe "<probe>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | what           | probe                |
        | read a file of | read {factory}/notes |
        | list           | list {factory}       |

    # what nobody committed, such as keys of the project, is not in the worktree
    Scenario: cannot read an uncommitted file of its own repository
      Given the user has the secrets
        | {repository}/.env |
      When the step runs the probe "read {repository}/.env"
      Then no secret arrives
      And bare, the same probe gets the secret

    Scenario: cannot find what another attempt has in its worktree
      When while an attempt that has done "set -e; touch own-{nonce}" waits, another runs "find / -name own-{nonce} -not -path '/proc/*' 2>/dev/null"
      Then the other attempt does not print "own-{nonce}"
      And bare, the same two commands print it, with TMPDIR in the home

    # Another guard may keep it as well, such as Landlock: then this one is not what keeps it
    @extra @needs:backend
    Scenario Outline: what keeps <what> is the sandbox around it
      When the step runs the probe "<probe>"
      Then no secret arrives
      And weakened, with the host's "<path>" mounted, the same probe gets the secret

      Examples:
        | what            | probe           | path       |
        | the home        | list ~          | ~          |
        | a file in it    | read ~/.netrc   | ~/.netrc   |
        | a folder in it  | list ~/.aws     | ~/.aws     |

    @case:R01
    # Claude Code CVE-2026-25724: a link inside the worktree reads a denied file
    Scenario: cannot read the home through a link that the repository holds
      When the step runs the probe "read link-to-netrc"
      Then no secret arrives
      And bare, the same probe gets the secret

    @case:R01
    Scenario: cannot read the home through a link that the step makes
      When the step runs the probe "symlink ~/.netrc made-{nonce} + read made-{nonce}"
      Then no secret arrives
      And bare, the same probe gets the secret

    Scenario: cannot read the home through a hard link that the step makes
      When the step runs the probe "link ~/.netrc hard-{nonce} + read hard-{nonce}"
      Then no secret arrives
      And bare, the same probe gets the secret

    # alone, because of a sandbox that shows neighbours it would find what they link to
    @serial
    Scenario: cannot find a secret of the home in any file that it sees
      When the step runs the probe "sweep / --find {token} --skip /usr --skip /proc --skip /sys"
      Then no secret arrives
      And bare, the same probe gets the secret

    Scenario: a process that the step starts cannot read the home either
      When the step runs the shell command "(tools/probe read ~/.netrc; exit $?) & wait $!"
      Then no secret arrives
      And bare, the same probe gets the secret

    @needs:factory
    Scenario Outline: an agent of the provider <provider> cannot read the home either
      Given the step is run by the provider "<provider>" with the prompt "tools/probe <probe>"
      When the step is run
      Then no secret arrives
      And bare, the probe "<probe>" gets the secret

      Examples:
        | provider    | probe                                    |
        | claude-code | read ~/.netrc + list ~                   |
        | cursor      | read ~/.aws/credentials + list ~/.config |

    # its program must be seen, wherever it is installed (AGT-05); what lies beside it need not
    @extra @needs:factory
    Scenario Outline: an agent of the provider <provider> cannot read what lies beside its program
      Given the user has the secrets
        | ~/.local/bin/notes-{nonce} |
      And the step is run by the provider "<provider>" with the prompt "tools/probe read ~/.local/bin/notes-{nonce}"
      When the step is run
      Then no secret arrives
      And bare, the probe "read ~/.local/bin/notes-{nonce}" gets the secret

      Examples:
        | provider    |
        | claude-code |
        | cursor      |

    # An agent's program may need files of its own beside it; the folder it lies in can be anybody's.
    @needs:factory
    Scenario Outline: of an agent that lies in <where>, nothing beside it is readable
      Given the agents lie in "<folder>", beside notes of the user
      And the step is run by the provider "claude-code" with the prompt "tools/probe read <folder>/notes.txt"
      When the step is run
      Then no secret arrives
      And bare, the probe "read <folder>/notes.txt" gets the secret

      Examples:
        | where                                      | folder                |
        | a folder of the user                       | {library}/tools       |
        | a folder that has the agent's name         | {library}/claude      |
        | a folder below one that has the agent's name | {library}/claude/work |

    @needs:factory
    Scenario: of an agent that lies in a project with a package.json, nothing beside it is readable
      Given the agents lie in "{library}/project", beside notes of the user and a package.json
      And the step is run by the provider "claude-code" with the prompt "tools/probe read {library}/project/notes.txt"
      When the step is run
      Then no secret arrives
      And bare, the probe "read {library}/project/notes.txt" gets the secret

    @needs:factory
    Scenario Outline: the number of repos makes no difference: <repos>
      Given its active repos have the sandbox "<repos>"
      When the step runs the shell command "cat ~/.netrc ~/.aws/credentials; ls -a ~"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | repos       |
        | none        |
        | unset+unset |

    Scenario: with network allowlist the home is hidden as well
      Given the network is allowlist
      When the step runs the probe "read ~/.netrc + list ~"
      Then no secret arrives
      And bare, the same probe gets the secret
