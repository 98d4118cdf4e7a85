@needs:factory @needs:check @needs:availability
Feature: Can this machine run the sandbox
  sandbox check says it before anything is run, and by its exit code. With --verbose it says what even a working sandbox does not
  protect from.

  @CLI-01
  Rule: sandbox check reports whether this machine can run the backend; --verbose prints the documented list of what is not protected

    Scenario: it says that this machine can run the backend
      When its command "check" is asked whether this machine can run the backend
      Then it says that it can
      And planted, with bubblewrap not on PATH it says that it cannot, why, and a fix

    @case:C04 @case:C01
    Scenario Outline: it says that this machine cannot run the backend when <fault>
      Given <fault>
      When its command "check" is asked whether this machine can run the backend
      Then it says that it cannot, why, and a fix
      And planted, without the fault it says that it can

      Examples:
        | fault                         |
        | bubblewrap is not on PATH     |
        | bubblewrap cannot be executed |
        | bubblewrap does "exit 0"      |
        | bubblewrap does "exit 1"      |
        | user namespaces are off       |
        | network namespaces are off    |
        | /proc is masked               |

    # The documentation's list, word for word
    Scenario Outline: --verbose prints that it does not protect from this: <words>
      When it is asked what it does not protect from
      Then it says "<words>"
      And planted, without --verbose it does not say it

      Examples:
        | words                                                                                                                          |
        | Kernel escapes: a shared-kernel process sandbox (about as strong as a container on Linux; weaker than a VM on macOS).          |
        | network: open (the default) leaves the network, including services on the host's localhost (a dev server, a local database), unrestricted. Capability network stays not_supported until the factory opts into allowlist. |
        | Login tokens or login folders an agent CLI must hold itself stay inside the sandbox (Q98). Only API keys for clients that accept a custom endpoint are kept out via inject. |
        | Tools that ignore HTTP_PROXY/HTTPS_PROXY fail closed in allowlist mode (kusaw sandbox doctor lists them as W1).                |
        | macOS process listing: the profile blocks ps and signals to other processes, but there is no PID namespace. Paths outside the sandbox can be checked for existence, size and dates, not read. |
        | macOS detached processes: a process that calls setsid survives the attempt, still under the profile.                           |
        | Linux and WSL: the agent's own login folders, which are mounted for it. macOS: the agent's login token, which is in that step's env. |
        | Anything in sandbox.allow_read or sandbox.allow_write.                                                                         |
