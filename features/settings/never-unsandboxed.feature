@needs:factory
Feature: Required means required
  Whatever is missing or broken on the host, an attempt that must be sandboxed is not run without a sandbox. The step of
  every case leaves a mark in its worktree and one outside: neither may be found.

  @SET-03
  Rule: A required attempt never runs unsandboxed: whatever is missing or broken, nothing is executed

    Background:
      Given a sandboxed step
      And the step leaves a mark

    Scenario Outline: nothing is executed when <fault>
      Given <fault>
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, without the fault the mark is found

      Examples: the sandbox program
        | fault                                               |
        | bubblewrap is not on PATH                           |
        | bubblewrap cannot be executed                       |
        | bubblewrap does "exit 1"                            |
        | bubblewrap does "exit 0"                            |
        | bubblewrap does "kill -9 $$"                        |
        | bubblewrap does "sleep 600"                         |
        | bubblewrap does "sleep 600 & exit 1"                |
        | bubblewrap does "head -c 20000000 /dev/zero >&2; exit 1" |

      Examples: the host
        | fault                   |
        | user namespaces are off |
        | /proc is masked         |

    Scenario: nothing is executed when the repository is broken
      Given the repository is broken
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, with the repository mended the mark is found

    Scenario: nothing is executed unsandboxed when TMPDIR is not there
      Given TMPDIR is not there
      When the step is run
      Then no mark is found outside
      And planted, without the sandbox the mark is found outside

    Scenario Outline: nothing is executed when <fault> and the network is allowlist
      Given the network is allowlist
      And <fault>
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, without the fault the mark is found

      Examples:
        | fault                         |
        | bubblewrap is not on PATH     |
        | bubblewrap does "exit 1"      |
        | user namespaces are off       |
        | /proc is masked               |
        | no program can listen         |

    Scenario Outline: nothing is executed unsandboxed with <limit> open files and network <network>
      Given the network is <network>
      And no more than <limit> files can be open
      When the step is run
      Then no mark is found outside
      And planted, without the sandbox the mark is found outside

      Examples:
        | limit | network   |
        | 4     | open      |
        | 6     | open      |
        | 8     | open      |
        | 10    | open      |
        | 12    | open      |
        | 14    | open      |
        | 16    | open      |
        | 20    | open      |
        | 6     | allowlist |
        | 10    | allowlist |
        | 14    | allowlist |
        | 16    | allowlist |
        | 18    | allowlist |
        | 20    | allowlist |
        | 24    | allowlist |

    Scenario Outline: it makes no difference that the step's value comes from <place>
      Given a step whose sandbox is "<step>"
      And its active repos have the sandbox "<repos>"
      And the factory's sandbox mode is "<mode>"
      And bubblewrap does "exit 1"
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, without the fault the mark is found

      Examples:
        | place       | step             | repos    | mode     |
        | the step    | required         | off      | off      |
        | its mapping | {mode: required} | off      | off      |
        | a repo      | unset            | required | off      |
        | the factory | unset            | unset    | required |

    Scenario: an agent is not run either
      Given the step is run by the provider "claude-code" with a prompt that leaves a mark
      And bubblewrap is not on PATH
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, without the fault the mark is found

    @extra
    @case:C02
    # What bubblewrap says, and the reason the reference gives for it
    Scenario Outline: the reason is <reason> when bubblewrap says "<words>"
      Given bubblewrap does "echo 'bwrap: <words>' >&2; exit 1"
      When the step is run
      Then the attempt is refused with the reason "<reason>"
      And no mark is found
      And planted, without the fault the mark is found

      Examples:
        | reason            | words                                                                                                      |
        | userns-limit      | Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)           |
        | userns-denied     | No permissions to create a new namespace, likely because the kernel does not allow non-privileged user namespaces. |
        | proc-masked       | Can't mount proc on /newroot/proc: Operation not permitted                                                 |
        | container-seccomp | pivot_root: Operation not permitted                                                                        |
        | setuid-bwrap      | setuid use of bubblewrap is not supported                                                                  |
        | apparmor-userns   | setting up uid map: Permission denied                                                                      |
        | apparmor-userns   | loopback: Failed RTM_NEWADDR: Operation not permitted                                                      |
        | too-many-mounts   | Exceeded maximum number of arguments 9000                                                                  |
        | bwrap-too-old     | Unknown option --as-pid-1                                                                                  |
        | bwrap-failed      | something nobody has seen before                                                                           |

    @extra
    Scenario: nothing is executed when bubblewrap runs the command without a sandbox
      Given bubblewrap does "while [ x$1 != x-- ]; do shift; done; shift; exec "$@""
      When the step is run
      Then the attempt is refused with the reason "bwrap-failed"
      And no mark is found
      And planted, without the fault the mark is found

    @extra
    Scenario: nothing is executed when bubblewrap gives user and PID namespaces only
      Given bubblewrap does "while [ x$1 != x-- ]; do shift; done; shift; exec unshare -Uprf --kill-child "$@""
      When the step is run
      Then the attempt is refused with the reason "bwrap-failed"
      And no mark is found
      And planted, without the fault the mark is found

    @extra @needs:parts
    Scenario: nothing is executed when the program that it starts inside is missing
      Given the program that it starts inside is missing
      When the step is run
      Then the attempt is refused with the reason "stage-missing"
      And no mark is found
      And planted, without the fault the mark is found

    @extra
    Scenario Outline: the reason is <reason> when <fault>
      Given <fault>
      When the step is run
      Then the attempt is refused with the reason "<reason>"
      And no mark is found
      And planted, without the fault the mark is found

      Examples:
        | reason            | fault                                            |
        | no-bwrap          | bubblewrap is not on PATH                        |
        | no-bwrap          | bubblewrap cannot be executed                    |
        | bwrap-timeout     | bubblewrap does "sleep 600"                      |
        | userns-limit      | user namespaces are off                          |
        | userns-denied     | a filter of system calls forbids user namespaces |
        | container-seccomp | a filter of system calls forbids pivot_root      |
        | bwrap-failed      | what is to be mounted at "/tmp" is missing       |
        | proc-masked       | /proc is masked                                  |

    @extra
    Scenario: the reason is userns-limit when network namespaces are off
      Given the network is allowlist
      And network namespaces are off
      When the step is run
      Then the attempt is refused with the reason "userns-limit"
      And no mark is found
      And planted, without the fault the mark is found

    @extra
    Scenario: the reason is proxy-failed when no program can listen
      Given the network is allowlist
      And no program can listen
      When the step is run
      Then the attempt is refused with the reason "proxy-failed"
      And no mark is found
      And planted, without the fault the mark is found
