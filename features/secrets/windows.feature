Feature: Windows behind WSL2
  Linux in WSL2 reaches all of Windows: its drives lie below /mnt, and through a socket it starts any program there. A step
  sees neither. The lab has look-alikes of both, so that this is seen on every Linux; no verdict here is one on WSL2.

  @SEC-05 @fixture
  Rule: /mnt and /run/WSL are not visible and WSL_INTEROP is unset

    Background:
      Given a sandboxed step

    Scenario Outline: cannot <what>
      When the step runs the probe "<probe>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | what                                  | probe                                              |
        | read a key of the Windows user        | read /mnt/c/Users/Dev/.ssh/id_ed25519              |
        | list a Windows drive                  | list /mnt/c                                        |
        | list the home of the Windows user     | list /mnt/c/Users/Dev                              |
        | read what distributions share         | read /mnt/wsl/resolv.conf                          |
        | list what distributions share         | list /mnt/wsl                                      |
        | list /run/WSL                         | list /run/WSL                                      |
        | start a Windows program by the socket | socket /run/WSL/1_interop                          |
        | reach the socket by its root in /proc | socket /proc/self/root/run/WSL/1_interop           |
        | reach the socket through a link       | symlink /run/WSL wsl-{nonce} + socket wsl-{nonce}/1_interop |
        | read a drive by its root in /proc     | read /proc/self/root/mnt/c/Users/Dev/.ssh/id_ed25519 |
        | read a drive through a link           | symlink /mnt/c c-{nonce} + list c-{nonce}/Users/Dev |
        | read a drive climbing from its worktree | read ../../../../../../../../../../../../../../../../mnt/c/Users/Dev/.ssh/id_ed25519 |

    Scenario: cannot read a file whose name has blanks
      When the step runs the probe with the arguments
        | read | /mnt/c/Users/Dev/Documents/letter to the bank.docx |
      Then no secret arrives
      And bare, the same probe gets the secret

    Scenario Outline: cannot see that <path> is there
      When the step runs the probe "stat <path>"
      Then the probe finds nothing there
      And bare, the same probe finds it

      Examples:
        | path               |
        | /mnt               |
        | /mnt/c             |
        | /mnt/wsl           |
        | /run/WSL           |
        | /run/WSL/1_interop |

    Scenario: WSL_INTEROP is unset
      When the step runs the probe "env WSL_INTEROP"
      Then it is not set
      And bare, it is set

    @extra
    Scenario: nor does it stand in /proc of any process
      When the step runs the probe "processes --find /run/WSL/"
      Then no process shows it
      And bare, a process shows it

    Scenario: with network allowlist they are hidden as well
      Given the network is allowlist
      When the step runs the probe "list /mnt/c + list /run/WSL + socket /run/WSL/1_interop"
      Then no secret arrives
      And bare, the same probe gets the secret

    @needs:factory
    Scenario: an agent cannot reach them either
      Given the step is run by the provider "claude-code" with the prompt "tools/probe list /mnt/c + socket /run/WSL/1_interop"
      When the step is run
      Then no secret arrives
      And bare, the probe "list /mnt/c + socket /run/WSL/1_interop" gets the secret
