Feature: What passes between a step and its caller
  A factory reads exit codes, a script pipes into a step and out of it. The sandbox is in none of it.

  @NS-10
  Rule: Exit code, stdin, stdout, stderr and argv pass through unchanged; a signal ends as 128+n

    Background:
      Given a sandboxed step

    # 125 to 127 are also codes of sandboxes and of env(1), 137 and 143 those of killed steps
    @case:X01
    Scenario Outline: a step that ends with <code> ends with <code>
      When the step is the script "echo ran-{nonce}; exit <code>"
      Then it ends with the code <code>
      And it prints "ran-{nonce}{newline}" and nothing else
      And bare, the same command ends the same

      Examples:
        | code |
        | 0    |
        | 1    |
        | 2    |
        | 37   |
        | 64   |
        | 77   |
        | 90   |
        | 124  |
        | 125  |
        | 126  |
        | 127  |
        | 128  |
        | 137  |
        | 143  |
        | 255  |

    @case:X02
    Scenario Outline: a step that SIG<signal> ends, ends with <code>
      When the step is the script "ulimit -c 0; echo ran-{nonce}; kill -<signal> $$; sleep 9; exit 3"
      Then it ends with the code <code>
      And it prints "ran-{nonce}{newline}" and nothing else
      And bare, the same command ends the same

      Examples:
        | signal | code |
        | HUP    | 129  |
        | INT    | 130  |
        | QUIT   | 131  |
        | ABRT   | 134  |
        | KILL   | 137  |
        | USR1   | 138  |
        | SEGV   | 139  |
        | PIPE   | 141  |
        | TERM   | 143  |

    # vscode 298729: command text pasted into a shell's; flatpak CVE-2024-32462: words taken for options of bubblewrap
    @case:X03
    Scenario Outline: an argument arrives as it was: <what>
      When with the argument "<argument>", the step is the script "printf %s@ $# "$@""
      Then it prints "1@<argument>@" and nothing else
      And it ends with the code 0
      And bare, the same command ends the same

      Examples:
        | what                     | argument                         |
        | an empty one             |                                  |
        | two blanks               | a  b                             |
        | single quotes            | '; id; '                         |
        | double quotes            | {quote}; id; {quote}             |
        | a command substitution   | $(id)`id`                        |
        | a semicolon              | ;id;#                            |
        | a newline                | a{newline}id{newline}            |
        | a backslash              | \\n\\                            |
        | a tab and an escape      | a{tab}{escape}[0m                  |
        | a template               | %s%n$HOME~*&                |
        | an option of bubblewrap  | --bind                           |
        | the end of options       | --                               |
        | an assignment            | PATH=/tmp                        |
        | letters of other scripts | grüße, 世界, 🦀                  |
        | 100 kB                   | {100000 a}                       |

    Scenario Outline: input arrives as it was: <what>
      Given its input is "<input>"
      When the step is the script "cat; echo read-{nonce} >&2"
      Then it prints its input and nothing else
      And it complains "read-{nonce}{newline}" and nothing else
      And it ends with the code 0
      And bare, the same command ends the same

      Examples:
        | what                  | input                                |
        | nothing               |                                      |
        | a line without an end | a line                               |
        | every byte            | {every byte}{every byte}             |
        | 1 MiB                 | {1048575 x}{zero}                    |

    @extra
    Scenario: an input that its caller has closed is an empty one
      Given its caller has closed the input
      When the step is the script "cat; echo read-{nonce}"
      Then it prints "read-{nonce}{newline}" and nothing else
      And it ends with the code 0
      And planted, with the input "some{newline}" it prints that and "read-{nonce}{newline}"

    Scenario: output and errors arrive apart, and nothing beside them
      When the step is the script "echo said-{nonce}; echo told-{nonce} >&2; exit 4"
      Then it prints "said-{nonce}{newline}" and nothing else
      And it complains "told-{nonce}{newline}" and nothing else
      And it ends with the code 4
      And bare, the same command ends the same

    Scenario: 1 MiB of output and of errors arrive whole
      When the step is the script "head -c 1048576 /dev/zero | tr '\0' o; head -c 1048576 /dev/zero | tr '\0' e >&2"
      Then it prints "{1048576 o}" and nothing else
      And it complains "{1048576 e}" and nothing else
      And bare, the same command ends the same

    # what a step writes to its output is the caller's to escape; a program that draws needs it as it is
    @case:P11
    Scenario: what drives a terminal arrives as it was
      When the step is the script "printf '\033]52;c;ZXZpbA==\007\033[2J\r\0\377'; printf '\033]0;title\007' >&2"
      Then it prints "{escape}]52;c;ZXZpbA=={bell}{escape}[2J{byte 13}{zero}{byte 255}" and nothing else
      And it complains "{escape}]0;title{bell}" and nothing else
      And bare, the same command ends the same

    # A sandbox with a machine of its own may bring them by two ways
    @extra
    Scenario: with output and errors in one pipe their lines keep their order
      Given its caller takes output and errors by one pipe
      When the step is the script "for n in 1 2 3 4 5 6; do echo o$n; echo e$n >&2; done"
      Then it prints "o1{newline}e1{newline}o2{newline}e2{newline}o3{newline}e3{newline}o4{newline}e4{newline}o5{newline}e5{newline}o6{newline}e6{newline}" and nothing else
      And bare, the same command ends the same

    # a step that writes where nobody reads any more gets SIGPIPE, or it runs for ever
    Scenario: a pipe inside breaks as outside
      When the step is the script "yes | head -n 1; yes 2>/dev/null | { sleep 0.1; exit 5; }"
      Then it prints "y{newline}" and nothing else
      And it ends with the code 5
      And bare, the same command ends the same

    @extra
    Scenario: signals act on a step although its caller ignores and blocks them
      Given its caller ignores and blocks signals
      When the step is the command "/bin/grep -E ^Sig(Blk|Ign) /proc/self/status"
      Then it prints "SigBlk:{tab}{16 0}{newline}SigIgn:{tab}{16 0}{newline}" and nothing else
      And bare, the same command ends otherwise

    # wayland-core PR 148: a folder that is bound, but not there, and every command fails
    @case:X04
    Scenario: a step runs for a user whose home has no .cache, .cargo or .npm
      Given a user for whom it never ran
      When the step is the script "echo ran-{nonce}; exit 6"
      Then it ends with the code 6
      And it prints "ran-{nonce}{newline}" and nothing else
      And bare, the same command ends the same

    # flatpak CVE-2024-32462: the name of a program is an option of the sandbox
    @case:X03
    Scenario: a program with the name of an option is a program
      When the step is the command "--dev-bind / / /bin/cat ~/.netrc"
      Then no secret arrives
      And bare, what stands behind "--dev-bind / /" gets the secret

    # bubblewrap ends with 1 for all of it, as a step does: an agent takes it for the step's failure and tries again
    @case:X01 @extra @needs:outcome
    Scenario Outline: a program that cannot be executed ends with <code>, and is told apart from a step that ends so: <what>
      When the step is the command "<command>"
      Then it ends with the code <code>
      And it is told that nothing was executed
      And planted, of the script "exit <code>" it is told that it was executed

      Examples:
        | what                            | command             | code |
        | one that is not there           | /usr/bin/nobody     | 127  |
        | one that is not on PATH         | nobody-has-this     | 127  |
        | one that is not in the worktree | ./nobody            | 127  |
        | one with the name of an option  | --dev-bind / / true | 127  |
        | one that is no program          | ./README            | 126  |
        | a folder                        | ./tools             | 126  |

    @case:X01 @extra @needs:outcome
    Scenario Outline: a step that ends with <code> is told apart from one that was not executed
      When the step is the script "exit <code>"
      Then it ends with the code <code>
      And it is told that the step was executed
      And planted, of the command "<command>" it is told that nothing was executed

      Examples:
        | code | command         |
        | 126  | ./README        |
        | 127  | ./nobody        |
