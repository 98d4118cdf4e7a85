Feature: Ordinary git
  What people and agents do with git all day works inside as it does outside, but for what writes the repository's config.

  @GIT-08
  Rule: The ordinary commands work without an error line, but for those that write config

    Background:
      Given a sandboxed step
      And the repository's kind is "ordinary"

    Scenario Outline: looking: <what>
      When the step works with git: "<command>"
      Then git ends well, without an error line or a lock
      And in the worktree, "proof" ends in "<proof>"
      And planted, with another text in its place it is not so

      Examples:
        | what                | command                                                               | proof |
        | status              | git status >proof                                                     | (use "git add" to track) |
        | status in short     | echo x >>story; git status --short story >proof                       | M story |
        | status with branch  | git status --branch --porcelain=v2 \| sed -n 's/^# branch.oid //p' \| wc -c >proof | 41 |
        | diff                | echo x >>story; git diff story >proof                                 | +x |
        | diff of two commits | git diff --stat v1 v2 >proof                                          | 1 file changed, 1 insertion(+), 1 deletion(-) |
        | diff without a repo | git diff --no-index --stat README story >proof \|\| true              | 1 file changed, 12 insertions(+), 1 deletion(-) |
        | log                 | git log --oneline \| wc -l >proof                                     | 4 |
        | log with patches    | git log -p --format=%s -- end >proof                                  | +the end |
        | log of a string     | git log -S 'the end' --format=%s >proof                               | Add an end |
        | reflog              | git commit -q --allow-empty -m Work; git reflog -1 --format=%gs >proof | commit: Work |
        | show                | git show HEAD >proof                                                  | +the end |
        | show of a file      | git show v1:story >proof                                              | line 12 |
        | blame               | git blame -s story \| head -n 1 >proof                                | the first line |
        | grep                | git grep -n 'the first' >proof                                        | story:1:the first line |
        | grep in a commit    | git grep -c line v1 -- story >proof                                   | v1:story:12 |
        | shortlog            | git shortlog -s HEAD >proof                                           | Dev |
        | describe            | git describe >proof; sed -i 's/-g.*//' proof                          | v2-1 |
        | ls-files            | git ls-files -s end \| cut -c 1-6 >proof                              | 100644 |
        | ls-files, others    | touch other; git ls-files -o >proof                                   | proof |
        | ls-tree             | git ls-tree -r --name-only HEAD >proof                                | tools/hello |
        | rev-parse           | git rev-parse --is-inside-work-tree >proof                            | true |
        | rev-list            | git rev-list --count --all >proof                                     | 7 |
        | merge-base          | git describe --tags $(git merge-base main feat) >proof                | v1 |
        | cat-file            | git cat-file -p v2 >proof                                             | The second |
        | for-each-ref        | git for-each-ref --format='%(refname:short)' refs/tags >proof         | v2 |
        | branch, the list    | git branch --list --format='%(refname:short)' feat >proof             | feat |
        | tag, the list       | git tag -n1 >proof                                                    | The second |
        | worktree, the list  | git worktree list --porcelain \| grep -c '^worktree ' >proof; sed -i 's/[2-9]/some/' proof | some |
        | config              | git config user.name >proof                                           | Dev |
        | var                 | git var GIT_AUTHOR_IDENT \| cut -d '>' -f 1 >proof                    | Dev <dev@devbox.example |
        | count-objects       | git count-objects >proof                                              | kilobytes |
        | check-ignore        | echo '*.o' >.gitignore; git check-ignore a.o >proof                   | a.o |
        | fsck                | test -z "$(git fsck --no-progress --no-dangling 2>&1)"; echo whole >proof       | whole |
        | submodule status    | test -z "$(git submodule status)"; echo none >proof                        | none |

    Scenario Outline: the worktree and the index: <what>
      When the step works with git: "<command>"
      Then git ends well, without an error line or a lock
      And in the worktree, "proof" ends in "<proof>"
      And planted, with another text in its place it is not so

      Examples:
        | what                   | command                                                                | proof |
        | add of all             | echo x >new; git add -A; git status --short new >proof                 | A  new |
        | add of what is known   | echo x >>story; touch new; git add -u; git status --short story new >proof | ?? new |
        | add of a part          | sed -i '2s/$/!/; 11s/$/!/' story; printf 'y\nn\n' \| git add -p >/dev/null; git status --short story >proof | MM story |
        | add with intent        | touch new; git add -N new; git status --short new >proof               | A new |
        | add of a mode          | git add --chmod=+x end; git ls-files -s end \| cut -c 1-6 >proof       | 100755 |
        | rm                     | git rm -q end; git status --short end >proof                           | D  end |
        | rm of the index alone  | git rm -q --cached end; git status --short end >proof                  | ?? end |
        | mv                     | git mv end fin; git status --short fin >proof                          | A  fin |
        | restore                | echo x >>story; git restore story; tail -n 1 story >proof              | line 12 |
        | restore of the index   | echo x >>story; git add story; git restore --staged story; git status --short story >proof | M story |
        | checkout of a file     | echo x >>story; git checkout -q -- story; tail -n 1 story >proof       | line 12 |
        | reset, soft            | git reset -q --soft HEAD^; git status --short end >proof               | A  end |
        | reset, mixed           | git reset -q HEAD^; git status --short end >proof                      | ?? end |
        | reset, hard            | git reset -q --hard HEAD^; git log -1 --format=%s >proof               | Change the story |
        | reset of a file        | echo x >>story; git add story; git reset -q -- story; git status --short story >proof | M story |
        | reset, keeping         | echo x >>story; git reset -q --keep HEAD^; tail -n 1 story >proof      | x |
        | clean                  | mkdir d; touch d/f; git clean -q -f -d; ls -d d 2>/dev/null \|\| echo gone >proof | gone |
        | update-index           | git update-index --assume-unchanged story; echo x >>story; test -z "$(git status --short story)"; echo none >proof | none |
        | apply                  | git diff main feat -- feature \| git apply; tail -n 1 feature >proof   | two |
        | apply to the index     | git diff main feat -- feature \| git apply --index; git status --short feature >proof | A  feature |
        | read-tree and checkout-index | git read-tree feat; git checkout-index -q -f -a; tail -n 1 feature >proof | two |

    Scenario Outline: stash: <what>
      When the step works with git: "<command>"
      Then git ends well, without an error line or a lock
      And in the worktree, "proof" ends in "<proof>"
      And planted, with another text in its place it is not so

      Examples:
        | what                   | command                                                                | proof |
        | push                   | echo x >>story; git stash push -q; git stash list --format=%gd >proof  | stash@{0} |
        | pop                    | echo x >>story; git stash -q; git stash pop -q; tail -n 1 story >proof | x |
        | apply                  | echo x >>story; git stash -q; git stash apply -q; git stash list \| wc -l >proof | 1 |
        | drop                   | echo x >>story; git stash -q; git stash drop -q; git stash list \| wc -l >proof | 0 |
        | show                   | echo x >>story; git stash -q; git stash show -p >proof                 | +x |
        | with new files         | touch new; git stash push -q -u; ls new 2>/dev/null \|\| git stash pop -q; ls new >proof | new |
        | two, and the older     | echo x >>story; git stash -q; echo y >>end; git stash -q; git stash pop -q 'stash@{1}'; tail -n 1 story >proof | x |
        | as a branch            | echo x >>story; git stash -q; git stash branch later >/dev/null; git branch --show-current >proof | later |

    Scenario Outline: branches and tags: <what>
      When the step works with git: "<command>"
      Then git ends well, without an error line or a lock
      And in the worktree, "proof" ends in "<proof>"
      And planted, with another text in its place it is not so

      Examples:
        | what                   | command                                                                | proof |
        | switch to a new one    | git switch -q -c new; git branch --show-current >proof                 | new |
        | switch                 | git switch -q feat; tail -n 1 feature >proof                           | two |
        | switch, detached       | git switch -q --detach v1; git log -1 --format=%s >proof               | Add a story |
        | checkout of a new branch | git checkout -q -b new v1; git log -1 --format=%s >proof               | Add a story |
        | checkout of an orphan  | git checkout -q --orphan alone; git commit -q -m Alone; git rev-list --count HEAD >proof | 1 |
        | commit on a new branch | git switch -q -c new; git commit -q --allow-empty -m Work; git log -1 --format=%s new >proof | Work |
        | branch                 | git branch new v1; git log -1 --format=%s new >proof                   | Add a story |
        | branch, moved          | git branch -f feat v1; git log -1 --format=%s feat >proof              | Add a story |
        | tag                    | git tag new; git describe --tags --exact-match >proof                  | new |
        | tag with a message     | git tag -a -m New new; git cat-file -t new >proof                      | tag |
        | tag, deleted           | git tag -d v1 >/dev/null; git tag >proof                               | v2 |
        | update-ref             | git update-ref refs/heads/new v1; git log -1 --format=%s new >proof    | Add a story |
        | update-ref, deleting   | git update-ref -d refs/heads/old; test -z "$(git for-each-ref refs/heads/old)"; echo gone >proof | gone |
        | symbolic-ref           | git symbolic-ref refs/heads/alias refs/heads/feat; git log -1 --format=%s alias >proof | Change the feature |
        | replace                | git replace HEAD v1; git log -1 --format=%s >proof; git replace -d HEAD >/dev/null | Add a story |
        | notes                  | git notes add -m Note; git notes show >proof                           | Note |

    Scenario Outline: history, of the worktree's branch: <what>
      When the step works with git: "<command>"
      Then git ends well, without an error line or a lock
      And outside, git "status --porcelain" prints ""
      And outside, git "<asked>" prints "<answer>"
      And planted, in the repository's own worktree git says otherwise

      Examples:
        | what                   | command                                                      | asked                    | answer |
        | commit, amended        | git commit -q --amend -m Other                               | log -1 --format=%s       | Other |
        | commit, fixed up       | echo x >>end; git commit -q -a --fixup HEAD; git -c sequence.editor=: rebase -q -i --autosquash HEAD~2 | show HEAD:end            | the end\nx |
        | reset to an older one  | git reset -q --hard v1                                       | log -1 --format=%s       | Add a story |
        | merge of what is ahead | git reset -q --hard v1; git merge -q --ff-only feat          | log -1 --format=%s       | Change the feature |
        | merge                  | git merge -q --no-edit feat                                  | rev-list --count --min-parents=2 main..HEAD | 1 |
        | merge, squashed        | git merge -q --squash feat >/dev/null; git commit -q -m Work | show HEAD:feature        | one\ntwo |
        | merge, resolved        | git merge -q clash >/dev/null \|\| git checkout -q --ours story; git add story; git commit -q --no-edit | rev-list --count --min-parents=2 main..HEAD | 1 |
        | rebase                 | git rebase -q feat                                           | log -1 --format=%s HEAD~2 | Change the feature |
        | rebase, interactive    | git -c sequence.editor='sed -i 1s/pick/drop/' rebase -q -i HEAD~1 | log -1 --format=%s       | Change the story |
        | rebase, continued      | git rebase -q clash >/dev/null 2>&1 \|\| git checkout -q --theirs story; git add story; git -c core.editor=: rebase --continue >/dev/null | log -1 --format=%s HEAD~2 | Clash with the story |
        | cherry-pick            | git cherry-pick feat~1 >/dev/null                            | log -1 --format=%s       | Add a feature |
        | cherry-pick of some    | git cherry-pick v1..feat >/dev/null                          | log -1 --format=%s       | Change the feature |
        | revert                 | git revert --no-edit HEAD >/dev/null                         | log -1 --format=%s       | Revert "Add an end" |
        | format-patch and am    | git format-patch -q v1..feat -o $(git rev-parse --git-path p); git am -q $(git rev-parse --git-path p)/* | log -1 --format=%s       | Change the feature |
        | commit-tree            | git reset -q --hard $(git commit-tree -p HEAD -m Work HEAD^{tree}) | log -1 --format=%s       | Work |

    Scenario Outline: history: <what>
      When the step works with git: "<command>"
      Then git ends well, without an error line or a lock
      And in the worktree, "proof" ends in "<proof>"
      And planted, with another text in its place it is not so

      Examples:
        | what                   | command                                                                | proof |
        | merge, given up        | git merge -q clash >/dev/null \|\| git merge --abort; test -z "$(git status --short story)"; echo clean >proof | clean |
        | rebase, given up       | git rebase -q clash >/dev/null 2>&1 \|\| git rebase --abort; git log -1 --format=%s >proof | Add an end |
        | cherry-pick, given up  | git cherry-pick clash >/dev/null 2>&1 \|\| git cherry-pick --abort; git log -1 --format=%s >proof | Add an end |
        | bisect                 | git bisect start HEAD v1 >/dev/null; git bisect run test ! -e end >/dev/null; git bisect log \| tail -n 1 >proof; git bisect reset >/dev/null | Add an end |
        | hash-object            | echo x \| git hash-object -w --stdin \| xargs git cat-file -p >proof   | x |
        | fast-export and -import | git fast-export --all \| git fast-import --quiet --force; echo ran >proof | ran |
        | rerere                 | git -c rerere.enabled=true merge -q clash >/dev/null 2>&1 \|\| git -c rerere.enabled=true rerere status >proof; git merge --abort | story |

    Scenario Outline: housekeeping: <what>
      When the step works with git: "<command>"
      Then git ends well, without an error line or a lock
      And in the worktree, "proof" ends in "<proof>"
      And planted, with another text in its place it is not so

      Examples:
        | what                   | command                                                                | proof |
        | gc                     | git commit -q --allow-empty -m Work; git gc --quiet; git log -1 --format=%s >proof | Work |
        | gc, aggressive         | git gc --quiet --aggressive; git log -1 --format=%s >proof             | Add an end |
        | gc, pruning            | echo x \| git hash-object -w --stdin >id; git gc --quiet --prune=now; git cat-file -e $(cat id) 2>/dev/null \|\| echo gone >proof | gone |
        | repack                 | git commit -q --allow-empty -m Work; git repack -q -d; git log -1 --format=%s >proof | Work |
        | repack of all          | git commit -q --allow-empty -m Work; git repack -q -a -d; git log -1 --format=%s >proof | Work |
        | pack-refs              | git branch new; git pack-refs --all; git for-each-ref --format='%(refname:short)' refs/heads/new >proof | new |
        | prune                  | echo x \| git hash-object -w --stdin >id; git prune --expire=now; git cat-file -e $(cat id) 2>/dev/null \|\| echo gone >proof | gone |
        | fsck, full             | git commit -q --allow-empty -m Work; test -z "$(git fsck --full --no-progress --no-dangling --strict 2>&1)"; echo whole >proof | whole |
        | maintenance            | git maintenance run --quiet; echo ran >proof                           | ran |
        | reflog, expired        | git commit -q --allow-empty -m Work; git reflog expire --expire=now --all; git reflog \| wc -l >proof | 0 |
        | commit-graph           | git commit-graph write --reachable --no-progress; git commit-graph verify --no-progress; echo ran >proof | ran |
        | multi-pack-index       | git commit -q --allow-empty -m Work; git repack -q -d; git multi-pack-index write --no-progress; git multi-pack-index verify --no-progress; echo ran >proof | ran |
        | worktree prune         | git worktree prune; git log -1 --format=%s >proof                      | Add an end |

    Scenario Outline: other repositories of its own: <what>
      When the step works with git: "<command>"
      Then git ends well, without an error line or a lock
      And in the worktree, "proof" ends in "<proof>"
      And planted, with another text in its place it is not so

      Examples:
        | what                   | command                                                                | proof |
        | init                   | git init -q sub; test -z "$(git -C sub status --short)"; test -d sub/.git; echo ran >proof; rm -rf sub/.git | ran |
        | clone                  | d=$(mktemp -d); git clone -q . $d/c; git -C $d/c log -1 --format=%s >proof | Add an end |
        | clone, shared          | d=$(mktemp -d); git clone -q --shared . $d/c; git -C $d/c log -1 --format=%s >proof | Add an end |
        | clone, bare and shallow | d=$(mktemp -d); git clone -q --bare --depth 1 file://$PWD $d/c; git -C $d/c rev-list --count HEAD >proof | 1 |
        | push                   | d=$(mktemp -d); git init -q --bare $d; git push -q $d HEAD:refs/heads/new; git -C $d log -1 --format=%s new >proof | Add an end |
        | fetch                  | d=$(mktemp -d); git clone -q . $d/c; git -C $d/c -c user.name=D -c user.email=d commit -q --allow-empty -m Work; git fetch -q $d/c HEAD; git log -1 --format=%s FETCH_HEAD >proof | Work |
        | pull                   | d=$(mktemp -d); git clone -q . $d/c; git -C $d/c -c user.name=D -c user.email=d commit -q --allow-empty -m Work; git pull -q $d/c HEAD; git log -1 --format=%s >proof | Work |
        | ls-remote              | d=$(mktemp -d); git clone -q --bare . $d/c; git ls-remote $d/c refs/heads/feat \| cut -f 2 >proof | refs/heads/feat |
        | bundle                 | git bundle create -q b HEAD feat; git bundle verify -q b; git ls-remote b refs/heads/feat \| cut -f 2 >proof | refs/heads/feat |
        | archive                | git archive HEAD story \| tar -x -O >proof                             | line 12 |
        | worktree in the temp folder | d=$(mktemp -d); git worktree add -q $d/w feat; tail -n 1 $d/w/feature >proof; git worktree remove $d/w | two |
        | worktree in the worktree | git worktree add -q w feat; tail -n 1 w/feature >proof; git worktree remove w | two |

    Scenario Outline: what a repository of the kind <kind> brings along: <what>
      Given the repository's kind is "<kind>"
      When the step works with git: "<command>"
      Then git ends well, without an error line or a lock
      And outside, git "status --porcelain" prints ""
      And outside, git "<asked>" prints "<answer>"
      And planted, in the repository's own worktree git says otherwise

      Examples:
        | kind      | what                         | command                                                                | asked                  | answer |
        | filter    | its filter works inside      | echo quiet >a.shout; git add a.shout; git commit -q -m Work            | show HEAD:a.shout      | QUIET  |
        | submodule | its submodule is told inside | git submodule status \| grep -q ' part$'; git commit -q --allow-empty -m Work | log -1 --format=%s | Work   |
        | submodule | its submodule is taken out   | git rm -q part; git commit -q -m Work                                  | show --format= --name-status -- part | D\\tpart |
        | partial clone | what is here is looked through | git grep -c 'line 1' HEAD -- story >/dev/null; git commit -q --allow-empty -m Work | log -1 --format=%s | Work |
        | shallow clone | it is told to be shallow | test "$(git rev-parse --is-shallow-repository)" = true; git log --oneline >log; rm log; git commit -q --allow-empty -m Work | rev-list --count HEAD | 2 |
        | worktree config | it is read inside      | test "$(git config core.abbrev)" = 12; git commit -q --allow-empty -m Work | log -1 --format=%s    | Work   |
        | hooks in the worktree | its hooks run inside | printf '#!/bin/sh\necho ran >hooked; git add hooked\n' >.husky/pre-commit; git commit -q -a -m Work | show HEAD:hooked | ran |

    # What is deleted or gets an upstream takes its part of the config along, which may be told.
    @case:T17
    Scenario Outline: <what>
      When the step works with git: "<command>"
      Then git ends well, without a lock
      And in the worktree, "proof" ends in "<proof>"
      And the repository's config is as it was
      And planted, with another text in its place it is not so

      Examples:
        | what                            | command                                                                 | proof |
        | a branch that is packed is deleted | git branch -q -d old; test -z "$(git for-each-ref refs/heads/old)"; echo gone >proof | gone |
        | a branch that is not merged is deleted | git branch -q -D clash; test -z "$(git for-each-ref refs/heads/clash)"; echo gone >proof | gone |
        | a branch that was made is deleted | git branch new; git branch -q -d new; test -z "$(git for-each-ref refs/heads/new)"; echo gone >proof | gone |

    @case:T18
    Scenario Outline: what writes config fails with an error line, and leaves no lock: <what>
      Given the repository's kind is "<kind>"
      And in the repository's config, "branch.old.description" is "Old"
      When the step works with git: "<command>"
      Then git fails with an error line, and leaves no lock
      And the repository's config is as it was
      And bare, in the repository, the same command changes its config

      Examples:
        | what                 | kind            | command                             |
        | config               | ordinary        | git config lab.own yes              |
        | config, unset        | ordinary        | git config --unset user.name        |
        | config of a worktree | worktree config | git config --worktree lab.other yes |
        | remote add           | ordinary        | git remote add origin ../other      |
        | sparse-checkout      | ordinary        | git sparse-checkout set tools       |
        | branch -m            | ordinary        | git branch -m old older |

    Scenario: an upstream is not kept, as an error line tells
      When the step works with git: "git branch -q -u feat"
      Then git tells an error, and leaves no lock
      And the repository's config is as it was
      And bare, in the repository, the same command changes its config
