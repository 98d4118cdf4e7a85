@needs:factory @needs:check @needs:status @needs:block @needs:doctor @needs:availability @needs:outcome
Feature: What commands say, and what they never say
  Where a launch is refused because of this machine, every command that tells of it gives the same reason, and a fix; where a
  launch works, all of them say so. A secret goes in once, by a command that reads it, and comes out in one place, the
  environment of its step.

  @CLI-08
  Rule: A secret is never in the settings file, argv or output; check, doctor and a launch never disagree; every reason has a fix

    Background:
      Given a sandboxed step
      And the step leaves a mark

    # The control of what they say below: nothing is wrong there but the fault
    Scenario Outline: each says that steps can be sandboxed where nothing is wrong, with network <network>
      Given the network is <network>
      When the step is run
      And each of its commands is asked whether this machine can run the backend
      Then each says that it can
      And the mark is found
      And planted, with bubblewrap not on PATH each says that it cannot, why, and a fix

      Examples:
        | network   |
        | open      |
        | allowlist |

    @case:C10 @case:C01 @case:C11
    Scenario Outline: each says why and what to do when <fault>
      Given <fault>
      When the step is run
      And each of its commands is asked whether this machine can run the backend
      Then the attempt is refused
      And each says the reason of the launch, and a fix
      And no mark is found
      And planted, without the fault the mark is found

      Examples: nothing but the machine itself
        | fault                                       |
        | bubblewrap is not on PATH                   |
        | bubblewrap cannot be executed               |
        | user namespaces are off                     |
        | a filter of system calls forbids user namespaces |
        | a filter of system calls forbids pivot_root |
        | what is to be mounted at "/tmp" is missing  |
        | what is to be mounted at "/dev" is missing  |
        | what is to be mounted at "/usr" is missing  |
        | bubblewrap does "exit 0"                    |
        | bubblewrap does "kill -9 $$"                |
        | /proc is masked                             |

    @case:C10
    Scenario Outline: each says why and what to do when <fault>, with network allowlist
      Given the network is allowlist
      And <fault>
      When the step is run
      And each of its commands is asked whether this machine can run the backend
      Then the attempt is refused
      And each says the reason of the launch, and a fix
      And no mark is found
      And planted, without the fault the mark is found

      Examples:
        | fault                      |
        | network namespaces are off |
        | no program can listen      |

    @extra @needs:parts @case:C10
    Scenario: each says why and what to do when the program that it starts inside is missing
      Given the program that it starts inside is missing
      When the step is run
      And each of its commands is asked whether this machine can run the backend
      Then the attempt is refused with the reason "stage-missing"
      And each says the reason of the launch, and a fix
      And no mark is found
      And planted, without the fault the mark is found

    @extra @case:C02
    # What bubblewrap says, and the reason the reference gives for it
    Scenario Outline: each says <reason> when bubblewrap says "<words>"
      Given bubblewrap does "echo 'bwrap: <words>' >&2; exit 1"
      When the step is run
      And each of its commands is asked whether this machine can run the backend
      Then the attempt is refused with the reason "<reason>"
      And each says the reason of the launch, and a fix
      And no mark is found
      And planted, without the fault the mark is found

      Examples:
        | reason          | words                                                                                               |
        | userns-limit    | unshare user ns: No space left on device                                                            |
        | setuid-bwrap    | setuid use of bubblewrap is not supported                                                           |
        | setuid-bwrap    | cannot open /proc/sys/user/max_user_namespaces: Permission denied                                   |
        | apparmor-userns | setting up uid map: Permission denied                                                               |
        | apparmor-userns | loopback: Failed RTM_NEWADDR: Operation not permitted                                               |
        | too-many-mounts | Exceeded maximum number of arguments 9000                                                           |
        | bwrap-too-old   | Unknown option --as-pid-1                                                                           |
        | bwrap-failed    | something nobody has seen before                                                                    |

    @extra @case:C10
    # Not of the machine's making: what is wrong with one step alone
    Scenario Outline: the doctor says what one step would be refused for: <what>
      Given <what>
      When the step is run
      And its doctor is asked for
      Then the attempt is refused with the reason "<reason>"
      And the doctor says "<reason>" in one line with "fix"
      And no mark is found
      And planted, with mode required alone the mark is found
      And planted, with mode required alone the doctor does not say it

      Examples:
        | reason          | what                                         |
        | unresolved-path | "/srv/data/nowhere-{nonce}" may be read      |
        | not-supported   | the step's setting "requires" is "[network]" |

    @extra @needs:secret
    Scenario: it is in the argv of no process, and in no environment but the step's
      Given the network is allowlist
      When a secret is kept for the step, the step has it, and the factory is asked all it can be
      Then the step had it, by its digest
      And it was in no argv, and in no environment outside the step
      And planted, as an argument and a variable of a process it is seen

    @extra @needs:secret
    Scenario: no command prints it
      Given the network is allowlist
      When a secret is kept for the step, the step has it, and the factory is asked all it can be
      Then the step had it, by its digest
      And nobody printed it
      And planted, a step that prints it is seen to

    @extra @needs:secret
    Scenario: it is in no file: settings, records, the store, temporary folders
      Given the network is allowlist
      When a secret is kept for the step, the step has it, and the factory is asked all it can be
      Then the step had it, by its digest
      And no file of the user's holds it
      And planted, in the settings it is found
