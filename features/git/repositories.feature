Feature: Git in a worktree, and the kinds of repository
  The most frequent complaint about sandboxes is git: a commit fails, or it is not there afterwards. What a step commits is on
  the branch of its worktree, whatever kind of repository that belongs to.

  @GIT-01
  Rule: git status, add, commit, log and diff work in the worktree, and the commit is on its branch afterwards

    Background:
      Given a sandboxed step
      And the repository's kind is "ordinary"

    @case:T16
    Scenario Outline: <what>
      When the step works with git: "<command>"
      Then git ends well, without an error line or a lock
      And in the worktree, "proof" ends in "<proof>"
      And planted, with another text in its place it is not so

      Examples:
        | what                              | command                                                     | proof              |
        | git status tells a new file       | echo x >new; git status --short new >proof                  | ?? new             |
        | git status tells a change         | echo x >>story; git status --short story >proof             | M story            |
        | git add stages a new file         | echo x >new; git add new; git status --short new >proof     | A  new             |
        | git commit makes a commit         | echo x >new; git add new; git commit -q -m Work; git show --stat --format=%s >proof | 1 file changed, 1 insertion(+) |
        | git log tells the commits         | git log --format=%s >proof                                  | Begin              |
        | git log tells its own commit      | git commit -q --allow-empty -m Work; git log -1 --format=%s >proof | Work        |
        | git diff tells a change           | echo x >>story; git diff story >proof                       | +x                 |
        | git diff tells what is staged     | echo x >>story; git add story; git diff --cached >proof     | +x                 |
        | git diff tells a branch           | git diff main...feat >proof                                 | +two               |

    Scenario Outline: a commit is on the worktree's branch afterwards, <what>
      Given the network is <network>
      When the step works with git: "echo x >new; git add new; git commit -q -m Work; echo y >>story; echo z >left"
      Then git ends well, without an error line or a lock
      And outside, its branch has the commit "Work"
      And outside, git "show --format= --name-status HEAD" prints "A\tnew"
      And outside, git "show HEAD:new" prints "x"
      And outside, git "rev-list --count HEAD^..main" prints "0"
      And outside, git "status --porcelain" prints "<left>"
      And outside, the repository is whole
      And planted, in the worktree of an attempt that did nothing git says otherwise

      Examples:
        | what                   | network   | left                 |
        | with network open      | open      | M story\n?? left     |
        | with network allowlist | allowlist | M story\n?? left     |

    Scenario Outline: commits are on the worktree's branch afterwards: <what>
      When the step works with git: "<command>"
      Then git ends well, without an error line or a lock
      And outside, its branch has the commits "<commits>"
      And outside, git "<asked>" prints "<answer>"
      And outside, git "status --porcelain" prints ""
      And planted, in the worktree of an attempt that did nothing git says otherwise

      Examples:
        | what                      | command                                                            | commits      | asked                   | answer          |
        | one of a change           | echo x >>story; git commit -q -a -m Work                           | Work         | show --format= --stat   | story \| 1 +\n 1 file changed, 1 insertion(+) |
        | one of a part of a change | sed -i '2s/$/!/; 11s/$/!/' story; printf 'y\nn\n' \| git add -p >/dev/null; git commit -q -m Work; git checkout -q story | Work | show --format= --shortstat | 1 file changed, 1 insertion(+), 1 deletion(-) |
        | one that is amended       | git commit -q --allow-empty -m Wrok; git commit -q --amend --allow-empty -m Work | Work | rev-list --count main..HEAD | 1 |
        | one of nothing            | git commit -q --allow-empty -m Work                                | Work         | show --format= --stat   |                 |
        | a message of a file       | printf 'Work\n\nAnd why.\n' >m; git commit -q --allow-empty -F m; rm m | Work         | log -1 --format=%b      | And why.        |
        | a message of its input    | printf 'Work\n\nAnd why.\n' \| git commit -q --allow-empty -F -    | Work         | log -1 --format=%b      | And why.        |
        | a file that is deleted    | git rm -q end; git commit -q -m Work                               | Work         | show --format= --name-status | D\\tend    |
        | a file that is renamed    | git mv end fin; git commit -q -m Work                              | Work         | show --format= --name-status | R100\\tend\\tfin |
        | a file that is executable | echo x >run; chmod +x run; git add run; git commit -q -m Work      | Work         | ls-tree --format=%(objectmode) HEAD run | 100755 |
        | a link within             | ln -s story link; git add link; git commit -q -m Work              | Work         | ls-tree --format=%(objectmode) HEAD link | 120000 |
        | a folder                  | mkdir -p a/b; echo x >a/b/c; git add a; git commit -q -m Work      | Work         | show HEAD:a/b/c         | x               |
        | a merge                   | git merge -q --no-ff -m Work feat                                  | Work         | show HEAD:feature       | one\ntwo        |
        | ten                       | for n in 0 1 2 3 4 5 6 7 8 9; do git commit -q --allow-empty -m W$n; done | W0; W1; W2; W3; W4; W5; W6; W7; W8; W9 | rev-list --count main..HEAD | 10 |
        | a file of 20 MB           | head -c 20000000 /dev/urandom >big; git -c core.compression=0 add big; git commit -q -m Work | Work     | cat-file -s HEAD:big    | 20000000        |
        | 500 files                 | mkdir d; for n in $(seq 500); do echo $n >d/$n; done; git add d; git commit -q -m Work | Work | show HEAD:d/500 | 500 |
        | a name with blanks        | echo x >'a b c'; git add -A; git commit -q -m Work                 | Work         | show --format= --name-only | a b c        |
        | a name of other alphabets | echo x >größe-尺寸; git add -A; git commit -q -m Work              | Work         | -c core.quotePath=off show --format= --name-only | größe-尺寸 |
        | a name with a leading dash | echo x >./-rf; git add -- -rf; git commit -q -m Work              | Work         | show --format= --name-only | -rf          |
        | a name with quotes        | echo x >"it's"; git add -A; git commit -q -m Work                  | Work         | show --format= --name-only | it's         |

    Scenario: a commit in a second repo is on the branch of its worktree afterwards
      Given its active repos have the sandbox "unset+unset"
      When the step works with git: "for w in . '{second}'; do cd "$w"; echo x >new; git add new; git commit -q -m "Work in $(basename "$PWD")"; done"
      Then git ends well, without an error line or a lock
      And outside, the branch of "extra" has the commit "Work in extra"
      And outside, its branch has the commit "Work in demo"
      And planted, in the repository's own worktree git says otherwise

    # The same piece of work in every kind of repository that people have.
    Scenario Outline: status, add, commit, log and diff work in a repository of this kind: <kind>
      Given the repository's kind is "<kind>"
      When the step works with git: "echo one >new; git add new; test "$(git status --short new)" = 'A  new'; git commit -q -m Work; test "$(git log -1 --format=%s)" = Work; echo two >new; git diff new | grep -q +two; git commit -q -a -m More; echo left >left"
      Then git ends well, without an error line or a lock
      And outside, its branch has the commits "Work; More"
      And outside, git "show HEAD:new" prints "two"
      And outside, git "status --porcelain" prints "?? left"
      And outside, the repository is whole
      And planted, in the worktree of an attempt that did nothing git says otherwise

      Examples:
        | kind                     |
        | SHA-256                  |
        | partial clone            |
        | shallow clone            |
        | worktree config          |
        | bare                     |
        | submodule                |
        | filter                   |
        | git folder elsewhere     |

      @case:T17
      Examples:
        | kind                     |
        | packed refs              |

      @needs:reftable
      Examples:
        | kind                     |
        | reftable                 |

      @case:T10
      Examples:
        | kind                     |
        | hooks in the worktree    |

      # A typed refusal would be right as well.
      @case:T14 @extra
      Examples:
        | kind                     |
        | git folder by a link     |
        | hooks by a link          |

      # Objects outside of the repository's own git folder, of which the documentation does not speak.
      @extra
      Examples:
        | kind                     |
        | alternates               |
        | alternates of alternates |
        | relative alternates      |

    # A user's name and address are no secret, and a commit without them fails; the documentation does not speak of it.
    @extra
    Scenario: a commit has the author of the user's own git config
      Given the repository's config has no "user"
      And the user's git config says "[user]\nname = Grace\nemail = grace@devbox.example"
      When the step works with git: "git commit -q --allow-empty -m Work"
      Then git ends well, without an error line or a lock
      And outside, its branch has the commit "Work"
      And outside, git "log -1 --format=%an,%ae,%cn,%ce" prints "Grace,grace@devbox.example,Grace,grace@devbox.example"
      And planted, in the repository's own worktree git says otherwise

    @extra
    Scenario: a commit has the author of the repository's config
      Given in the repository's config, "user.name" is "Ada Lovelace"
      When the step works with git: "git commit -q --allow-empty -m Work"
      Then git ends well, without an error line or a lock
      And outside, its branch has the commit "Work"
      And outside, git "log -1 --format=%an,%ae,%cn,%ce" prints "Ada Lovelace,dev@devbox.example,Ada Lovelace,dev@devbox.example"
      And planted, in the repository's own worktree git says otherwise

    @extra
    Scenario: a commit has the author of a file that the repository's config includes
      Given the repository's config has no "user"
      And in the repository's config, "include.path" is "shared.config"
      And the repository's git folder has the file "shared.config" with "[user]\nname = Grace\nemail = grace@devbox.example"
      When the step works with git: "git commit -q --allow-empty -m Work"
      Then git ends well, without an error line or a lock
      And outside, its branch has the commit "Work"
      And outside, git "log -1 --format=%an,%ae,%cn,%ce" prints "Grace,grace@devbox.example,Grace,grace@devbox.example"
      And planted, in the repository's own worktree git says otherwise

    @extra
    Scenario: a commit has the author that the caller's environment names
      Given the repository's config has no "user"
      And its caller has the variable "GIT_AUTHOR_NAME" with "Grace"
      And its caller has the variable "GIT_AUTHOR_EMAIL" with "grace@devbox.example"
      And its caller has the variable "GIT_COMMITTER_NAME" with "Ada"
      And its caller has the variable "GIT_COMMITTER_EMAIL" with "ada@devbox.example"
      When the step works with git: "git commit -q --allow-empty -m Work"
      Then git ends well, without an error line or a lock
      And outside, its branch has the commit "Work"
      And outside, git "log -1 --format=%an,%ae,%cn,%ce" prints "Grace,grace@devbox.example,Ada,ada@devbox.example"
      And planted, in the repository's own worktree git says otherwise

    # Keys for signatures are the user's, and no agent that has them is inside.
    @extra
    Scenario Outline: a commit works although <where> wants it signed
      Given <given>
      When the step works with git: "git commit -q --allow-empty -m Work"
      Then git ends well, without an error line or a lock
      And outside, its branch has the commit "Work"
      And planted, in the repository's own worktree git says otherwise

      Examples:
        | where                   | given |
        | the repository's config | in the repository's config, "commit.gpgSign" is "true" |
        | the user's config       | the user's git config says "[user]\nname = Grace\nemail = grace@devbox.example\n[commit]\ngpgSign = true" |

    @case:T15 @needs:artifacts
    Scenario: a step without a repository starts, and no git folder appears
      Given its active repos have the sandbox "none"
      When the step runs the shell command "git status; echo $? >proof; git init -q sub || echo no >>proof"
      Then in the artifacts, ".git" is gone
      And in the artifacts, "proof" ends in "128"
      And planted, in the artifacts of an attempt that did nothing it is not so
