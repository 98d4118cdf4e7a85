Feature: The caller's terminal
  Whoever holds a terminal can put keystrokes into its input, which the shell behind takes for its user's as soon as the step
  has ended: that would be a command outside, run by the user. A step in a session of its own cannot. (What it prints arrives as it is: a
  terminal that answers a printed query types the answer itself.)

  @NS-06
  Rule: It runs in a new session: no keystroke can be pushed into the caller's terminal

    Background:
      Given a sandboxed step

    # bubblewrap CVE-2017-5226
    @case:P01
    Scenario Outline: cannot type into the caller's terminal <how>
      Given its caller has a terminal
      When the step runs the probe "<probe>"
      Then nothing is typed into the caller's terminal
      And bare, the same probe types into it

      Examples:
        | how                                | probe                          |
        | by its input                       | tiocsti 0 evil                 |
        | by its output                      | tiocsti 1 evil                 |
        | by its errors                      | tiocsti 2 evil                 |
        | by the name of the terminal        | tiocsti /dev/tty evil          |
        | by the name of its input           | tiocsti /proc/self/fd/0 evil   |
        | by the name of its output          | tiocsti /dev/stdout evil       |
        | with a request that has more bits  | tiocsti 0 evil --high          |

    @case:P01
    Scenario Outline: cannot type into the caller's terminal after it has <what>
      Given its caller has a terminal
      When the step runs the probe "<probe> + tiocsti 0 evil + tiocsti /dev/tty evil"
      Then nothing is typed into the caller's terminal
      And bare, the probe "tiocsti 0 evil" types into it

      Examples:
        | what                         | probe                     |
        | made a session of its own    | tiocsctty 0 --setsid      |
        | asked to steal the terminal  | tiocsctty 0 --setsid --steal |
        | made a user namespace        | userns                    |

    @case:P01
    Scenario: cannot type into the caller's terminal with network allowlist either
      Given the network is allowlist
      And its caller has a terminal
      When the step runs the probe "tiocsti 0 evil + tiocsti /dev/tty evil"
      Then nothing is typed into the caller's terminal
      And bare, the same probe types into it

    @case:P01 @needs:factory
    Scenario: an agent cannot type into the caller's terminal
      Given its caller has a terminal
      And the step is run by the provider "claude-code" with the prompt "tools/probe tiocsti 0 evil + tiocsti /dev/tty evil"
      When the step is run
      Then nothing is typed into the caller's terminal
      And bare, the probe "tiocsti 0 evil" types into it

    # A terminal of its own: what is typed there comes out of the same terminal, and is read by the step alone
    @extra
    Scenario: cannot type into a terminal of its own either
      Given its caller has a terminal
      When for no longer than 10 s, the step is the script "stty raw -echo min 0 time 5; tools/probe tiocsti 0 evil >/dev/null; test -z "$(dd bs=1 count=1 2>/dev/null)" || exit 9; exit 4"
      Then it ends with the code 4
      And bare, the same probe types into it

    Scenario Outline: its session is not the caller's, with network <network>
      Given the network is <network>
      When the step waits, and its session is looked at
      Then it is not the caller's
      And bare, it is the caller's

      Examples:
        | network   |
        | open      |
        | allowlist |
