Feature: A step at the caller's terminal
  An agent that a person talks to draws on the whole window, reads single keys, and is ended by Ctrl-C.

  @NS-13
  Rule: A detached process that keeps the output open does not delay the attempt's end; Ctrl-C and window size changes work

    Background:
      Given a sandboxed step

    Scenario: a terminal is a terminal inside
      Given its caller has a terminal
      When the step is the script "test -t 0 && test -t 1 && test -t 2 && echo all-{nonce}"
      Then the terminal shows "all-{nonce}"
      And it ends with the code 0
      And bare, the same command ends the same

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
    Scenario: an attempt ends, and its neighbour is undisturbed, although the step prints 100 MB
      When beside a neighbour, the step is the script "head -c 100000000 /dev/zero; exit 7"
      Then it prints 100000000 bytes
      And it ends with the code 7
      And the neighbour is as it would be alone
      And planted, an attempt that does not end is noticed
