@needs:factory @needs:secret
Feature: A key that stays outside
  An agent needs an API key to talk to its provider. The proxy has it and adds it; the step that talks never has.

  @INJ-01
  Rule: The injected key is nowhere inside the sandbox: env, files, argv, /proc

    Background:
      Given a sandboxed step
      And the network is allowlist
      And a key for "https://{nonce}.api.test" is injected

    Scenario Outline: it is not in <where>
      When after a request to its "API_URL", the step runs the shell command "<command>"
      Then the key does not arrive
      And the key arrives at "{nonce}.api.test" alone
      And planted, as a variable of the step's own it does

      Examples:
        | where                            | command                                                      |
        | the step's environment           | tools/probe env; true                                        |
        | what a shell of a shell inherits | sh -c 'sh -c "tools/probe env"'; true                        |
        | the environment of any process   | cat /proc/[0-9]*/environ 2>/dev/null \| tr '\\0' '\\n'; true |

    Scenario: it is not in the argv of any process
      When after a request to its "API_URL", the step runs the shell command "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n'; true"
      Then the key does not arrive
      And the key arrives at "{nonce}.api.test" alone
      And planted, in the argv of a process it does

    Scenario Outline: it is in no file of <where>
      When after a request to its "API_URL", the step runs the shell command "grep -arohs -D skip 'lab-key-[0-9a-f][0-9a-f]*' <folders>; true"
      Then the key does not arrive
      And the key arrives at "{nonce}.api.test" alone
      And planted, in a file of <one> it does

      Examples:
        | where                        | folders                              | one       |
        | its worktree                 | .                                    | .         |
        | its home                     | "$HOME"                              | "$HOME"   |
        | its temporary folder         | "$TMPDIR"                            | "$TMPDIR" |
        | the folders that all share   | /tmp /var/tmp /dev/shm               | /dev/shm  |
        | the machine's                | /etc /run /var /opt /srv /mnt /dev/shm | /dev/shm  |

    Scenario: it is in no file of the attempt, on the host
      When after a request to its "API_URL", the step runs the shell command "true"
      Then no file of the attempt holds the key
      And the key arrives at "{nonce}.api.test" alone
      And planted, one that does is noticed
