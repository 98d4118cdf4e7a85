Feature: Namespaces
  A step runs in namespaces of its own: what it can name, count, signal and share ends there. Whether a namespace is a new one
  is told by its number, which the kernel gives to no other.

  @NS-01
  Rule: The step runs in a new user namespace

    Background:
      Given a sandboxed step

    Scenario Outline: its user namespace is a new one, with network <network>
      Given the network is <network>
      When the step runs the probe "namespaces self"
      Then its user namespace is not the host's
      And bare, its user namespace is the host's

      Examples:
        | network   |
        | open      |
        | allowlist |

    @needs:factory
    Scenario Outline: an agent of the provider <provider> runs in one as well
      Given the step is run by the provider "<provider>" with the prompt "tools/probe namespaces self"
      When the step is run
      Then its user namespace is not the host's
      And bare, the probe "namespaces self" is in the host's user namespace

      Examples:
        | provider    |
        | claude-code |
        | cursor      |

  @NS-02
  Rule: It runs in a new PID namespace: host processes are invisible and cannot be signalled or traced

    Background:
      Given a sandboxed step

    Scenario Outline: its PID namespace is a new one, with network <network>
      Given the network is <network>
      When the step runs the probe "namespaces self"
      Then its pid namespace is not the host's
      And bare, its pid namespace is the host's

      Examples:
        | network   |
        | open      |
        | allowlist |

    Scenario Outline: cannot see a process of the user, with network <network>
      Given the network is <network>
      And the user has a process
      When the step runs the probe "pids bystander-{nonce}"
      Then it sees no such process
      And bare, it sees it

      Examples:
        | network   |
        | open      |
        | allowlist |

    # R12, bubblewrap 535: the folders of /proc of a process lead to what it has open
    @case:R12
    Scenario Outline: cannot read <what> of a process of the user
      Given the user has a process
      When the step runs the probe "<probe>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | what                             | probe                                              |
        | the environment                  | read /proc/{process}/environ                       |
        | a file that is open              | read /proc/{process}/fd/9                          |
        | the home, by the root            | read /proc/{process}/root/home/dev/.ssh/id_ed25519 |
        | the memory, with process_vm_readv | memory --find kusaw-canary- {process}             |
        | a descriptor, with pidfd_getfd   | pidfd {process} 9                                  |

    # P06: kill, ptrace and kcmp by number
    @case:P06
    Scenario Outline: cannot <what> a process of the user
      Given the user has a process
      When the step runs the probe "<probe>"
      Then no action succeeds
      And the user's process is as it was
      And bare, the same probe succeeds

      Examples:
        | what        | probe              |
        | ask for     | kill {process}     |
        | trace       | ptrace {process}   |
        | compare     | kcmp {process}     |
        | continue    | kill {process} CONT |

    @case:P06
    Scenario Outline: cannot <what> a process of the user by a signal
      Given the user has a process
      When the step runs the probe "kill {process} <signal>"
      Then the user's process is as it was
      And bare, the same probe does it harm

      Examples:
        | what    | signal |
        | end     | TERM   |
        | kill    | KILL   |
        | stop    | STOP   |
        | hang up | HUP    |

    @case:P06
    Scenario: cannot stop a process of the user by tracing it
      Given the user has a process
      When the step runs the probe "ptrace --leave {process}"
      Then the user's process is as it was
      And bare, the same probe succeeds

    @case:P06 @needs:factory
    Scenario: an agent cannot see or end a process of the user
      Given the user has a process
      And the step is run by the provider "claude-code" with the prompt "tools/probe pids bystander-{nonce} + kill {process} KILL"
      When the step is run
      Then it sees no such process
      And the user's process is as it was
      And bare, the probe "pids bystander-{nonce} + kill {process} KILL" does it harm

  @NS-03
  Rule: It runs in a new IPC namespace: the host's System V and POSIX objects are out of reach

    Background:
      Given a sandboxed step
      And the user's programs share memory, semaphores and message queues

    Scenario Outline: its IPC namespace is a new one, with network <network>
      Given the network is <network>
      When the step runs the probe "namespaces self"
      Then its ipc namespace is not the host's
      And bare, its ipc namespace is the host's

      Examples:
        | network   |
        | open      |
        | allowlist |

    Scenario Outline: cannot read <what> of the user's programs
      When the step runs the probe "<probe>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | what                         | probe                     |
        | System V shared memory       | shm {key}                 |
        | a System V message queue     | queue {key}               |
        | POSIX shared memory          | read /dev/shm/lab-{nonce} |
        | a POSIX message queue        | mq /lab-{nonce}           |

    Scenario Outline: cannot read <what> of the user's programs
      When the step runs the probe "<probe>"
      Then no action succeeds
      And bare, the same probe succeeds

      Examples:
        | what                 | probe                    |
        | a System V semaphore | sem {key}                |
        | a POSIX semaphore    | sem-named lab-{nonce}    |

    Scenario Outline: cannot change <what> of the user's programs
      When the step runs the probe "<probe>"
      Then what they share is as it was
      And bare, the same probe changes it

      Examples:
        | what                     | probe                             |
        | System V shared memory   | shm-write {key} evil              |
        | a System V semaphore     | sem-add {key} 1                   |
        | a System V message queue | queue-send {key} evil             |
        | POSIX shared memory      | write /dev/shm/lab-{nonce} evil   |
        | a POSIX message queue    | mq-send /lab-{nonce} evil         |
        | a POSIX semaphore        | write /dev/shm/sem.lab-{nonce} evil |

    Scenario: the keys of the user's System V objects are not listed
      When the step runs the probe "ipcs"
      Then it does not say "{key}"
      And bare, the same probe says "{key}"

    Scenario: what it shares itself cannot be had outside
      When the step runs the probe "shm-make 0x6b757a01 made-inside + shm 0x6b757a01"
      Then every action succeeds
      And the host has no shared memory with the key "0x6b757a01"
      And bare, the same probe makes it there

    @extra @needs:backend
    Scenario Outline: what keeps <what> is its own namespace
      When the step runs the probe "<probe>"
      Then no secret arrives
      And weakened, without "--unshare-ipc", the same probe gets the secret

      Examples:
        | what                     | probe           |
        | System V shared memory   | shm {key}       |
        | a System V message queue | queue {key}     |
        | a POSIX message queue    | mq /lab-{nonce} |

  @NS-04
  Rule: It runs in a new UTS namespace

    Background:
      Given a sandboxed step

    Scenario Outline: its UTS namespace is a new one, with network <network>
      Given the network is <network>
      When the step runs the probe "namespaces self"
      Then its uts namespace is not the host's
      And bare, its uts namespace is the host's

      Examples:
        | network   |
        | open      |
        | allowlist |
