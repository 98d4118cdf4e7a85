@needs:factory
Feature: Every kind of step
  A step is an agent, a built-in step or a command of one's own. The sandbox is around each of them, and around every process
  that it starts, whoever its parent is by then.

  @SET-07
  Rule: The sandbox covers agent CLIs, built-in steps and custom command steps, and every process they start

    @program:make
    Scenario Outline: is kept from a secret of the home: <who>, of the <kind>
      Given a sandboxed step
      And a <kind> that does "<command>"
      When the step is run
      Then no secret arrives
      And planted, with mode off the same step gets the secret

      Examples:
        | kind               | who                          | command                                                                                                                                   |
        | custom command     | itself                       | tools/probe read ~/.netrc; :                                                                                                              |
        | custom command     | a child of a shell           | sh -c 'tools/probe read ~/.netrc'; :                                                                                                      |
        | custom command     | a process of another session | setsid -w tools/probe read ~/.netrc; :                                                                                                    |
        | custom command     | an orphan                    | (setsid sh -c 'tools/probe read ~/.netrc >got; echo >done' </dev/null >/dev/null 2>&1 &); until [ -e done ]; do sleep 0.01; done; cat got |
        | built-in step test | itself                       | tools/probe read ~/.netrc; :                                                                                                              |
        | built-in step test | a child of a shell           | sh -c 'tools/probe read ~/.netrc'; :                                                                                                      |
        | built-in step test | a process of another session | setsid -w tools/probe read ~/.netrc; :                                                                                                    |
        | built-in step test | an orphan                    | (setsid sh -c 'tools/probe read ~/.netrc >got; echo >done' </dev/null >/dev/null 2>&1 &); until [ -e done ]; do sleep 0.01; done; cat got |
        | agent claude-code  | itself                       | tools/probe read ~/.netrc; :                                                                                                              |
        | agent claude-code  | a child of a shell           | sh -c 'tools/probe read ~/.netrc'; :                                                                                                      |
        | agent claude-code  | a process of another session | setsid -w tools/probe read ~/.netrc; :                                                                                                    |
        | agent claude-code  | an orphan                    | (setsid sh -c 'tools/probe read ~/.netrc >got; echo >done' </dev/null >/dev/null 2>&1 &); until [ -e done ]; do sleep 0.01; done; cat got |
        | agent cursor       | itself                       | tools/probe read ~/.netrc; :                                                                                                              |
        | agent cursor       | a child of a shell           | sh -c 'tools/probe read ~/.netrc'; :                                                                                                      |
        | agent cursor       | a process of another session | setsid -w tools/probe read ~/.netrc; :                                                                                                    |
        | agent cursor       | an orphan                    | (setsid sh -c 'tools/probe read ~/.netrc >got; echo >done' </dev/null >/dev/null 2>&1 &); until [ -e done ]; do sleep 0.01; done; cat got |

    @program:make
    Scenario Outline: writes nothing in the home: an orphan of the <kind>
      Given a sandboxed step
      And a <kind> that does "(setsid sh -c 'tools/probe write ~/written-{nonce} x >got; echo >done' </dev/null >/dev/null 2>&1 &); until [ -e done ]; do sleep 0.01; done; cat got"
      When the step is run
      Then "~/written-{nonce}" is not there afterwards
      And planted, with mode off "~/written-{nonce}" is there afterwards

      Examples:
        | kind               |
        | custom command     |
        | built-in step test |
        | agent claude-code  |
        | agent cursor       |

    @program:make
    Scenario Outline: reaches no host that is not allowed: the <kind>
      Given a sandboxed step
      And the network is allowlist
      And a <kind> that does "tools/probe connect --proxy none blocked.example:443 + connect --proxy connect blocked.example:443; :"
      When the step is run
      Then the origin "blocked" does not answer
      And planted, with mode off the same step reaches an origin

      Examples:
        | kind               |
        | custom command     |
        | built-in step test |
        | agent claude-code  |
        | agent cursor       |

    # A setting that is honoured for one kind of step only; the table of the third kind, a custom command, is SET-02
    @case:C09 @program:make
    Scenario Outline: which value counts is the same for the <kind>: step <step>, repos <repos>, mode <mode>
      Given a step whose sandbox is "<step>"
      And its active repos have the sandbox "<repos>"
      And the factory's sandbox mode is "<mode>"
      And a <kind> that does "tools/probe read ~/.netrc; :"
      When the step is run
      Then it ran <effective>
      And planted, with mode off the same step gets the secret

      Examples:
        | kind               | step             | repos        | mode     | effective |
        | built-in step test | off              | unset        | any      | free      |
        | built-in step test | off              | off          | any      | free      |
        | built-in step test | off              | required     | any      | free      |
        | built-in step test | off              | off+required | any      | free      |
        | built-in step test | required         | unset        | any      | confined  |
        | built-in step test | required         | off          | any      | confined  |
        | built-in step test | required         | required     | any      | confined  |
        | built-in step test | required         | off+required | any      | confined  |
        | built-in step test | {mode: off}      | unset        | any      | free      |
        | built-in step test | {mode: off}      | off          | any      | free      |
        | built-in step test | {mode: off}      | required     | any      | free      |
        | built-in step test | {mode: off}      | off+required | any      | free      |
        | built-in step test | {mode: required} | unset        | any      | confined  |
        | built-in step test | {mode: required} | off          | any      | confined  |
        | built-in step test | {mode: required} | required     | any      | confined  |
        | built-in step test | {mode: required} | off+required | any      | confined  |
        | built-in step test | unset            | unset        | unset    | free      |
        | built-in step test | unset            | unset        | off      | free      |
        | built-in step test | unset            | unset        | required | confined  |
        | built-in step test | unset            | off          | any      | free      |
        | built-in step test | unset            | required     | any      | confined  |
        | built-in step test | unset            | off+required | any      | confined  |
        | built-in step test | {network: open}  | unset        | unset    | free      |
        | built-in step test | {network: open}  | unset        | off      | free      |
        | built-in step test | {network: open}  | unset        | required | confined  |
        | built-in step test | {network: open}  | off          | any      | free      |
        | built-in step test | {network: open}  | required     | any      | confined  |
        | built-in step test | {network: open}  | off+required | any      | confined  |
        | agent claude-code  | off              | unset        | any      | free      |
        | agent claude-code  | off              | off          | any      | free      |
        | agent claude-code  | off              | required     | any      | free      |
        | agent claude-code  | off              | off+required | any      | free      |
        | agent claude-code  | required         | unset        | any      | confined  |
        | agent claude-code  | required         | off          | any      | confined  |
        | agent claude-code  | required         | required     | any      | confined  |
        | agent claude-code  | required         | off+required | any      | confined  |
        | agent claude-code  | {mode: off}      | unset        | any      | free      |
        | agent claude-code  | {mode: off}      | off          | any      | free      |
        | agent claude-code  | {mode: off}      | required     | any      | free      |
        | agent claude-code  | {mode: off}      | off+required | any      | free      |
        | agent claude-code  | {mode: required} | unset        | any      | confined  |
        | agent claude-code  | {mode: required} | off          | any      | confined  |
        | agent claude-code  | {mode: required} | required     | any      | confined  |
        | agent claude-code  | {mode: required} | off+required | any      | confined  |
        | agent claude-code  | unset            | unset        | unset    | free      |
        | agent claude-code  | unset            | unset        | off      | free      |
        | agent claude-code  | unset            | unset        | required | confined  |
        | agent claude-code  | unset            | off          | any      | free      |
        | agent claude-code  | unset            | required     | any      | confined  |
        | agent claude-code  | unset            | off+required | any      | confined  |
        | agent claude-code  | {network: open}  | unset        | unset    | free      |
        | agent claude-code  | {network: open}  | unset        | off      | free      |
        | agent claude-code  | {network: open}  | unset        | required | confined  |
        | agent claude-code  | {network: open}  | off          | any      | free      |
        | agent claude-code  | {network: open}  | required     | any      | confined  |
        | agent claude-code  | {network: open}  | off+required | any      | confined  |

    @extra @program:make
    Scenario Outline: a built-in step is refused where its file is <what>
      Given a sandboxed step
      And the built-in step test leaves a mark, but its file is <what>
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, with the file as it should be the mark is found

      Examples:
        | what                  |
        | not there             |
        | a link that leads out |
        | a folder              |

    @extra
    Scenario: a built-in step that nobody knows is refused
      Given a sandboxed step
      And the step leaves a mark
      And it is the built-in step "tset"
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, as a command of its own it leaves the mark
