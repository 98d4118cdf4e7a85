Feature: Agents that hold keys
  An SSH or GPG agent signs for whoever reaches its socket. Signing stays outside.
  Each listener of the lab answers a connection with a token, so that being reached is a secret that arrives.

  @SEC-02
  Rule: SSH agent and GPG agent sockets are not visible inside and cannot be reached

    Background:
      Given a sandboxed step

    # navikt/cplt 240: agents in /tmp, where a temp folder is shared
    @case:S06
    Scenario Outline: cannot reach <what>
      When the step runs the probe "socket <path>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | what                               | path                                  |
        | the SSH agent of SSH_AUTH_SOCK     | /run/user/42042/ssh-agent             |
        | an SSH agent in /tmp               | /tmp/ssh-lab/agent.1                  |
        | the GPG agent of the runtime folder | /run/user/42042/gnupg/S.gpg-agent    |
        | the GPG agent of ~/.gnupg          | ~/.gnupg/S.gpg-agent                  |
        | the GPG agent's SSH socket         | /run/user/42042/gnupg/S.gpg-agent.ssh |

    # macOS lets existence be seen (FS-14)
    @linux
    Scenario Outline: cannot see <what>
      When the step runs the probe "stat <path>"
      Then the probe finds nothing there
      And bare, the same probe finds it

      Examples:
        | what          | path                              |
        | the SSH agent | /run/user/42042/ssh-agent         |
        | the GPG agent | /run/user/42042/gnupg/S.gpg-agent |
        | ~/.gnupg      | ~/.gnupg/S.gpg-agent              |

    # Another guard may keep it as well, such as a filter of socket(2): then this one is not what keeps it
    @extra @needs:backend
    Scenario Outline: what keeps <what> is the sandbox around it
      When the step runs the probe "socket <path>"
      Then no secret arrives
      And weakened, with the host's "<shown>" mounted, the same probe gets the secret

      Examples:
        | what                | path                              | shown           |
        | the SSH agent       | /run/user/42042/ssh-agent         | /run/user/42042 |
        | the GPG agent       | ~/.gnupg/S.gpg-agent              | ~/.gnupg        |

    Scenario: cannot reach the SSH agent by another road
      When the step runs the probe "socket /proc/self/root/run/user/42042/ssh-agent + symlink /run/user/42042/ssh-agent agent + socket agent"
      Then no secret arrives
      And bare, the same probe gets the secret

    Scenario: with network allowlist the agents are out of reach as well
      Given the network is allowlist
      When the step runs the probe "socket /run/user/42042/ssh-agent + socket ~/.gnupg/S.gpg-agent"
      Then no secret arrives
      And bare, the same probe gets the secret

  @SEC-10
  Rule: SSH_AUTH_SOCK, GPG_AGENT_INFO, DBUS_SESSION_BUS_ADDRESS, DOCKER_HOST and the like are unset

    Background:
      Given a sandboxed step

    Scenario Outline: <variable> is unset
      When the step runs the probe "env <variable>"
      Then it is not set
      And bare, it is set

      Examples:
        | variable                 |
        | SSH_AUTH_SOCK            |
        | GPG_AGENT_INFO           |
        | DBUS_SESSION_BUS_ADDRESS |
        | DOCKER_HOST              |
        | WAYLAND_DISPLAY          |
        | XAUTHORITY               |
        | DISPLAY                  |
        | TMUX                     |
        | VSCODE_IPC_HOOK_CLI      |
