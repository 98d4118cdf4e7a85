@needs:factory
Feature: What the user talks to
  A step whose prompt is not in the settings asks for it, at the terminal, in the user's own editor: with his home, his plugins
  and his spelling. `serve` hosts what steps are connected through. Both are the factory's, and no step's.

  @OUT-03
  Rule: Interactive intake and serve run outside

    Background:
      Given a sandboxed step

    @needs:intake
    Scenario Outline: the editor in which the prompt of <provider> is written runs outside, and the agent is given what was written
      Given the step is run by the provider "<provider>" without a prompt
      And its caller has a terminal
      And the user's editor does "cat ~/.netrc >{library}/seen; echo 'tools/probe read ~/.netrc; echo done-{nonce}' >$1"
      When the step is run
      Then on the host, a secret stands in "{library}/seen"
      And the step is given "agent: tools/probe read ~/.netrc; echo done-{nonce}"
      And the terminal shows "done-{nonce}"
      And no secret arrives
      And bare, the probe "read ~/.netrc" gets the secret
      And planted, as the step's own command the editor leaves none there

      Examples:
        | provider    |
        | claude-code |
        | cursor      |

    @extra @needs:intake
    Scenario: lines that begin with # are left out
      Given the step is run by the provider "claude-code" without a prompt
      And its caller has a terminal
      And the user's editor does "printf '# one\necho two-{nonce}\n# three\n' >$1"
      And the step runs no probe
      When the step is run
      Then the terminal shows "agent: echo two-{nonce}"
      And the step is given no "three"
      And planted, of another prompt the agent is given that

    @extra @needs:intake
    Scenario: without an editor it is typed
      Given the step is run by the provider "claude-code" without a prompt
      And its caller has a terminal
      And at its caller's terminal
        | when it shows | do                              |
        | Ctrl-D        | type echo typed-$((6*7))^M^D    |
      And the step runs no probe
      When the step is run
      Then the terminal shows "agent: echo typed-$((6*7))"
      And the terminal shows "typed-42"
      And the terminal is set as before
      And planted, of another prompt the agent is given that

    # what comes in by a pipe is for the step
    @extra @needs:intake
    Scenario: without a terminal there is nobody to ask, and its input is no prompt
      Given the step is run by the provider "claude-code" without a prompt
      And its input is "echo from-a-pipe{newline}"
      And the step runs no probe
      When the step is run
      Then the attempt is refused
      And the step is given no "from-a-pipe"
      And nothing of an attempt is made
      And planted, with a prompt in the settings something is

    @extra @needs:intake
    Scenario Outline: when the editor <does>, nothing is made
      Given the step is run by the provider "claude-code" without a prompt
      And its caller has a terminal
      And the user's editor does "<words>"
      And the step runs no probe
      When the step is run
      Then the attempt is refused
      And the terminal shows "no-prompt"
      And nothing of an attempt is made
      And planted, with a prompt in the settings something is

      Examples:
        | does                        | words                         |
        | writes nothing              | :                             |
        | empties the file            | : >$1                         |
        | fails                       | echo true >$1; exit 1         |
        | writes more than an argument can hold | head -c 131072 /dev/zero \| tr '\\0' x >$1 |
        | writes a byte that ends arguments     | printf 'a\\0b' >$1    |

    @extra @needs:intake
    Scenario: nobody is asked for the prompt of a step that is refused anyway
      Given the step is run by the provider "claude-code" without a prompt
      And its caller has a terminal
      And the user's editor does "touch {library}/asked; echo true >$1"
      And bubblewrap is not on PATH
      And the step runs no probe
      When the step is run
      Then the attempt is refused
      And "{library}/asked" is not there afterwards
      And planted, with mode off "{library}/asked" is there afterwards

    @extra @needs:intake
    Scenario: Ctrl-C in the editor gives up, and gives the terminal back
      Given the step is run by the provider "claude-code" without a prompt
      And its caller has a terminal
      And at its caller's terminal
        | when it shows   | do       |
        | editing-{nonce} | type ^C  |
      And the user's editor does "stty -echo; echo true >$1; echo editing-{nonce}; exec sleep 20"
      And the step runs no probe
      When the step is run
      Then it ends with the code 130
      And it ends within 5 s of that
      And the terminal is set as before
      And nothing of an attempt is made
      And planted, with a prompt in the settings something is

    @needs:serve
    Scenario: serve is in the host's namespaces, and the step in its own
      Given the network is allowlist
      When the step runs the probe "namespaces self" while a serve hosts its proxy
      Then the serve is in the host's namespaces
      And its net namespace is not the host's
      And its user namespace is not the host's
      And its pid namespace is not the host's
      And bare, its net namespace is the host's

    @extra @needs:serve
    Scenario: serve goes where the step cannot
      Given the network is allowlist
      And the host "allowed.example" is allowed
      When the step runs the probe "connect --proxy connect allowed.example:443 + connect --proxy none blocked.example:443" while a serve hosts its proxy
      Then the origin "allowed" answers
      And the origin "blocked" does not answer
      And the serve is in the host's namespaces
      And bare, "blocked.example:443" answers
