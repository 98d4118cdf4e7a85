Feature: The environment a step inherits
  Whoever starts a factory has tokens in the environment. None of them is for a step.

  @SEC-06
  Rule: The step sees only the documented list of variables, also in /proc of any process it can see

    Background:
      Given a sandboxed step

    Scenario: the caller's variables do not arrive
      When the step runs the probe "env"
      Then no secret arrives
      And bare, the same probe gets the secret

    Scenario Outline: no variable arrives but those of the list, with network <network>
      Given the network is <network>
      When the step runs the probe "env"
      Then it sees no variable but
        | PATH, HOME, USER, LOGNAME, SHELL, TERM, COLORTERM, TZ, LANG, LANGUAGE, LC_*      |
        | TMPDIR, XDG_CACHE_HOME, XDG_RUNTIME_DIR, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS      |
        | GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL, GIT_COMMITTER_NAME, GIT_COMMITTER_EMAIL       |
        | GIT_CONFIG_SYSTEM                                                               |
        | HTTPS_PROXY, HTTP_PROXY, NO_PROXY, https_proxy, http_proxy, no_proxy             |
        | ALL_PROXY, all_proxy, NODE_USE_ENV_PROXY, PWD                                    |
      And bare, it sees others

      Examples:
        | network   |
        | open      |
        | allowlist |

    # bubblewrap 725: variables that were cleared for the step stand in /proc/1/environ
    @case:R04
    Scenario: nor do they stand in /proc of any process
      When the step runs the shell command "cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\0' '\n'"
      Then no secret arrives
      And bare, the same probe gets the secret

    # bubblewrap 535, sandlock 11: what a process of the host works in, has open, and has in its environment
    @case:R12
    Scenario Outline: no process that it can see shows <what>
      When the step runs the probe "processes --find <text>"
      Then no process shows it
      And bare, a process shows it

      Examples:
        | what                                       | text       |
        | a variable of its environment              | LAB_TOKEN   |
        | its command line                           | lab-service |
        | a variable of the caller                   | CALLERS_OWN |
        | the folder of keys as the place it works   | /dev/.ssh   |
        | a key that it has open                     | id_ed25519  |

    @case:R12
    Scenario: nothing is read by way of where another process is
      When the step runs the shell command "cat /proc/[0-9]*/cwd/id_ed25519 /proc/[0-9]*/root/home/dev/.ssh/id_ed25519 2>/dev/null"
      Then no secret arrives
      And bare, the same probe gets the secret

    @case:R12
    Scenario: nor with network allowlist
      Given the network is allowlist
      When the step runs the probe "processes --find LAB_TOKEN --find /dev/.ssh"
      Then no process shows it
      And bare, a process shows it

    @case:I01 @needs:factory
    Scenario: the step's own variables do arrive
      Given the step has the variable "OWN" with "its value"
      When the step runs the probe "env OWN CALLERS_OWN"
      Then the variable "OWN" is "its value"
      And the variable "CALLERS_OWN" is not set
      And bare, it is set
