@needs:factory @needs:setup
Feature: Setup commands
  What a step needs is fetched and built before it: dependencies, submodules, a database. That takes the user's own tools, logins
  and network, so it is done outside, in a worktree that no step has seen yet. A file in the home tells where a command
  ran: inside, the home is another one.

  @OUT-01
  Rule: Setup commands run outside

    Background:
      Given a sandboxed step

    @program:socat
    Scenario Outline: a setup command <does>, which the step cannot
      Given the step has the setup command "mkdir -p {library}; (<command>) >{library}/seen 2>/dev/null || :"
      When the step runs the probe "<probe>"
      Then on the host, a secret stands in "{library}/seen"
      And no secret arrives
      And bare, the same probe gets the secret
      And planted, as the step's own command the last of them leaves none there

      Examples:
        | does                         | command                                     | probe                               |
        | reads the home               | cat ~/.netrc                                | read ~/.netrc                       |
        | reads keys                   | cat ~/.ssh/id_ed25519                       | read ~/.ssh/id_ed25519              |
        | reaches the SSH agent        | socat -u UNIX-CONNECT:/run/user/42042/ssh-agent - | socket /run/user/42042/ssh-agent |
        | sees the host's processes    | cat /proc/[0-9]*/cmdline                    | read ~/.netrc                       |

    Scenario: with network allowlist they run outside as well
      Given the network is allowlist
      And the step has the setup command "mkdir -p {library}; cat ~/.netrc >{library}/seen"
      When the step runs the probe "read ~/.netrc"
      Then on the host, a secret stands in "{library}/seen"
      And no secret arrives
      And bare, the same probe gets the secret
      And planted, as the step's own command the last of them leaves none there

    Scenario: they run before the step, in its worktree
      Given the step has the setup command "echo made-{nonce} >made-by-setup"
      When the step runs the probe "read made-by-setup"
      Then the step reads "made-{nonce}"
      And planted, without the setup commands the probe finds nothing there

    Scenario: they run one after the other
      Given the step has the setup command "echo one >one"
      And the step has the setup command "cat one >two; echo two >>two; mkdir -p {library}; cat two >{library}/both"
      When the step runs the probe "read two"
      Then on the host, "{library}/both" ends in "two"
      And the step reads "one"
      And planted, without the setup commands the probe finds nothing there

    # The documentation does not say what becomes of the step
    @extra
    Scenario Outline: when one <fails>, the step is not executed
      Given the step leaves a mark
      And the step has the setup program "<program>"
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, without the setup commands the mark is found

      Examples:
        | fails                | program                 |
        | fails                | /bin/false              |
        | is not there         | /nobody/has/this        |
        | cannot be executed   | /etc/passwd             |
        | is ended by a signal | /bin/sh -c kill${IFS}-9${IFS}$$ |

    @extra
    Scenario: the one after one that failed is not executed
      Given the step leaves a mark
      And the step has the setup program "/bin/false"
      And the step has the setup command "mkdir -p {library}; touch {library}/second"
      When the step is run
      Then no mark is found
      And "{library}/second" is not there afterwards
      And planted, without the setup commands the mark is found

    @extra
    Scenario: of a failed one the reason says so
      Given the step leaves a mark
      And the step has the setup program "/bin/false"
      When the step is run
      Then the attempt is refused with the reason "setup-command"
      And no mark is found
      And planted, without the setup commands the mark is found

    Scenario: where the mode is off they run as well
      Given the factory's sandbox mode is "off"
      And the step has the setup command "echo made-{nonce} >made-by-setup"
      When the step runs the probe "read made-by-setup"
      Then the step reads "made-{nonce}"
      And planted, without the setup commands the probe finds nothing there

    @extra
    Scenario: they have the caller's variables, and the step's own
      Given the step has the variable "OF_STEP" with "of-step"
      And the step has the setup command "mkdir -p {library}; echo $CALLERS_OWN $OF_STEP >{library}/variables"
      When the step runs the probe "env CALLERS_OWN"
      Then on the host, "{library}/variables" ends in "kept of-step"
      And planted, without the setup commands it is not there

    # what comes in by a pipe is for the step
    @extra
    Scenario: they read nothing of the step's input
      Given its input is "for-the-step{newline}"
      And the step has the setup command "cat >read-by-setup"
      When the step runs the shell command "cat; tools/probe read read-by-setup"
      Then the step reads "for-the-step"
      And in the worktree, "read-by-setup" holds ""
      And planted, without the setup commands the probe finds nothing there

    @extra
    Scenario: Ctrl-C ends them, all that they started, and the attempt
      Given the step leaves a mark
      And its caller has a terminal
      And at its caller's terminal
        | when it shows | do      |
        | setup-{nonce} | type ^C |
      And the step has the setup command "sh -c 'sleep 100; :' of-{nonce} & (trap '' TERM; sh -c 'echo setup-{nonce}; sleep 100; :' of-{nonce}) & wait"
      When the step is run
      Then it ends with the code 130
      And it ends within 8 s of that
      And no mark is found
      And no process with "of-{nonce}" in its argv is alive
      And the terminal is set as before
      And planted, without the setup commands the mark is found

    # a submodule, or what a build fetches: as if the step had made it
    @extra
    Scenario: a repository that they leave in the worktree is moved out of it afterwards, as the step's is
      Given the step has the setup command "git init -q nested"
      When the step runs the probe "read nested/.git/HEAD"
      Then the step reads "refs/heads/"
      And in the worktree, "nested" is a folder
      And in the worktree, "nested/.git" is gone
      And planted, without the setup commands the probe finds nothing there
