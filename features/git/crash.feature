Feature: A crash
  A factory is killed, by its user, by a kernel that needs memory, by a battery. What an agent has worked for an hour is not
  lost by that, and the repository can be used at once.

  @GIT-07
  Rule: A crash at any moment loses neither the step's commits nor its uncommitted work, and leaves no lock

    Background:
      Given a sandboxed step
      And the repository's kind is "ordinary"

    @case:T22 @serial @needs:factory
    Scenario: nothing is lost and nothing is locked whenever the launcher is killed
      When its launcher is killed by SIGKILL at random moments while a step commits, until launch, step and import were each hit 50 times
      And another attempt of the factory has run
      Then each commit that a step has made is on its worktree's branch
      And what a step had not committed is in its worktree
      And there is no lock in the repository
      And the user's git finds the repository whole and can commit
      And planted, a commit too many is missed, a change undone and a lock noticed
      And planted, launch, step and import were each hit at least 50 times

    # sandbox-runtime leaves what git was at, and then the user's git says that another one runs
    @case:T22
    Scenario Outline: <what> in a step that is killed does not lock the repository
      When its launcher is killed by SIGKILL while a step is at "<command>"
      And another attempt of the factory has run
      Then each commit that a step has made is on its worktree's branch
      And what a step had not committed is in its worktree
      And there is no lock in the repository
      And the user's git finds the repository whole and can commit
      And planted, a commit too many is missed, a change undone and a lock noticed

      Examples:
        | what                   | command                                            |
        | a lock of the index    | touch "$(git rev-parse --git-dir)/index.lock"      |
        | a lock of HEAD         | touch "$(git rev-parse --git-dir)/HEAD.lock"       |
        | a lock of its branch   | touch "$(git rev-parse --git-path "$(git symbolic-ref HEAD)").lock" |
        | a lock of packed refs  | touch "$(git rev-parse --git-path packed-refs).lock" |

    # A git that was killed leaves a lock, and every git after it says that another one runs
    @needs:setup
    Scenario: a lock of its branch that a git has left long ago keeps no commit from it
      Given the step has the setup command "l=$(git rev-parse --git-path $(git symbolic-ref HEAD)).lock; mkdir -p ${l%/*}; touch -d '5 minutes ago' $l"
      When the step works with git: "echo x >new; git add new; git commit -q -m Work"
      Then git ends well, without an error line or a lock
      And outside, its branch has the commit "Work"
      And there is no lock in the repository
      And planted, in the worktree of an attempt that did nothing git says otherwise
