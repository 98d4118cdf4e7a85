@needs:factory @needs:per-repo
Feature: One attempt for each repo
  A step with per_repo: true is carried out once for each of its repos. Each attempt has a sandbox of its own, in which the
  worktree of its repo can be written and that of no other, and whether it has one at all is decided by that repo alone.

  @SET-05
  Rule: per_repo: true gives each attempt its own sandbox with only that repo's worktree writable

    Background:
      Given a sandboxed step

    Scenario Outline: can write its own worktree and not the other's: <repos>
      Given each of the repos "<repos>" has an attempt of its own
      When each attempt runs the shell command "echo mine >mine; mkdir -p $other; echo $repo >$other/theirs; :"
      Then in the worktree of each attempt, "mine" ends in "mine"
      And in the worktree of each attempt, "theirs" is gone
      And planted, with one attempt for all, in the worktree of "<second>", "theirs" ends in "<first>"

      Examples:
        | repos       | first | second |
        | extra, demo | demo  | extra  |
        | demo, extra | extra | demo   |

    Scenario: can write its own worktree and not the other's with network allowlist
      Given the network is allowlist
      And each of the repos "extra, demo" has an attempt of its own
      When each attempt runs the shell command "echo mine >mine; mkdir -p $other; echo $repo >$other/theirs; :"
      Then in the worktree of each attempt, "mine" ends in "mine"
      And in the worktree of each attempt, "theirs" is gone
      And planted, with one attempt for all, in the worktree of "extra", "theirs" ends in "demo"

    Scenario: has no worktree of the other repo
      Given each of the repos "extra, demo" has an attempt of its own
      When each attempt runs the shell command "echo x >ran"
      Then in the worktree of each attempt, "ran" is a file
      And no attempt has a worktree of the other repo
      And planted, with one attempt for all there is one

    Scenario Outline: cannot see <what> of the attempt that was before it
      Given each of the repos "extra, demo" has an attempt of its own
      When each attempt runs the shell command "echo x >ran; <command>; :"
      Then no secret arrives
      And in the worktree of each attempt, "ran" is a file
      And planted, with one attempt for all the secret arrives

      Examples:
        | what                | command                                                                                      |
        | a file              | cat $other/customers.csv                                                                     |
        | the names           | ls -aR $other                                                                                |
        | the git folder      | git --git-dir=$repository/.git cat-file -p HEAD:customers.csv                                |
        | the artifacts       | cat customers.csv $other/customers.csv >$artifacts/kept; [ $repo = extra ] \|\| cat $other_artifacts/kept |

    Scenario: cannot change the git folder of the other repo
      Given each of the repos "extra, demo" has an attempt of its own
      When each attempt runs the shell command "echo x >ran; git --git-dir=$repository/.git update-ref refs/heads/theirs HEAD && echo x >moved; :"
      Then in the worktree of each attempt, "ran" is a file
      And in the worktree of each attempt, "moved" is gone
      And planted, with one attempt for all, in the worktree of "demo", "moved" is a file

    Scenario Outline: whether it is sandboxed is decided by its own repo: <repos>, mode <mode>
      Given the factory's sandbox mode is "<mode>"
      And each of the repos "<repos>" has an attempt of its own
      When each attempt runs the shell command "echo began >got; cat ~/.netrc >>got; :"
      Then the attempt of "demo" ran <demo>, by its "got"
      And the attempt of "extra" ran <extra>, by its "got"
      And planted, with one attempt for all it runs confined, by its "got"

      Examples:
        | repos                        | mode     | demo     | extra    |
        | demo (off), extra (required) | unset    | free     | confined |
        | demo (required), extra (off) | unset    | confined | free     |
        | demo (off), extra (required) | required | free     | confined |
        | demo (off), extra            | required | free     | confined |
        | demo, extra (off)            | required | confined | free     |
        | demo, extra (required)       | off      | free     | confined |
        | demo (required), extra       | off      | confined | free     |
        | demo (required), extra       | unset    | confined | free     |

    @extra
    # The documentation does not say what becomes of the others
    Scenario: one that fails keeps no other from running, and its code is that of all
      Given each of the repos "extra, demo" has an attempt of its own
      When each attempt runs the shell command "echo x >ran; [ $repo = demo ] || exit 3"
      Then in the worktree of each attempt, "ran" is a file
      And it ends with the code 3
      And planted, where all end with 0 it ends with 0

    @extra
    Scenario: what would be refused for one of them is refused for all
      Given the network is allowlist
      And the step's setting "requires" is "[network]"
      And each of the repos "demo, extra (off)" has an attempt of its own
      When each attempt runs the shell command "echo x >ran", or none is run
      Then the attempt is refused
      And no attempt has left "ran"
      And planted, without the repo's own word the attempt of "demo" leaves "ran"
