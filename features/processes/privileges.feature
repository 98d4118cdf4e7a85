Feature: Privileges
  What the documentation does not name and the reference promises besides: no capability, no new privileges, no way to the
  machine's own sockets, and a first process of the sandbox that shows nothing of itself but its name and command line.

  @NS-12
  Rule: No capabilities, no_new_privs, no TIOCLINUX, no vsock; pid 1 of the sandbox cannot be traced or read

    Background:
      Given a sandboxed step

    Scenario Outline: it has no capability, with network <network>
      Given the network is <network>
      When the step runs the probe "status self"
      Then it has no capability, not even in its bounding set
      And bare, it has one

      Examples:
        | network   |
        | open      |
        | allowlist |

    Scenario: it cannot gain privileges by executing a file
      When the step runs the probe "status self"
      Then no program that it starts can gain privileges
      And bare, it could

    # pid 1 is the sandbox's own: its memory and environment are the launcher's, its executable is run outside (runc CVE-2019-5736)
    @case:P08
    Scenario Outline: cannot <what> pid 1
      Given the user has a process
      When the step runs the probe "<probe>"
      Then no action succeeds
      And bare, the probe "<bare>" succeeds

      Examples:
        | what                      | probe                | bare                            |
        | trace                     | ptrace 1             | ptrace {process}                |
        | read the memory of        | memory 1             | memory {process}                |
        | compare itself with       | kcmp 1               | kcmp {process}                  |
        | take a descriptor of      | pidfd 1 0            | pidfd {process} 9               |
        | read the environment of   | read /proc/1/environ | read /proc/{process}/environ    |
        | read the executable of    | read /proc/1/exe     | read /proc/{process}/exe        |
        | see the memory map of     | read /proc/1/maps    | read /proc/{process}/maps       |
        | see the descriptors of    | list /proc/1/fd      | list /proc/{process}/fd         |
        | see the root of           | list /proc/1/root/   | list /proc/{process}/root/      |
        | see the working folder of | list /proc/1/cwd/    | list /proc/{process}/cwd/       |
        | see the namespaces of     | namespaces 1         | namespaces {process}            |

    # KVM guests and WSL2: the hypervisor answers there, whatever network namespace asks
    Scenario Outline: cannot make a socket to the hypervisor <how>
      When the step runs the probe "<probe>"
      Then no action succeeds
      And bare, the same probe makes one, if the kernel has them

      Examples:
        | how                                       | probe                    |
        | with socket(2)                            | socket-type vsock        |
        | with a family that has more bits          | socket-type vsock --high |
        | through a ring of io_uring                | io-uring vsock           |

    Scenario Outline: cannot ask the console <how>
      When the step runs the probe "<probe>"
      Then it is refused with "EPERM"
      And bare, the same probe is answered otherwise

      Examples:
        | how                               | probe                 |
        | to paste (TIOCLINUX)              | tioclinux 0           |
        | with a request that has more bits | tioclinux 0 --high    |

  @NS-15
  Rule: A kernel escape is not stopped: the kernel is shared

    Background:
      Given a sandboxed step

    @needs:check
    Scenario: it says so
      When it is asked what it does not protect from
      Then it says "Kernel escapes: a shared-kernel process sandbox"
      And planted, without --verbose it does not say it
