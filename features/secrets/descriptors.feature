Feature: The descriptors a step inherits
  Whoever starts a factory has files open. A step gets 0, 1 and 2 and nothing else; and where these are files of the user
  (step <in >>out 2>>err), it reads the input and its output arrives, and that is all it can do to them: a descriptor is also
  a name, /proc/self/fd/N, by which the file behind it can be opened once more, emptied, read and given another mode.

  @SEC-07
  Rule: The step inherits no descriptor beyond 0, 1, 2

    Background:
      Given a sandboxed step
      And the caller has a key and the home open as descriptors

    # firejail 4845, runc CVE-2024-21626
    @case:R06
    Scenario: no descriptor of the caller arrives
      When the step runs the probe "descriptors"
      Then there is no descriptor above 2
      And bare, there is a descriptor above 2

    @case:R06
    Scenario Outline: the caller's <what> cannot be read through its descriptor
      When the step runs the shell command "<command> 2>&1"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | what | command                |
        | key  | cat /proc/self/fd/7    |
        | home | ls -a /proc/self/fd/9/ |

    Scenario: no descriptor of the caller arrives with network allowlist either
      Given the network is allowlist
      When the step runs the probe "descriptors"
      Then there is no descriptor above 2
      And bare, there is a descriptor above 2

    Scenario Outline: cannot <what> through its descriptor
      Given the caller's input, output and errors are files
      When the step runs the probe with the arguments
        | <action> | <argument> | <last> |
      Then the caller's files are as they were but for what was said
      And bare, the same probe does them harm

      Examples:
        | what                          | action | argument        | last            |
        | write the file of its input   | append | /proc/self/fd/0 | evil            |
        | empty the file of its input   | write  | /proc/self/fd/0 |                 |
        | empty the file of its output  | write  | /proc/self/fd/1 |                 |
        | empty the file of its errors  | write  | /proc/self/fd/2 |                 |
        | change the mode of its input  | chmod  | 0666            | /proc/self/fd/0 |
        | change the mode of its output | chmod  | 0666            | /proc/self/fd/1 |
        | change the mode of its errors | chmod  | 0666            | /proc/self/fd/2 |
        | empty its output by /dev      | write  | /dev/stdout     |                 |
        | change the mode of its output by its thread's name | chmod | 0666 | /proc/thread-self/fd/1 |

    Scenario Outline: cannot read what stood before in the file of its <stream>
      Given the caller's input, output and errors are files
      When the step runs the probe "read /proc/self/fd/<number>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | stream | number |
        | output | 1      |
        | errors | 2      |

    Scenario: the input arrives, and in the files what is printed, and no more
      Given the caller's input, output and errors are files
      When the step runs the shell command "cat; echo said-{nonce}; echo complained-{nonce} >&2; tools/probe chmod 0666 /proc/self/fd/1"
      Then the file of its output holds "the step may read this"
      And the file of its output holds "said-{nonce}"
      And the file of its errors holds "complained-{nonce}"
      And the caller's files are as they were but for what was said
      And bare, the same probe does them harm
      And planted, in the files of an attempt that did nothing none of it stands
