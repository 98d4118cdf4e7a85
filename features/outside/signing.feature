@needs:factory
Feature: The factory's own git, and signatures
  Worktrees are made before a step, its commits are looked at and brought into the repository after it, and signed where the user
  wants that: with his key, which an agent holds. All of it is done where no step is.

  @OUT-02
  Rule: The factory's git plumbing and signing shim run outside and still work

    Background:
      Given a sandboxed step
      And the step has the variable "GIT_AUTHOR_NAME" with "Dev"
      And the step has the variable "GIT_AUTHOR_EMAIL" with "dev@devbox.example"
      And the step has the variable "GIT_COMMITTER_NAME" with "Dev"
      And the step has the variable "GIT_COMMITTER_EMAIL" with "dev@devbox.example"

    Scenario: a worktree is made for the step in a repository that it cannot write
      When the step runs the probe "write {repository}/written x"
      Then outside, git "rev-parse --is-inside-work-tree" prints "true"
      And "{repository}/written" is not there afterwards
      And bare, the same probe writes "{repository}/written"

    Scenario: what the step commits is in the repository afterwards
      When the step works with git: "echo work >work; git add work; git commit -q -m work-{nonce}"
      Then outside, the repository has the commit "work-{nonce}" on a branch that main is not
      And outside, git "show HEAD:work" prints "work"
      And planted, in the worktree of an attempt that did nothing git says otherwise

    @needs:sign @program:ssh-keygen @program:ssh-agent @program:ssh-add
    Scenario Outline: with network <network>, what the step commits is signed by an agent that the step cannot reach
      Given the network is <network>
      And the factory signs with a key that an agent of the user holds
      When the step works with git: "echo work >work; git add work; git commit -q -m work; SSH_AUTH_SOCK={agent} ssh-add -l || :"
      Then outside, the tip of its branch has a good signature of that key
      And outside, git "show HEAD:work" prints "work"
      And planted, where the factory does not sign it has none

      Examples:
        | network   |
        | open      |
        | allowlist |

    @needs:sign @program:ssh-keygen @program:ssh-agent @program:ssh-add
    Scenario: the step cannot reach that agent
      Given the factory signs with a key that an agent of the user holds
      When the step runs the probe "socket {agent}"
      Then no secret arrives
      And bare, the same probe gets the secret

    @needs:sign @program:ssh-keygen @program:ssh-agent @program:ssh-add
    Scenario: the step cannot sign with that key
      Given the factory signs with a key that an agent of the user holds
      When the step runs the shell command "key=$(mktemp); echo '{public-key}' >$key; echo words | SSH_AUTH_SOCK={agent} ssh-keygen -Y sign -n git -f $key; rm $key"
      Then nothing is signed
      And bare, the same command signs

    # with a key of its own
    @needs:sign @program:ssh-keygen @program:ssh-agent @program:ssh-add
    Scenario: a signature that the step has made does not stand for it
      Given the factory signs with a key that an agent of the user holds
      When the step works with git: "ssh-keygen -q -t ed25519 -N '' -f own; echo work >work; git add work; git -c gpg.format=ssh -c user.signingkey=$PWD/own.pub commit -q -S -m work"
      Then outside, the tip of its branch has a good signature of that key
      And planted, where the factory does not sign it has none

    @extra @needs:sign @program:ssh-keygen @program:ssh-agent @program:ssh-add
    Scenario: every commit of every branch is signed, merges too
      Given the factory signs with a key that an agent of the user holds
      When the step works with git: "own=$(git branch --show-current); git commit -q --allow-empty -m one; git switch -q -c ${own%/*}/side; git commit -q --allow-empty -m side; git switch -q $own; git commit -q --allow-empty -m two; git merge -q --no-edit ${own%/*}/side"
      Then outside, the tip of its branch has a good signature of that key
      And outside, all commits of the attempt's branches have one
      And outside, git "log --format=%s --first-parent -3 --skip=1" prints "two\none\nBegin"
      And planted, where the factory does not sign it has none

    @extra @needs:sign @program:ssh-keygen @program:ssh-agent @program:ssh-add
    Scenario: when nobody has the key, the step is not executed
      Given the step leaves a mark
      And the factory signs with a key that an agent of the user holds
      And that agent has forgotten its key
      When the step is run
      Then the attempt is refused with the reason "cannot-sign"
      And no mark is found
      And planted, where the factory does not sign the mark is found

    @extra @needs:sign @program:ssh-keygen @program:ssh-agent @program:ssh-add
    Scenario Outline: when the public key is <what>, the step is not executed
      Given the step leaves a mark
      And the factory signs with a key that an agent of the user holds
      And the file of the public key is "<path>" instead
      When the step is run
      Then the attempt is refused with the reason "cannot-sign"
      And no mark is found
      And planted, where the factory does not sign the mark is found

      Examples:
        | what      | path            |
        | not there | ~/nobody.pub    |
        | a folder  | ~/.ssh          |
        | no key    | ~/.bashrc       |

    @extra @needs:sign @program:ssh-keygen @program:ssh-agent @program:ssh-add
    Scenario: what a killed attempt has committed is signed by the one that recovers it
      Given the factory signs with a key that an agent of the user holds
      When the launcher gets SIGKILL while the step waits, which has done "git commit -q --allow-empty -m work"
      Then planted, before another attempt has run the tip of its branch has no good signature
      And once another attempt has run, the tip of its branch has a good signature of that key
      And outside, git "log -1 --format=%s" prints "work"

    # the agent is asked when the step is over, and may have been ended meanwhile
    @extra @needs:sign @program:ssh-keygen @program:ssh-agent @program:ssh-add
    Scenario: what cannot be signed is not imported, until it can be
      Given the factory signs with a key that an agent of the user holds
      When the step waits until the user has done "SSH_AUTH_SOCK={agent} ssh-add -q -D" in the repository, and then does "git commit -q --allow-empty -m work"
      Then it ends with the code 123
      And planted, before another attempt has run the tip of its branch has no good signature
      And the agent gets its key back
      And once another attempt has run, the tip of its branch has a good signature of that key
