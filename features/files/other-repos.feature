Feature: Other repositories
  A step sees the repositories that are active for it. The user's others are not its business, wherever they lie.

  @FS-08
  Rule: Other repos cannot be read, wherever they lie: home, /srv, a sibling folder, the same parent

    Background:
      Given a sandboxed step

    Scenario Outline: cannot <what>
      When the step runs the probe "<probe>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | what                                     | probe                                 |
        | read a file of a repo beside its own     | read {other}/customers.csv            |
        | list a repo beside its own               | list {other}/kusaw-canaries           |
        | read a file of a repo in another folder  | read ~/src/extra/customers.csv        |
        | read a file of a repo in /srv            | read /srv/data/repo/customers.csv     |
        | read it climbing from its worktree       | read ../../../../../../../../../../../../srv/data/repo/customers.csv |

    # Another guard may keep it as well, such as Landlock: then this one is not what keeps it
    @extra @needs:backend
    Scenario Outline: what keeps a repo <where> is the sandbox around it
      When the step runs the probe "<probe>"
      Then no secret arrives
      And weakened, with the host's "<path>" mounted, the same probe gets the secret

      Examples:
        | where           | probe                             | path       |
        | beside its own  | read {other}/customers.csv        | {other}    |
        | in /srv         | read /srv/data/repo/customers.csv | /srv/data  |

    # macOS lets existence be seen (FS-14)
    @linux
    Scenario Outline: cannot see <what>
      When the step runs the probe "stat <path>"
      Then the probe finds nothing there
      And bare, the same probe finds it

      Examples:
        | what                                   | path                      |
        | the config of a repo beside its own    | {other}/.git/config       |
        | the HEAD of a repo in /srv             | /srv/data/repo/.git/HEAD  |

    @needs:factory
    Scenario Outline: an agent of the provider <provider> cannot read them either
      Given the step is run by the provider "<provider>" with the prompt "tools/probe <probe>"
      When the step is run
      Then no secret arrives
      And bare, the probe "<probe>" gets the secret

      Examples:
        | provider    | probe                                                         |
        | claude-code | read {other}/customers.csv + read /srv/data/repo/customers.csv |
        | cursor      | read ~/src/extra/customers.csv + list {other}/kusaw-canaries  |

    Scenario: with network allowlist they cannot be read either
      Given the network is allowlist
      When the step runs the probe "read {other}/customers.csv + read /srv/data/repo/customers.csv + read ~/src/extra/customers.csv"
      Then no secret arrives
      And bare, the same probe gets the secret

    # A project may bring the agent's program along, and is another repo all the same.
    @needs:factory
    Scenario Outline: cannot read a repo that the agent lies in, <in what folder>
      Given the agents lie in "<folder>", beside notes of the user and a package.json
      And the step is run by the provider "<provider>" with the prompt "tools/probe read {other}/customers.csv + list {other}/kusaw-canaries + read <folder>/notes.txt"
      When the step is run
      Then no secret arrives
      And bare, the probe "read {other}/customers.csv + list {other}/kusaw-canaries + read <folder>/notes.txt" gets the secret

      Examples:
        | in what folder      | provider    | folder        |
        | its own             | claude-code | {other}       |
        | one for programs    | cursor      | {other}/bin   |
        | its package's       | claude-code | {other}/tools |
