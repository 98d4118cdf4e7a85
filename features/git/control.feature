Feature: Control files
  A repository's config and hooks are programs: whoever writes them has the next git run what he likes, outside. A step that
  works with git has its objects and refs, and never these.

  In what a step does, $G is the repository's git folder, $W the worktree's own in it, $B its branch; $S is a sentinel, a
  program that notes that it ran where no step can write, and `plant FILE` makes a script that runs it.

  @GIT-02
  Rule: config and hooks/ of the repository and of the worktree can be neither changed, replaced nor created

    Background:
      Given a sandboxed step

    Scenario Outline: cannot <what> the config
      When the step does "<act>"
      Then the config and hooks are as they were
      And bare, the same act changes it

      Examples:
        | what                         | act                                                                       |
        | write                        | echo '[core]' >$G/config                                                  |
        | append to                    | echo '[core] fsmonitor = true' >>$G/config                              |
        | empty                        | truncate -s 0 $G/config                                                   |
        | write a byte of              | printf '#' \| dd of=$G/config conv=notrunc 2>&1                           |
        | rename a file over           | echo '[core]' >evil; mv -f evil $G/config                                 |
        | rename an object over        | mkdir -p $G/objects; echo '[core]' >$G/objects/evil; mv -f $G/objects/evil $G/config |
        | remove and make anew         | rm -f $G/config; echo '[core]' >$G/config                                 |
        | move away                    | mv -f $G/config $G/objects/config                                         |
        | replace by a link            | echo '[core]' >evil; ln -sfn $PWD/evil $G/config                          |
        | replace by a hard link       | echo '[core]' >evil; ln -f evil $G/config                                 |
        | write by a hard link to      | ln $G/config evil; echo '[core]' >evil                                    |
        | write by a descriptor of     | exec 3<$G/config; echo '[core]' >/proc/self/fd/3                          |
        | write by the folder's descriptor of | exec 3<$G; echo '[core]' >/proc/self/fd/3/config                   |
        | write by the root of         | echo '[core]' >/proc/self/root$G/config                                   |
        | write by its admin folder    | echo '[core]' >$W/../../config                                            |
        | write by a link to           | ln -s $G/config evil; echo '[core]' >evil                                 |
        | swap a file with             | echo '[core]' >evil; tools/probe exchange evil $G/config                  |
        | swap an object with          | mkdir -p $G/objects; echo '[core]' >$G/objects/evil; tools/probe exchange $G/objects/evil $G/config |
        | let everybody write          | chmod 0666 $G/config                                                      |
        | by git config set a key of   | git config core.fsmonitor $S                                              |
        | by git config make a section of | git config --file $G/config --add alias.x '!true'                      |
        | by git remote add to         | git remote add evil ext::$S                                               |
        | by git's lock replace        | echo '[core]' >$G/config.lock; mv -f $G/config.lock $G/config             |

    Scenario Outline: cannot <what>
      Given in the repository, the user has done "mkdir -p .git/hooks; printf '#!/bin/sh\n' >.git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit"
      When the step does "<act>"
      Then the config and hooks are as they were
      And bare, the same act changes it

      Examples:
        | what                               | act                                                                    |
        | add a hook                         | plant $G/hooks/post-checkout                                           |
        | write a hook                       | printf '#!/bin/sh\nexit 1\n' >$G/hooks/pre-commit                      |
        | append to a hook                   | echo "$S" >>$G/hooks/pre-commit                                        |
        | rename a file over a hook          | plant $PWD/evil; mv -f evil $G/hooks/pre-commit                        |
        | swap a file with a hook            | plant $PWD/evil; tools/probe exchange evil $G/hooks/pre-commit         |
        | remove a hook                      | rm -f $G/hooks/pre-commit                                              |
        | disable a hook                     | chmod 0644 $G/hooks/pre-commit                                         |
        | replace a hook by a link           | plant $PWD/evil; ln -sfn $PWD/evil $G/hooks/pre-commit                 |
        | write by a hard link to a hook     | ln $G/hooks/pre-commit evil; echo "$S" >>evil                          |
        | move hooks away                    | mv $G/hooks $G/objects/hooks                                           |
        | build hooks anew                   | mv $G/hooks $G/objects/hooks; plant $G/hooks/pre-commit                |
        | replace hooks by a link            | mv $G/hooks $G/objects/hooks; plant $PWD/evil/pre-commit; ln -s $PWD/evil $G/hooks |
        | swap a folder with hooks           | plant $PWD/evil/pre-commit; tools/probe exchange evil $G/hooks         |
        | write a hook by the folder's descriptor | exec 3<$G/hooks; echo "$S" >>/proc/self/fd/3/pre-commit           |

    # Claude Code CVE-2026-25725, Cursor CVE-2026-26268: what was not there at the start was not protected. The repositories
    # of the lab are made without a template: no hooks, no info.
    @case:T02
    Scenario Outline: where there are no hooks, cannot <what>
      When the step does "<act>"
      Then the config and hooks are as they were
      And the user's git works, in the worktree and in the repository, and runs nothing that the step has left
      And bare, the same act changes it

      Examples:
        | what                             | act                                                                      |
        | make them                        | plant $G/hooks/pre-commit; plant $G/hooks/post-checkout                  |
        | make a link to them              | plant $PWD/evil/pre-commit; ln -s $PWD/evil $G/hooks                     |
        | rename them there                | plant $PWD/evil/pre-commit; mv evil $G/hooks                             |
        | rename them there from objects   | plant $G/objects/evil/pre-commit; mv $G/objects/evil $G/hooks            |
        | make them of the worktree        | plant $W/hooks/pre-commit                                                |
        | make a config of the worktree    | git config --file $W/config core.fsmonitor $S                            |
        | make a link to a config of the worktree | git config --file $PWD/evil core.fsmonitor $S; ln -s $PWD/evil $W/config |

    # "mounted read-only": what is written is refused, and not lost later
    Scenario Outline: that <what> cannot be written, the step sees at once
      Given in the repository, the user has done "mkdir -p .git/hooks"
      When the step runs the probe "<probe>"
      Then no action succeeds
      And bare, the same probe succeeds

      Examples:
        | what       | probe                                          |
        | the config | append {repository}/.git/config x              |
        | a hook     | write {repository}/.git/hooks/pre-commit x     |

    # What a repository's config knows of logins is for whoever pushes, and that is nobody inside
    @extra
    Scenario Outline: of the config the step is not shown <what>
      Given in the repository, the user has done "git config <key> "$(cat ~/.netrc)""
      When the step runs the shell command "cat {repository}/.git/config; git config --list"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | what               | key                                          |
        | a header           | http.https://blocked.example/.extraHeader    |
        | a tool's own key   | forge.token                                  |

    Scenario: cannot remove them all and make others
      When the step does "for file in config hooks; do chmod -R u+w $G/$file; rm -rf $G/$file; done; git config --file $G/config core.hooksPath $PWD"
      Then the config and hooks are as they were
      And bare, the same act changes it

    # Somebody who replaces a file outside replaces what a mount was put on: the step's view must not follow to the new one.
    Scenario: while the user changes the config and git packs, the step still cannot
      When the step waits until the user has done "git config user.note mine; git pack-refs --all; git gc -q --prune=now" in the repository, and then does "git config core.fsmonitor $S; echo '[core]' >$G/config; rm -f $G/config; plant $G/hooks/pre-commit"
      Then the config and hooks are as they were
      And bare, the same act changes it

    Scenario Outline: what the step has planted does not run outside: <what>
      When the step does "<act>"
      Then the user's git works, in the worktree and in the repository, and runs nothing that the step has left
      And bare, after the same act the user's git runs it or fails

      Examples:
        | what                            | act                                                                       |
        | a hook before a commit          | plant $G/hooks/pre-commit                                                 |
        | a hook after a checkout         | plant $G/hooks/post-checkout                                              |
        | a hook of refs                  | plant $G/hooks/reference-transaction                                      |
        | a hook of the index             | plant $G/hooks/post-index-change                                          |
        | a monitor of files              | git config core.fsmonitor $S                                              |
        | hooks elsewhere                 | plant $PWD/evil/pre-commit; git config core.hooksPath $PWD/evil           |
        | an external diff                | git config diff.external $S; echo more >>README                           |
        | a filter                        | echo '* filter=evil' >.gitattributes; git config filter.evil.clean "$S; cat"; echo more >>README |
        | a textconv                      | echo 'README diff=evil' >.gitattributes; git config diff.evil.textconv $S; echo more >>README |
        | an included config              | git config --file $PWD/evil core.fsmonitor $S; git config include.path $PWD/evil |
        | a signing program               | git config gpg.program $S; git config commit.gpgSign true                 |

  @GIT-03
  Rule: The same holds for what is related: config.worktree, info/, commondir, gitdir, the worktree's .git file, submodule configs, and for the git folder itself

    Background:
      Given a sandboxed step

    Scenario Outline: cannot make, where there is none, <what>
      When the step does "<act>"
      Then what leads git to them is as it was
      And the user's git works, in the worktree and in the repository, and runs nothing that the step has left
      And bare, the same act changes it

      Examples:
        | what                         | act                                                                       |
        | a config.worktree            | git config --file $G/config.worktree core.fsmonitor $S                    |
        | one of the worktree          | git config --file $W/config.worktree core.fsmonitor $S                    |
        | attributes                   | mkdir -p $G/info; echo '* filter=evil' >$G/info/attributes                |
        | a list of ignored files      | mkdir -p $G/info; echo '*' >$G/info/exclude                               |
        | a list of grafts             | mkdir -p $G/info; git rev-parse HEAD >$G/info/grafts                      |
        | a sparse checkout            | mkdir -p $W/info; echo '/none' >$W/info/sparse-checkout                   |
        | a list of shallow commits    | git rev-parse HEAD >$G/shallow                                            |
        | alternates                   | mkdir -p $G/objects/info; echo {other}/.git/objects >$G/objects/info/alternates |
        | alternates of the net        | mkdir -p $G/objects/info; echo http://blocked.example >$G/objects/info/http-alternates |
        | a submodule's config         | mkdir -p $G/modules/sub; git config --file $G/modules/sub/config core.fsmonitor $S |
        | a submodule's hook           | plant $G/modules/sub/hooks/pre-commit                                     |
        | a config of that name by another | git config --file $PWD/evil core.fsmonitor $S; ln -s $PWD/evil $G/config.worktree |

    # "mounted read-only": what is written is refused, and not lost later
    @extra
    Scenario Outline: that <what> cannot be changed, the step sees at once
      Given in the repository, the user has done "mkdir -p .git/info .git/objects/info"
      When the step runs the shell command "<probe>"
      Then no action succeeds
      And bare, the same probe succeeds

      Examples:
        | what                   | probe                                                                          |
        | HEAD                   | tools/probe append {repository}/.git/HEAD x                                    |
        | info                   | tools/probe write {repository}/.git/info/exclude x                             |
        | config.worktree        | tools/probe write {repository}/.git/config.worktree x                          |
        | a list of alternates   | tools/probe write {repository}/.git/objects/info/alternates x                  |
        | the folder of objects  | tools/probe rename {repository}/.git/objects {repository}/.git/moved           |
        | the folder of lists of objects | tools/probe rename {repository}/.git/objects/info {repository}/.git/objects/moved |
        | the folder of worktrees | tools/probe rename {repository}/.git/worktrees {repository}/.git/moved         |

    @extra
    Scenario Outline: that <what> of the worktree cannot be changed, the step sees at once
      When the step does "<act>"
      Then no action succeeds
      And what leads git to them is as it was
      And bare, the same act changes it

      Examples:
        | what      | act                                |
        | commondir | tools/probe append $W/commondir x  |
        | gitdir    | tools/probe append $W/gitdir x     |

    # Gitlawb/zero PR 805: a file of that name makes git read another folder's config
    @case:T03
    Scenario Outline: cannot lead git to another config by <what>
      When the step does "git init -q --bare evil; git config --file evil/config core.bare false; git config --file evil/config core.fsmonitor $S; <act>"
      Then what leads git to them is as it was
      And the user's git works, in the worktree and in the repository, and runs nothing that the step has left
      And bare, after the same act the user's git runs it or fails

      Examples:
        | what                                 | act                                                               |
        | a commondir of the repository        | echo $PWD/evil >$G/commondir                                      |
        | the worktree's commondir             | echo $PWD/evil >$W/commondir                                      |
        | another commondir renamed over it    | echo $PWD/evil >c; mv -f c $W/commondir                           |
        | one from its own folder renamed over it | echo $PWD/evil >$W/c; mv -f $W/c $W/commondir                  |
        | a commondir that is a link           | echo $PWD/evil >c; ln -sfn $PWD/c $W/commondir                    |

    # openai/codex PR 1765: the .git of a linked worktree is a file in a folder that the step can write
    @case:T04
    Scenario Outline: cannot, in place of the worktree's .git file, <what>
      When the step does "git init -q --bare evil; git config --file evil/config core.bare false; git config --file evil/config core.fsmonitor $S; <act>"
      Then what leads git to them is as it was
      And the user's git works, in the worktree and in the repository, and runs nothing that the step has left
      And bare, after the same act the user's git runs it or fails

      Examples:
        | what                      | act                                                                          |
        | make a repository         | rm -rf .git; git init -q .; git config core.fsmonitor $S                     |
        | rename a repository there | rm -f .git; mv evil .git                                                     |
        | swap it with a repository | tools/probe exchange evil .git                                               |
        | write another's name      | echo "gitdir: $PWD/evil" >.git                                               |
        | rename another name over it | echo "gitdir: $PWD/evil" >g; mv -f g .git                                  |
        | make a link               | ln -sfn evil .git                                                            |

    # sandbox-runtime 8, safedep/pmg 446: below .git all was protected, but it was renamed and built anew
    @case:T01
    Scenario Outline: cannot, in place of the git folder, <what>
      When the step does "<act>"
      Then what leads git to them is as it was
      And the user's git works, in the worktree and in the repository, and runs nothing that the step has left
      And bare, after the same act the user's git runs it or fails

      Examples:
        | what                      | act                                                                          |
        | build another             | mv $G $G.old; cp -r $G.old $G; git config --file $G/config core.fsmonitor $S |
        | build another repository  | R=${G%/.git}; mv $R $R.old; cp -r $R.old $R; git config --file $G/config core.fsmonitor $S |
        | swap another              | cp -r $G evil; git config --file evil/config core.fsmonitor $S; tools/probe exchange evil $G |

    Scenario Outline: cannot change <what>
      Given in the repository, the user has done "<user>"
      When the step does "<act>"
      Then what leads git to them is as it was
      And bare, the same act changes it

      Examples:
        | what                    | user                                          | act                                         |
        | HEAD                    | git branch other                              | echo 'ref: refs/heads/other' >$G/HEAD       |
        | HEAD by git             | git branch other                              | git --git-dir=$G symbolic-ref HEAD refs/heads/other |
        | a config.worktree       | git config extensions.worktreeConfig true; git config --worktree user.note mine | git config --file $G/config.worktree core.fsmonitor $S |
        | a config.worktree by a byte | git config extensions.worktreeConfig true; git config --worktree user.note mine | echo '#' >>$G/config.worktree |
        | that of the worktree    | git config extensions.worktreeConfig true; git config --worktree user.note mine | git config --worktree core.fsmonitor $S; git config --file $W/config.worktree core.fsmonitor $S |
        | attributes              | mkdir -p .git/info; echo '*.png binary' >.git/info/attributes | echo '* filter=evil' >$G/info/attributes |
        | info                    | mkdir -p .git/info; echo '*.o' >.git/info/exclude | mv $G/info $G/objects/evil; mkdir $G/info |
        | a submodule's config    | mkdir -p .git/modules; git init -q --bare .git/modules/sub | git config --file $G/modules/sub/config core.fsmonitor $S |
        | a submodule's hooks     | mkdir -p .git/modules; git init -q --bare .git/modules/sub | plant $G/modules/sub/hooks/pre-commit |
        | alternates              | echo {other}/.git/objects >.git/objects/info/alternates | true >$G/objects/info/alternates     |

    # A prune outside takes a worktree whose gitdir leads nowhere for gone
    @case:T21
    Scenario Outline: the worktree stays the repository's, although the step <what>
      When the step does "<act>"
      Then what leads git to them is as it was
      And git worktree prune outside leaves the worktree
      And bare, after the same act git worktree prune takes it

      Examples:
        | what                       | act                                              |
        | writes its gitdir          | echo /elsewhere/.git >$W/gitdir                  |
        | renames a gitdir over it   | echo /elsewhere/.git >$W/g; mv -f $W/g $W/gitdir |
        | removes its gitdir         | rm -f $W/gitdir                                  |
        | makes a link of its gitdir | ln -sfn /dev/null $W/gitdir                      |

    # A mask over a file that is not there makes it: an empty commondir breaks the user's git
    @case:T23
    Scenario: nothing lies in the repository for what is not there, while the step runs and after
      When the step waits until the user has done "git status && git commit -q --allow-empty -m meanwhile && git log -1 && git stash list" in the repository, and then does "mkdir -p $G/info; for file in commondir config.worktree info/attributes shallow; do true >$G/$file; done"
      Then while it waited, nothing of the repository was new or changed but the attempt's own
      And what leads git to them is as it was
      And the user's git works, in the worktree and in the repository, and runs nothing that the step has left
      And bare, the same act changes it

    @case:T23 @case:T22
    Scenario: nor when its launcher was killed
      When the launcher gets SIGKILL while the step waits, which has done "mkdir -p $G/info; for file in commondir config.worktree info/attributes shallow; do true >$G/$file; done"
      Then what leads git to them is as it was
      And the user's git works, in the worktree and in the repository, and runs nothing that the step has left
      And bare, the same act changes it

  @GIT-04
  Rule: Another worktree's admin folder, index and HEAD cannot be changed

    Background:
      Given a sandboxed step
      And in the repository, the user has done "git worktree add -q -b user ../users"

    Scenario Outline: cannot <what>
      When the step does "<act>"
      Then what other worktrees have to themselves is as it was
      And bare, the same act changes it

      Examples:
        | what                                   | act                                                                |
        | write another worktree's HEAD          | echo 'ref: refs/heads/main' >$G/worktrees/users/HEAD               |
        | rename over another worktree's HEAD    | echo 'ref: refs/heads/main' >h; mv -f h $G/worktrees/users/HEAD    |
        | empty another worktree's index         | true >$G/worktrees/users/index                                        |
        | replace another worktree's index       | cp $W/index $G/worktrees/users/i; mv $G/worktrees/users/i $G/worktrees/users/index |
        | lock another worktree's index          | true >$G/worktrees/users/index.lock                                   |
        | remove another worktree                | rm -rf $G/worktrees/users                                          |
        | remove all worktrees                   | rm -rf $G/worktrees                                                |
        | move another worktree's admin folder   | mv $G/worktrees/users $G/objects/users                             |
        | by git remove another worktree         | git worktree remove --force ../users; git worktree remove --force $(sed 's/.git$//' $G/worktrees/users/gitdir) |
        | by git lock another worktree           | git worktree lock $(sed 's/.git$//' $G/worktrees/users/gitdir)     |
        | by git switch another worktree         | git --git-dir=$G/worktrees/users symbolic-ref HEAD refs/heads/main |
        | by git add to another worktree         | git --git-dir=$G/worktrees/users --work-tree=$PWD add -A; git --git-dir=$G/worktrees/users --work-tree=$PWD rm -q --cached README |
        | remove the repository's own index      | rm -f $G/index                                                     |
        | by git add to the repository's own index | git --git-dir=$G --work-tree=$PWD rm -q --cached README          |
        | by git clear the repository's own index | git --git-dir=$G --work-tree=$PWD read-tree --empty               |
