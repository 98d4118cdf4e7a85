Feature: What a step commits
  A step has objects and refs to write, or it could not commit. Where these are the repository's own it can move every branch,
  delete every object, and leave trees that git checks out over what it likes. The reference gives it a store of its own and
  takes the attempt's branch out of it, after looking.

  $G, $W, $B, $S and `plant` are those of control.feature; $R is the repository, $V are notes of the user beside it, `commit`
  makes a commit of a tree on the attempt's branch, and `entry` a tree with one more entry.

  @GIT-06
  Rule: Nothing of the real repository but the attempt's own branch can be moved, deleted, replaced or poisoned by a step; what it commits is checked before it is imported

    Background:
      Given a sandboxed step

    @case:T19
    Scenario Outline: refs of the user's: cannot <what>
      Given in the repository, the user has done "git branch user; git tag old; git notes add -m note"
      When the step does "echo more >>README; git commit -qam work; <act>"
      Then nothing of the repository has changed but the attempt's own branch, and it is whole
      And the user's git works, in the worktree and in the repository, and runs nothing that the step has left
      And bare, the same act changes it

      Examples:
        | what                         | act                                                                |
        | move main                    | git update-ref refs/heads/main HEAD                                |
        | write main                   | git rev-parse HEAD >$G/refs/heads/main                             |
        | delete a branch              | git branch -D user; rm -f $G/refs/heads/user                       |
        | move a branch by a push      | git push -q -f . HEAD:refs/heads/user                              |
        | make a branch                | git branch evil                                                    |
        | make a tag                   | git tag evil                                                       |
        | move a tag                   | git tag -f old HEAD                                                |
        | delete a tag                 | git tag -d old; rm -f $G/refs/tags/old                             |
        | replace a commit             | git replace HEAD~ HEAD                                             |
        | change notes                 | git notes add -f -m evil HEAD~                                     |
        | keep a stash                 | echo more >>README; git stash -q                                   |
        | pack refs                    | git pack-refs --all --prune                                        |
        | make packed-refs a link      | rm -f $G/packed-refs; ln -s $V $G/packed-refs                      |
        | swap the folder of branches  | mv $G/refs/heads $G/refs/evil; mkdir $G/refs/heads; git rev-parse HEAD >$G/refs/heads/main |
        | make the folder of branches a link | mv $G/refs/heads h; ln -s $PWD/h $G/refs/heads               |
        | lead a branch to another     | git symbolic-ref refs/heads/user refs/heads/main                          |
        | make a pipe of a branch      | rm -f $G/refs/heads/user; mkfifo $G/refs/heads/user                |
        | make 5,000 branches          | seq 5000 \| sed "s\|.*\|create refs/heads/evil/& $(git rev-parse HEAD)\|" \| git update-ref --stdin |
        | make a branch whose name is an option | git update-ref ${B%/*}/-x HEAD                            |
        | make a branch whose name is not seen as it is | git update-ref ${B%/*}/a$(printf '\\342\\200\\256')b HEAD |
        | make a log a link            | mkdir -p $G/logs/refs/heads; ln -sfn $V $G/logs/refs/heads/main    |

    Scenario Outline: objects: cannot <what>
      When the step does "echo more >>README; git commit -qam work; o=$(git rev-parse main); o=$G/objects/${o%${o#??}}/${o#??}; mkdir -p ${o%/*}; <act>"
      Then nothing of the repository has changed but the attempt's own branch, and it is whole
      And the user's git works, in the worktree and in the repository, and runs nothing that the step has left
      And bare, the same act changes it

      Examples:
        | what                          | act                                                               |
        | delete them                   | for s in $G/objects $(cat $G/objects/info/alternates 2>/dev/null); do rm -rf $s/?? $s/pack/*; done |
        | delete all of the git folder  | rm -rf $G; rm -rf $G/*                                            |
        | forge one                     | rm -f $o; echo forged >$o                                         |
        | make a pipe of one            | rm -f $o; mkfifo $o                                               |
        | make a link of one            | rm -f $o; ln -s $V $o                                             |
        | make a link of a folder       | rm -rf $G/objects/00; ln -s $PWD $G/objects/00                    |
        | put a pipe among the packs    | mkfifo $G/objects/pack/pack-0000000000000000000000000000000000000000.idx |
        | put a pack that is none       | for end in idx pack; do echo none >$G/objects/pack/pack-0000000000000000000000000000000000000000.$end; done |
        | put an index of packs that is none | echo none >$G/objects/pack/multi-pack-index                   |
        | put alternates                | echo $V >$G/objects/info/alternates                               |
        | put a graph that is none      | echo none >$G/objects/info/commit-graph                           |

    Scenario Outline: names that git writes to: <what> is not followed
      When the step does "echo more >>README; git commit -qam work; <act>"
      Then the user's git works, in the worktree and in the repository, and runs nothing that the step has left
      And bare, after the same act the user's git runs it or fails

      Examples:
        | what                          | act                                                               |
        | COMMIT_EDITMSG that is a link | ln -sfn $V $W/COMMIT_EDITMSG                                      |
        | a log of the worktree that is a link | mkdir -p $W/logs; ln -sfn $V $W/logs/HEAD                  |
        | a log of the branch that is a link | B=${B:-refs/heads/main}; mkdir -p $G/logs/${B%/*}; ln -sfn $V $G/logs/$B |
        | an index that is a link       | ln -sfn $V $W/index                                               |
        | an index that is none         | rm -f $W/index; echo none >$W/index                               |
        | a HEAD that is none           | rm -f $W/HEAD; echo none >$W/HEAD                                 |
        | a HEAD of main                | rm -f $W/HEAD; echo 'ref: refs/heads/../../HEAD' >$W/HEAD         |

    @needs:factory
    Scenario Outline: a pipe in place of <what> keeps nobody waiting
      When the step does "<act>"
      Then the user's git works, in the worktree and in the repository, and runs nothing that the step has left
      And neither the attempt nor another one has run it outside
      And planted, a plain read of such a pipe does not end within a second

      Examples:
        | what                 | act                                                      |
        | its index            | rm -f $W/index; mkfifo $W/index                          |
        | its HEAD             | rm -f $W/HEAD; mkfifo $W/HEAD                            |
        | a branch             | mkfifo $G/refs/heads/evil                                |
        | a log                | rm -f $W/logs/HEAD; mkdir -p $W/logs; mkfifo $W/logs/HEAD |
        | .gitattributes       | mkfifo .gitattributes                                    |
        | .gitignore           | mkfifo .gitignore                                        |
        | a file               | rm -f README; mkfifo README                              |

    Scenario Outline: its own branch: <what> is not taken
      When the step does "echo more >>README; git commit -qam work; <act>"
      Then the attempt's branch is where it was made
      And the user's git works, in the worktree and in the repository, and runs nothing that the step has left
      And bare, the same act moves it

      Examples:
        | what                 | act                                                                        |
        | one that is gone     | git update-ref -d $B; rm -f $G/$B                                          |
        | one of another       | rm -f $G/$B; echo 'ref: refs/heads/main' >$G/$B                            |
        | a link               | git rev-parse HEAD >h; rm -f $G/$B; ln -s $PWD/h $G/$B                     |
        | a blob               | rm -f $G/$B; blob text >$G/$B                                              |
        | a tree               | rm -f $G/$B; git rev-parse main^{tree} >$G/$B                              |
        | a tag                | git tag -a -m tag evil; rm -f $G/$B; git rev-parse evil >$G/$B             |
        | no object            | rm -f $G/$B; echo 1111111111111111111111111111111111111111 >$G/$B          |
        | an option            | rm -f $G/$B; echo --upload-pack=$S >$G/$B                                  |
        | 2 GiB                | rm -f $G/$B; truncate -s 2G $G/$B                                          |
        | a commit without its tree | c=$(printf 'tree 1111111111111111111111111111111111111111\\nauthor D <d@e> 1 +0000\\ncommitter D <d@e> 1 +0000\\n\\nx' \| git hash-object -t commit -w --stdin --literally); rm -f $G/$B; echo $c >$G/$B |
        | a commit without a blob | t=$(entry 100644 blob 1111111111111111111111111111111111111111 gone); c=$(git commit-tree -p HEAD -m x $t); rm -f $G/$B; echo $c >$G/$B |

    Scenario: its own branch: one of another that is further on is not taken
      Given in the repository, the user has done "git update-ref refs/heads/user $(git commit-tree -p main -m further main^{tree})"
      When the step does "echo more >>README; git commit -qam work; rm -f $G/$B; echo 'ref: refs/heads/user' >$G/$B"
      Then the attempt's branch is where it was made
      And the user's git works, in the worktree and in the repository, and runs nothing that the step has left
      And bare, the same act moves it

    Scenario Outline: trees: <what> is not taken
      When the step does "<act>"
      Then the step has made a commit of it
      And the attempt's branch is where it was made
      And the user's git works, in the worktree and in the repository, and runs nothing that the step has left
      And bare, the same act moves it

      Examples:
        | what                          | act                                                               |
        | .git                          | commit $(entry 100644 blob $(blob x) .git)                        |
        | .git as a folder              | commit $(entry 040000 tree $(git rev-parse HEAD^{tree}) .git)     |
        | .git as a link                | commit $(entry 120000 blob $(blob x) .git)                        |
        | .git in capitals              | commit $(entry 100644 blob $(blob x) .GIT)                        |
        | git~1                         | commit $(entry 100644 blob $(blob x) git~1)                       |
        | .git with a letter of no width | commit $(entry 100644 blob $(blob x) '.g\\0342\\0200\\0214it')   |
        | .git as a stream of NTFS      | commit $(entry 100644 blob $(blob x) '.git::$INDEX_ALLOCATION')   |
        | .git deep below               | t=$(printf '100644 blob %s\\t.git\\n' $(blob x) \| git mktree); commit $(entry 040000 tree $t deep) |
        | two dots                      | commit $(entry 040000 tree $(git rev-parse HEAD^{tree}) ..)       |
        | one dot                       | commit $(entry 040000 tree $(git rev-parse HEAD^{tree}) .)        |
        | the same name twice           | commit $(entry 100644 blob $(blob x) README)                      |
        | a backslash                   | commit $(entry 100644 blob $(blob x) '..\\\\pwned')               |
        | a newline                     | commit $(entry 100644 blob $(blob x) 'a\\nb')                     |
        | a word to a terminal          | commit $(entry 100644 blob $(blob x) 'a\\0033[31mb')              |
        | a link out of the tree        | commit $(entry 120000 blob $(blob ../../../.ssh/id_ed25519) leak) |
        | a link to a whole path        | commit $(entry 120000 blob $(blob /home/dev/.netrc) leak)         |
        | names that differ by case     | commit $(entry 100644 blob $(blob x) readme)                      |
        | a link and a folder that differ by case | t=$(printf '100644 blob %s\\tpost-checkout\\n' $(blob x) \| git mktree); u=$({ git ls-tree HEAD; printf '120000 blob %s\\tA\\n040000 tree %s\\ta\\n' $(blob tools) $t; } \| git mktree); commit $u |
        | a link into a git folder      | commit $(entry 120000 blob $(blob .git/hooks) leak)               |
        | 700 MiB of zeros              | truncate -s 700M z; b=$(git -c core.bigFileThreshold=1m -c core.compression=1 hash-object -w z); rm z; commit $(entry 100644 blob $b z) |
        | a .gitmodules that is a link  | commit $(entry 120000 blob $(blob README) .gitmodules)            |
        | a .gitmodules with an option  | commit $(entry 100644 blob $(blob '[submodule "a"]\\npath = a\\nurl = -u./evil\\n') .gitmodules) |
        | a .gitmodules with a name that climbs | commit $(entry 100644 blob $(blob '[submodule "../../a"]\\npath = a\\nurl = ./a\\n') .gitmodules) |
        | a .gitmodules with a command  | commit $(entry 100644 blob $(blob '[submodule "a"]\\npath = a\\nurl = ./a\\nupdate = !evil\\n') .gitmodules) |
        | a mark that turns text around | commit $(entry 100644 blob $(blob x) 'a\\0342\\0200\\0256b')      |
        | a link to a drive of Windows  | commit $(entry 120000 blob $(blob C:/Users) leak)                 |
        | a link with a word to a terminal | commit $(entry 120000 blob $(blob 'a\\0033[31m') leak)         |
        | a mode that git does not write | t=$(git cat-file tree HEAD^{tree} \| LC_ALL=C sed 's/100644 README/100664 README/' \| git hash-object -t tree -w --stdin --literally); commit $t |
        | 3 GiB of one file of 100 MiB  | truncate -s 100M z; b=$(git -c core.bigFileThreshold=1m -c core.compression=1 hash-object -w z); rm z; t=$(for n in $(seq 31); do printf '100644 blob %s\\tf%s\\n' $b $n; done \| git mktree); commit $(entry 040000 tree $t many) |
        | a name of 300 bytes           | commit $(entry 100644 blob $(blob x) $(printf 'n%.0s' $(seq 300))) |
        | a name of 5,000 bytes         | commit $(entry 100644 blob $(blob x) $(seq -s x 1500 \| cut -c1-5000)) |
        | a path of 5,000 bytes         | export GIT_INDEX_FILE=$PWD/i; git read-tree HEAD; git update-index --add --cacheinfo 100644,$(blob x),$(for n in $(seq 20); do printf 'n%.0s' $(seq 250); printf /; done)f; commit $(git write-tree) |
        | 3,000 folders deep            | export GIT_INDEX_FILE=$PWD/i; git read-tree HEAD; git update-index --add --cacheinfo 100644,$(blob x),$(printf 'd/%.0s' $(seq 3000))f; commit $(git write-tree) |

    # Each of the two is harmless by itself: only together they lead out
    Scenario: a folder that becomes a link, by which a link of the user's leads out of the tree, is not taken
      Given in the repository, the user has done "mkdir -p d/e; echo x >d/e/f; ln -s d/e/../../README l; git add -A; git commit -q -m links"
      When the step does "git rm -q -r d/e; mkdir -p d; ln -s ../x d/e; git add -A; git commit -q -m evil && echo committed $(git rev-parse HEAD)"
      Then the step has made a commit of it
      And the attempt's branch is where it was made
      And the user's git works, in the worktree and in the repository, and runs nothing that the step has left
      And bare, the same act moves it

    Scenario: a branch of the attempt that the user has moved meanwhile stays where he has put it
      When the step waits until the user has done "b=$(git for-each-ref --format='%(refname)' refs/heads/ | grep -v '^refs/heads/main$'); git update-ref $b $(git commit-tree -p main -m moved main^{tree})" in the repository, and then does "echo more >>README; git commit -qam work"
      Then the commit "moved" is on the branch of the attempt
      And the user's git works, in the worktree and in the repository, and runs nothing that the step has left
      And bare, the same act moves it

    # A repository in the worktree has a config of its own, and the user's git goes into it
    Scenario Outline: the user's git does not run what lies in the worktree: <what>
      When the step does "<act>"
      Then the user's git works, in the worktree and in the repository, and runs nothing that the step has left
      And bare, after the same act the user's git runs it or fails

      Examples:
        | what                         | act                                                               |
        | a repository                 | git init -q evil; git -C evil commit -q --allow-empty -m x; git -C evil config core.fsmonitor $S |
        | a repository that it committed | git init -q evil; git -C evil commit -q --allow-empty -m x; git -C evil config core.fsmonitor $S; git add evil; git commit -qm x |
        | a repository deep below      | mkdir -p a/b; git init -q a/b/evil; git -C a/b/evil commit -q --allow-empty -m x; git -C a/b/evil config core.fsmonitor $S |
        | a repository elsewhere       | git init -q --separate-git-dir=.evil evil; git -C evil commit -q --allow-empty -m x; git -C evil config core.fsmonitor $S; git add evil; git commit -qm x |
        | a submodule                  | git init -q evil; git -C evil commit -q --allow-empty -m x; git -C evil config core.fsmonitor $S; printf '[submodule "evil"]\npath = evil\nurl = ./evil\nignore = none\n' >.gitmodules; git add -A; git commit -qm x |

    # git takes a folder of certain names for a repository, without any .git
    Scenario: a bare repository that the step has left runs nothing when the user goes into it
      When the step does "git init -q --bare evil; git config --file evil/config core.bare false; git config --file evil/config core.worktree ..; git config --file evil/config core.fsmonitor $S"
      Then the user's git, in the folder "evil" of the worktree, runs nothing that the step has left
      And bare, after the same act the user's git, in the folder "evil", runs it

    # Links to .gitattributes and .gitignore git itself does not follow
    Scenario: a .gitmodules that leads to a pipe keeps nobody waiting
      Given in the repository, the user has done "mkfifo ../pipe"
      When the step does "ln -s $R/../pipe .gitmodules"
      Then the user's git works, in the worktree and in the repository, and runs nothing that the step has left
      And bare, after the same act the user's git runs it or fails

    # TNG/oh-my-agentic-coder PR 31: a right to write objects landed wherever their folder led
    @case:T13
    Scenario: where the folder of objects is a link, what else lies there cannot be written
      Given in the repository, the user has done "mv .git/objects ../store; mv ../notes ../store/notes; ln -s store/notes ../notes; ln -s ../../store .git/objects"
      And the attempt may be refused
      When the step does "echo evil >$G/objects/notes; rm -f $G/objects/notes; echo evil >$G/objects/notes"
      Then the user's git works, in the worktree and in the repository, and runs nothing that the step has left
      And bare, after the same act the user's git runs it or fails

    Scenario: good commits arrive, however bad the rest
      When the step does "echo more >>README; git commit -qam arrived; git update-ref refs/heads/main HEAD; git tag evil; plant $G/hooks/pre-commit; ln -sfn $V $W/COMMIT_EDITMSG"
      Then the commit "arrived" is on the branch of the attempt
      And nothing of the repository has changed but the attempt's own branch, and it is whole
      And bare, the same act changes it

    Scenario: another attempt at the same time does not notice
      When while the step waits, which has done "git update-ref -d refs/heads/main; rm -rf $G/objects/?? $G/worktrees/*/index; for b in $(git for-each-ref --format='%(refname)'); do git update-ref $b $(git commit-tree -m evil $(git mktree </dev/null)); done", another does "echo more >>README; git commit -qam arrived"
      Then the commit "arrived" is on the branch of the other attempt
      And nothing of the repository has changed but the attempt's own branch, and it is whole
      And bare, the same act changes it

    # Who begins looks for what killed ones have left: one that lives is not left over
    Scenario: nor does it when another begins and ends while it waits
      When while the step waits, another does "echo more >>README; git commit -qam other", and then the step does "echo more >>README; git commit -qam later"
      Then the commit "other" is on the branch of the other attempt
      And the commit "later" is on the branch of the attempt
      And nothing of the repository has changed but the attempt's own branch, and it is whole
      And bare, the same act moves it

    Scenario: somebody works in the repository at the same time
      When the step waits until the user has done "git commit -q --allow-empty -m meanwhile; git config user.note mine; git pack-refs --all; git gc -q --prune=now" in the repository, and then does "echo more >>README; git commit -qam arrived; git config core.fsmonitor $S; git update-ref refs/heads/main HEAD; git tag evil"
      Then the commit "arrived" is on the branch of the attempt
      And nothing of the repository has changed but the attempt's own branch, and it is whole
      And bare, the same act changes it
