Feature: The factory's own git
  A factory makes worktrees and looks at what steps have left, with a git outside of any sandbox. Git runs programs wherever
  a config, an attribute or a folder says so: hooks, monitors, filters, signing. None of it may be the step's.

  $G, $W, $S and `plant` are those of control.feature.

  @GIT-05
  Rule: The factory's own git runs outside the sandbox; nothing a step leaves behind makes it run a program

    Background:
      Given a sandboxed step

    # Whoever uses a sandbox without a factory makes the next worktree with git as it is
    Scenario Outline: making the next worktree does not run what a step has left as <what>
      When the step does "<act>"
      Then neither the attempt nor another one has run it outside
      And bare, after the same act "<git>" runs it

      Examples:
        | what                         | act                                                           | git                       |
        | hooks of every name          | for hook in applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman post-index-change; do plant $G/hooks/$hook; plant $W/hooks/$hook; done | git commit -q --allow-empty -m x |
        | a hook after a checkout      | plant $G/hooks/post-checkout                                  | git worktree add -q --detach ../next |
        | a hook of refs               | plant $G/hooks/reference-transaction                          | git worktree add -q -b next ../next |
        | hooks elsewhere              | plant $PWD/h/post-checkout; git config core.hooksPath $PWD/h  | git worktree add -q --detach ../next |
        | a monitor of files           | git config core.fsmonitor $S                                  | git status                |
        | a filter's smudge            | git config filter.evil.smudge "$S; cat"; echo 'README filter=evil' >.gitattributes; mkdir -p $G/info; cp .gitattributes $G/info/attributes | git worktree add -q --detach ../next |
        | an included config           | git config --file $PWD/evil core.fsmonitor $S; git config include.path $PWD/evil | git status |
        | commondir                    | git init -q --bare evil; git config --file evil/config core.bare false; git config --file evil/config core.fsmonitor $S; echo $PWD/evil >$W/commondir; echo $PWD/evil >$G/commondir | git status |
        | another git folder           | mv $G $G.old; cp -r $G.old $G; git config --file $G/config core.fsmonitor $S | git status |

    @needs:factory
    Scenario Outline: does not run what a step has left as <what>
      When the step does "<act>"
      Then neither the attempt nor another one has run it outside
      And bare, after the same act "<git>" runs it

      Examples:
        | what                         | act                                                           | git                       |
        | a filter's clean             | git config filter.evil.clean "$S; cat"; echo '* filter=evil' >.gitattributes | git add -A   |
        | a filter's process           | git config filter.evil.process "$S; cat"; echo '* filter=evil' >.gitattributes | git add -A        |
        | an external diff             | git config diff.external $S; echo more >>README               | git diff                  |
        | a diff of its own            | git config diff.evil.command $S; echo '* diff=evil' >.gitattributes; echo more >>README | git diff |
        | a textconv                   | git config diff.evil.textconv $S; echo '* diff=evil' >.gitattributes; echo more >>README | git diff |
        | a driver of merges           | git config merge.evil.driver $S; echo '* merge=evil' >.gitattributes; for b in one two; do git checkout -q -b $b $(git rev-parse HEAD); echo $b >README; git commit -qam $b; git checkout -q --detach HEAD~; done | git checkout -q one; git merge two |
        | an editor                    | git config core.editor $S; echo more >>README                 | git commit -a             |
        | a shell of ssh               | git config core.sshCommand $S                                 | git fetch ssh://blocked.example/x |
        | a program that signs         | git config gpg.program $S; git config commit.gpgSign true     | git commit -q --allow-empty -m x |
        | a program for credentials    | git config credential.helper "!$S"                            | printf 'protocol=https\\nhost=x\\n\\n' \| git credential fill |
        | a program that asks          | git config core.askPass $S                                    | printf 'protocol=https\\nhost=x\\n\\n' \| git credential fill |
        | another command              | git config alias.ci "!$S"                                     | git ci                    |
        | a config of its worktree     | git config extensions.worktreeConfig true; git config --worktree core.fsmonitor $S; git config --file $W/config.worktree core.fsmonitor $S | git status |
        | a remote's own program       | git config remote.origin.url $PWD; git config remote.origin.uploadpack $S | git fetch     |
        | a submodule's update         | git config submodule.evil.url $PWD; git config submodule.evil.update "!$S"; git config submodule.evil.active true; printf '[submodule "evil"]\npath = evil\nurl = ./\n' >.gitmodules; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),evil | git -c protocol.file.allow=always submodule update |
        | a repository of its own      | rm -rf .git; git init -q .; git config core.fsmonitor $S       | git status               |
        | a bare repository            | git init -q --bare evil; git config --file evil/config core.bare false; git config --file evil/config core.worktree ..; git config --file evil/config core.fsmonitor $S | git -C evil status |
        | a repository in the worktree | git init -q evil; git -C evil commit -q --allow-empty -m x; git -C evil config core.fsmonitor $S | git add -A; git status |
        | one that it has committed    | git init -q evil; git -C evil commit -q --allow-empty -m x; git -C evil config core.fsmonitor $S; git add evil; git commit -qm x | git status |
        | one for a monitor of its own worktree | git init -q --separate-git-dir=.evil evil; git -C evil commit -q --allow-empty -m x; git -C evil config core.fsmonitor $S; git add evil; git commit -qm x | git status |

    # A repository's own config is the user's: his programs are for him, not for what a factory does behind his back.
    @extra @case:T09 @needs:factory
    Scenario Outline: does not run what the user has in his own repository as <what>
      Given in the repository, the user has done "printf '* filter=own diff=own merge=own\n' >.gitattributes; git add -A; git commit -q -m attributes; <user>"
      When the step does "echo more >>README; git add -A; git commit -q --no-gpg-sign -m work; git status; git diff HEAD~"
      Then neither the attempt nor another one has run it outside
      And bare, after the same act "<git>" runs it

      Examples:
        | what                     | user                                                              | git                        |
        | a hook after a checkout  | plant .git/hooks/post-checkout                                    | git worktree add -q --detach ../next |
        | a hook of refs           | plant .git/hooks/reference-transaction                            | git worktree add -q -b next ../next |
        | a hook of the index      | plant .git/hooks/post-index-change                                | git worktree add -q --detach ../next |
        | hooks elsewhere          | plant $PWD/h/post-checkout; git config core.hooksPath $PWD/h      | git worktree add -q --detach ../next |
        | hooks of each worktree   | plant $PWD/.husky/post-checkout; git config core.hooksPath .husky; git add -A; git commit -q -m husky | git worktree add -q --detach ../next |
        | a monitor of files       | git config core.fsmonitor $S                                      | git status                 |
        | a filter's smudge        | git config filter.own.smudge "$S; cat"                            | git worktree add -q --detach ../next |
        | a filter's clean         | git config filter.own.clean "$S; cat"                             | touch README; git add -A; echo x >>README; git add -A |
        | a filter's process       | git config filter.own.process "$S; cat"                               | git worktree add -q --detach ../next |
        | an external diff         | git config diff.external $S                                       | git diff HEAD~             |
        | a textconv               | git config diff.own.textconv $S                                   | git diff HEAD~             |
        | a program that signs     | git config gpg.program $S; git config commit.gpgSign true         | git commit -q --allow-empty -m x |
        | a shell of ssh           | git config core.sshCommand $S; git config remote.origin.url ssh://blocked.example/x | git fetch |
        | a program for credentials | git config credential.helper "!$S"                               | printf 'protocol=https\\nhost=x\\n\\n' \| git credential fill |
        | an editor                | git config core.editor $S                                         | git commit --allow-empty   |
        | refs of a borrowed store | echo {other}/.git/objects >.git/objects/info/alternates; git config core.alternateRefsCommand $S | git fetch -q {other} |
        | an included config       | git config --file ../own core.fsmonitor $S; git config include.path ../../own | git status     |

    # safedep/pmg PR 444: the user's hooks lie in the worktree, where the step may write them
    @case:T10 @needs:factory
    Scenario Outline: does not run hooks that a step has left where the user has his, in <where>
      Given in the repository, the user has done "git config core.hooksPath <where>"
      When the step does "for hook in post-checkout post-commit reference-transaction post-index-change; do plant $PWD/<where>/$hook; done; git -c core.hooksPath=/dev/null add -A; git -c core.hooksPath=/dev/null commit -q -m hooks"
      Then the step ends with 0
      And neither the attempt nor another one has run it outside
      And bare, after the same act "git commit -q --allow-empty -m x" runs it

      Examples:
        | where    |
        | .husky/_ |
        | .hooks   |

    # What a killed step leaves makes git fail that has nothing to do with it
    @case:T22 @needs:factory
    Scenario: the next attempt works, whatever locks a step has left
      When the step does "for lock in $W/index.lock $W/HEAD.lock $G/index.lock $G/HEAD.lock $G/config.lock $G/packed-refs.lock $G/shallow.lock $G/refs/heads/main.lock $G/worktrees/lock; do true >$lock; done"
      Then neither the attempt nor another one has run it outside
      And bare, after the same act the user's git runs it or fails
