Feature: Services of the host
  What listens on a socket of the host does things outside of any sandbox: it starts programs, mounts folders, unlocks keys.

  @SEC-03
  Rule: The D-Bus session socket is not mounted and cannot be reached by its path

    Background:
      Given a sandboxed step

    Scenario Outline: cannot <what> the session bus
      When the step runs the probe "<probe>"
      Then no secret arrives
      And the probe finds nothing there
      And bare, the same probe finds it

      Examples:
        | what    | probe                           |
        | see     | stat /run/user/42042/bus        |
        | reach   | socket /run/user/42042/bus      |
        | reach, by another road, | socket /proc/self/root/run/user/42042/bus |

    # Another guard may keep it as well, such as a filter of socket(2): then this one is not what keeps it
    @extra @needs:backend
    Scenario: what keeps the session bus is the sandbox around it
      When the step runs the probe "socket /run/user/42042/bus"
      Then no secret arrives
      And weakened, with the host's "/run/user/42042" mounted, the same probe gets the secret

    # ai-jail 106: hiding a path failed because a socket was there
    @case:S10
    Scenario: a step starts although the session bus is a socket
      When the step runs the shell command "test -e /run/user/42042/bus || echo ran >proof"
      Then in the worktree, "proof" ends in "ran"
      And planted, in the worktree of an attempt that did nothing it is not so

  @SEC-09
  Rule: Sockets of other host services are not reachable

    Background:
      Given a sandboxed step

    # Zouuup/landrun 43, greywall 55, gemini-cli 28999: a command outside by way of a socket
    @case:S02 @case:S03 @case:S07
    Scenario Outline: cannot reach <what>
      When the step runs the probe "socket <path>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | what                           | path                                 |
        | the user's service manager     | /run/user/42042/systemd/private      |
        | a container engine of the user | /run/user/42042/docker.sock          |
        | podman                         | /run/user/42042/podman/podman.sock   |
        | a container engine in the home | ~/.docker/run/docker.sock            |
        | a container engine             | /run/docker.sock                     |
        | containerd                     | /run/containerd/containerd.sock      |
        | libvirt                        | /run/libvirt/libvirt-sock            |
        | libvirt of the user            | /run/user/42042/libvirt/libvirt-sock |
        | X11                            | /tmp/.X11-unix/X0                    |
        | Wayland                        | /run/user/42042/wayland-0            |
        | sound                          | /run/user/42042/pulse/native         |
        | sound and video                | /run/user/42042/pipewire-0           |
        | the bus of screen readers      | /run/user/42042/at-spi/bus_0         |
        | an editor                      | /run/user/42042/vscode-ipc-1.sock    |
        | tmux                           | /tmp/tmux-42042/default              |

    # greywall 55, cplt 240: a mount that is read-only does not stop connect(2)
    @case:S01
    Scenario Outline: cannot reach <what> although the place is often mounted
      When the step runs the probe "socket <path>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | what                                    | path                                    |
        | a service with a socket in /etc         | /etc/lab/socket                         |
        | a container engine through /var/run     | /var/run/docker.sock                    |
        | a container engine by its root in /proc | /proc/self/root/run/docker/docker.sock  |
        | a container engine from /usr            | /usr/bin/../../run/docker/docker.sock   |

    Scenario: a sweep for sockets in the places of services finds none
      When the step runs the shell command "find /run /var/run/ /etc -type s 2>/dev/null | while read -r s; do tools/probe socket $s; done"
      Then no secret arrives
      And bare, the same probe gets the secret

    Scenario: with network allowlist they are out of reach as well
      Given the network is allowlist
      When the step runs the probe "socket /run/docker.sock + socket /run/user/42042/systemd/private + socket /tmp/.X11-unix/X0"
      Then no secret arrives
      And bare, the same probe gets the secret
