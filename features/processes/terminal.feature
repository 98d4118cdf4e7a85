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
      When the step, with its mark, is the script "<how> echo done; exit 7"
      Then it ends within 5 s
      And it ends with the code 7
      And it prints "done{newline}" and nothing else
      And bare, the same command does not end

      Examples:
        | what                          | how                                                   |
        | a child                       | sh -c 'sleep 60; :' "$0" &                            |
        | one that called setsid        | setsid sh -c 'sleep 60; :' "$0" &                     |
        | one that ignores signals      | setsid sh -c "trap '' HUP INT TERM; sleep 60; :" "$0" & |
        | one that keeps the errors too | (setsid sh -c 'sleep 60; :' "$0" 1>&2 &)              |
