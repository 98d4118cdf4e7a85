Feature: Sockets that are no files
  A socket with an abstract name (unix(7)) is found by whoever shares the network namespace, whatever is mounted: X11, session
  buses and editors listen on such. Machines have sockets to their hypervisor (vsock(7)), for which no namespace counts.

  @NET-06
  Rule: Abstract unix sockets of the host are not reachable, in open mode either (where the kernel can scope them); nor is AF_VSOCK

    Background:
      Given a sandboxed step

    # cplt 240: with an open network the network namespace is the host's
    @case:S04 @needs:landlock-scope
    Scenario Outline: with an open network, cannot reach an abstract socket <how>
      When the step runs the probe "<probe>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | how                            | probe                                  |
        | of a service                   | socket @lab-abstract                   |
        | from a user namespace          | userns + socket @lab-abstract          |
        | from namespaces of mounts and IPC | userns + unshare mnt ipc + socket @lab-abstract |

    @case:S04
    Scenario: with network allowlist, cannot reach an abstract socket of a service
      Given the network is allowlist
      When the step runs the probe "socket @lab-abstract"
      Then no secret arrives
      And bare, the same probe gets the secret

    Scenario Outline: cannot make a socket to the hypervisor, with network <network>
      Given the network is <network>
      When the step runs the probe "socket-type vsock"
      Then no action succeeds
      And bare, the same probe makes one, if the kernel has them

      Examples:
        | network   |
        | open      |
        | allowlist |

    # Test runners and browsers talk to themselves by such names
    @extra @program:python3
    Scenario: its own abstract sockets work
      When the step runs the shell command "python3 -c 'from socket import *; a = socket(AF_UNIX); a.bind(chr(0) + "own-{nonce}"); a.listen(); socket(AF_UNIX).connect(chr(0) + "own-{nonce}"); open("said", "w")'"
      Then in the worktree, "said" is a file
      And planted, in the worktree of an attempt that did nothing it is not so
