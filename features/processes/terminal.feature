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
