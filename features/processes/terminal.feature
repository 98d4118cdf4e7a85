Feature: A step at the caller's terminal
  An agent that a person talks to draws on the whole window, reads single keys, and is ended by Ctrl-C.

  @NS-13
  Rule: A detached process that keeps the output open does not delay the attempt's end; Ctrl-C and window size changes work

    Background:
      Given a sandboxed step

    Scenario: 0, 1 and 2 are a terminal where the caller's are
      Given its caller has a terminal
      When for no longer than 10 s, the step is the script "test -t 0 && test -t 1 && test -t 2 && tty >/dev/null && echo all-{nonce}"
      Then the terminal shows "all-{nonce}"
      And it ends with the code 0
      And bare, the same command ends the same

    Scenario: only what is a terminal of the caller's is one
      Given its caller has a terminal, and takes the output by a pipe
      When for no longer than 10 s, the step is the script "test -t 0 && ! test -t 1 && test -t 2 && echo mixed-{nonce}; echo told-{nonce} >&2"
      Then it prints "mixed-{nonce}{newline}" and nothing else
      And the terminal shows "told-{nonce}"
      And bare, the same command ends the same

    # ssh, sudo, git and gpg ask there for a password, wherever their input comes from
    Scenario: /dev/tty is the terminal
      Given its caller has a terminal
      And at its caller's terminal
        | when it shows | do           |
        | who-{nonce}   | type I am^M  |
      When for no longer than 10 s, the step is the script "echo who-{nonce} >/dev/tty; read -r line </dev/tty; echo [$line] </dev/null"
      Then the terminal shows "[I am]"
      And bare, the same command ends the same

    # bubblewrap 147, 573: with --new-session alone the size is right at first, and never changes
    Scenario: the window has its size at the start
      Given its caller has a terminal
      When for no longer than 10 s, the step is the script "stty size"
      Then the terminal shows "33 99"
      And bare, the same command ends the same

    Scenario: a step is told when the window gets another size
      Given its caller has a terminal
      And at its caller's terminal
        | when it shows | do           |
        | ready-{nonce} | resize 20 70 |
        | 20 70         | resize 50 40 |
      When for no longer than 10 s, the step is the script "trap 'stty size' WINCH; echo ready-{nonce}; while [ "$(stty size)" != '50 40' ]; do sleep 0.02; done; exit 7"
      Then the terminal shows "20 70"
      And it ends with the code 7
      And bare, the same command ends the same

    @case:P05
    Scenario Outline: Ctrl-C ends an attempt and all its processes with <code>: a step that <what>
      Given its caller has a terminal
      And at its caller's terminal
        | when it shows | do      |
        | ready-{nonce} | type ^C |
      When for no longer than 10 s, the step is the script "up=${TMPDIR:-/tmp}/up-$$; setsid sh -c 'touch "$1"; sleep 60; :' "$0" $up & until [ -e $up ]; do sleep 0.01; done; <script>"
      Then it ends with the code <code>
      And it ends within 2 s of that
      And no process of the attempt is alive
      And bare, the same command leaves processes alive

      Examples:
        | what                 | code | script                                                            |
        | waits                | 130  | echo ready-{nonce}; sleep 60                                      |
        | has something for it | 5    | trap 'exit 5' INT; echo ready-{nonce}; while :; do sleep 0.05; done |

    @case:P05 @program:python3
    Scenario: Ctrl-C is KeyboardInterrupt in python3
      Given its caller has a terminal
      And at its caller's terminal
        | when it shows | do      |
        | ready-{nonce} | type ^C |
      When for no longer than 10 s, the step is the script "exec python3 -c "import time; print('ready-{nonce}', flush=True); time.sleep(60)""
      Then the terminal shows "KeyboardInterrupt"
      And it ends with the code 130
      And it ends within 2 s of that
      And bare, the same command ends the same

    Scenario: Ctrl-D is the end of the input
      Given its caller has a terminal
      And at its caller's terminal
        | when it shows | do          |
        | ready-{nonce} | type some^M |
        | some          | type ^D     |
      When for no longer than 10 s, the step is the script "echo ready-{nonce}; cat >/dev/null; echo end-{nonce}; exit 6"
      Then the terminal shows "end-{nonce}"
      And it ends with the code 6
      And bare, the same command ends the same

    # vi, less, htop, agents with a screen of their own
    Scenario Outline: a program that takes the terminal raw gets the key <key> at once
      Given its caller has a terminal
      And at its caller's terminal
        | when it shows | do         |
        | ready-{nonce} | type <key> |
      When for no longer than 10 s, the step is the script "stty raw -echo; echo ready-{nonce}; dd bs=1 count=1 2>/dev/null | od -An -tx1; stty sane; exit 4"
      Then the terminal shows " <byte>"
      And it ends with the code 4
      And bare, the same command ends the same

      Examples:
        | key | byte |
        | x   | 78   |
        | ^C  | 03   |
        | ^Z  | 1a   |
        | ^M  | 0d   |

    @case:P11
    Scenario: what a program draws arrives as it was
      Given its caller has a terminal
      When for no longer than 10 s, the step is the script "stty -opost; printf '\033[2J\033[1;31mred\n\r\377\0end'"
      Then the terminal shows "{escape}[2J{escape}[1;31mred{newline}{byte 13}{byte 255}{zero}end"
      And bare, the same command ends the same

    Scenario: 1 MB of output arrives whole
      Given its caller has a terminal
      When for no longer than 20 s, the step is the script "stty -opost; echo begin; head -c 1000000 /dev/zero | tr '\0' x; echo end"
      Then the terminal shows "begin{newline}{1000000 x}end"
      And bare, the same command ends the same

    # exec: a process that has just been made by vfork(2) and is stopped keeps its parent from being stopped
    @program:bash
    Scenario: a shell has job control
      Given its caller has a terminal
      And at its caller's terminal
        | when it shows | do                                      |
        | p-{nonce}>    | type sh -c 'echo u""p; exec sleep 60'^M |
        | up            | type ^Z                                 |
        | Stopped       | watch                                   |
        | p-{nonce}>    | type jobs^M                             |
        | Stopped       | watch                                   |
        | p-{nonce}>    | type kill %1; sleep 0.5^M               |
        | Terminated    | watch                                   |
        | p-{nonce}>    | type exit 3^M                           |
      When for no longer than 10 s, the step is the script "PS1='p-{nonce}> ' exec bash --norc --noprofile -i"
      Then it ends with the code 3
      And the terminal shows "Terminated"
      And bare, the same command ends the same

    Scenario: Ctrl-Z does not stop a step that nobody could start again
      Given its caller has a terminal
      And at its caller's terminal
        | when it shows | do        |
        | ready-{nonce} | type ^Z   |
        | ^Z            | type on^M |
      When for no longer than 10 s, the step is the script "echo ready-{nonce}; read -r line; echo [$line]; exit 8"
      Then the terminal shows "[on]"
      And it ends with the code 8
      And bare, the same command ends the same

    Scenario: the caller's terminal is set as before
      Given its caller has a terminal
      When for no longer than 10 s, the step is the script "stty raw -echo; exit 3"
      Then the terminal is set as before
      And bare, the same command ends otherwise

    @needs:factory @needs:backend
    Scenario: the caller's terminal is set as before when the attempt is refused
      Given bubblewrap is not on PATH
      And its caller has a terminal
      When for no longer than 10 s, the step is the script "stty raw -echo; exit 3"
      Then the terminal is set as before
      And bare, the same command ends otherwise

    # the window is closed, the line of ssh is lost
    Scenario: an attempt whose terminal is closed ends with all its processes
      Given its caller has a terminal
      And at its caller's terminal
        | when it shows | do      |
        | ready-{nonce} | hang up |
      When for no longer than 10 s, the step is the script "up=${TMPDIR:-/tmp}/up-$$; setsid sh -c 'touch "$1"; sleep 60; :' "$0" $up & until [ -e $up ]; do sleep 0.01; done; echo ready-{nonce}; sleep 60"
      Then it ends with the code 129
      And it ends within 2 s of that
      And no process of the attempt is alive
      And bare, the same command leaves processes alive

    # a daemon holds the pipe that the caller reads: without a namespace that ends, it waits for the daemon
    Scenario Outline: a detached process that keeps the output open does not delay the end: <what>
      When for no longer than 8 s, the step is the script "<how> echo done; exit 7"
      Then it ends within 5 s
      And it ends with the code 7
      And it prints "done{newline}" and nothing else
      And bare, the same command does not end

      Examples:
        | what                          | how                                                     |
        | a child                       | sh -c 'sleep 60; :' "$0" &                              |
        | one that called setsid        | setsid sh -c 'sleep 60; :' "$0" &                       |
        | one that ignores signals      | setsid sh -c "trap '' HUP INT TERM; sleep 60; :" "$0" & |
        | one that forked twice         | (setsid sh -c 'sleep 60; :' "$0" &);                    |
        | one that has the errors alone | setsid sh -c 'sleep 60; :' "$0" >/dev/null &            |

    # the time between a signal that asks and the end is the implementation's; that it ends is not
    @extra
    Scenario: a step that ignores signals ends all the same when its launcher is asked to
      When its launcher gets SIGTERM while a step runs that ignores signals, which has 10 s to die
      Then no process of the attempt is alive
      And it ends with the code 137
      And bare, such a step leaves processes alive

    # A step stopped the pid 1 of bubblewrap by tracing it, and nobody ever reaped what ended: the attempt stayed for ever.
    # Where pid 1 is the lab's own, it is left alone.
    Scenario Outline: an attempt ends, and its neighbour is undisturbed, although the step <what>
      When beside a neighbour, the step is the script "grep -q conformance /proc/1/comm || { <script>; }; exit 7"
      Then it ends within 10 s
      And it ends with the code 7
      And the neighbour is as it would be alone
      And planted, an attempt that does not end is noticed

      Examples:
        | what                       | script                                                                                    |
        | sends all signals to pid 1 | for n in 1 2 3 6 9 10 12 13 14 15 19 20 28 18; do kill -$n 1; done 2>/dev/null; sleep 0.3 |
        | floods pid 1 with signals  | i=0; while [ $i -lt 20000 ]; do kill -CONT 1; kill -USR1 1; i=$((i+1)); done 2>/dev/null  |
        | traces pid 1 and leaves it | tools/probe ptrace --leave 1                                                              |
        | leaves 500 ended children  | i=0; while [ $i -lt 500 ]; do (:) & i=$((i+1)); done; sleep 0.2                           |
        | has 500 processes          | mkfifo f; i=0; while [ $i -lt 500 ]; do (: <f) & i=$((i+1)); done; sleep 0.2              |

    @case:P10
    Scenario Outline: an attempt ends, and its neighbour is undisturbed, although the step fills <what>
      When beside a neighbour, the step is the script "head -c 67108864 /dev/zero >"<file>"; rm -f "<file>"; exit 7"
      Then it ends within 10 s
      And it ends with the code 7
      And the neighbour is as it would be alone
      And planted, an attempt that does not end is noticed

      Examples:
        | what                | file                      |
        | its temp folder     | ${TMPDIR:-/tmp}/f-{nonce} |
        | /tmp                | /tmp/f-{nonce}            |
        | its shared memory   | /dev/shm/f-{nonce}        |
        | its worktree        | f                         |

    @case:P10
    Scenario: an attempt ends, and its neighbour is undisturbed, although the step prints 20 MB
      When beside a neighbour, the step is the script "head -c 20000000 /dev/zero; exit 7"
      Then it prints 20000000 bytes
      And it ends with the code 7
      And the neighbour is as it would be alone
      And planted, an attempt that does not end is noticed
