Feature: Keys
  ~/.ssh and ~/.gnupg hold what opens everything else. Nothing of them is visible to a step: no byte, and no name.

  @FS-07
  Rule: Nothing of ~/.ssh and ~/.gnupg can be read: no byte and no name

    Background:
      Given a sandboxed step

    Scenario Outline: cannot read <file>
      When the step runs the probe "read <file>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | file                                  |
        | ~/.ssh/id_ed25519                     |
        | ~/.ssh/config                         |
        | ~/.ssh/known_hosts                    |
        | ~/.gnupg/private-keys-v1.d/0C6A2E.key |
        | ~/.gnupg/pubring.kbx                  |
        | ~/.gnupg/trustdb.gpg                  |

    Scenario Outline: cannot list <folder>
      When the step runs the probe "list <folder>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | folder                     |
        | ~/.ssh                     |
        | ~/.gnupg                   |
        | ~/.gnupg/private-keys-v1.d |

    @linux
    Scenario Outline: cannot see that <path> is there
      When the step runs the probe "stat <path>"
      Then the probe finds nothing there
      And bare, the same probe finds it

      Examples:
        | path                                  |
        | ~/.ssh/id_ed25519                     |
        | ~/.gnupg/private-keys-v1.d            |
        | ~/.gnupg/private-keys-v1.d/0C6A2E.key |

    Scenario Outline: cannot read a key by <road>
      When the step runs the probe "read <path>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | road                     | path                                          |
        | its own root in /proc    | /proc/self/root/home/dev/.ssh/id_ed25519      |
        | dots                     | /home/../home/dev/./.ssh//id_ed25519            |
        | climbing from the cwd | ../../../../../../../../../../../../../../../../../../../../home/dev/.ssh/id_ed25519 |
        | climbing from /proc | /proc/self/cwd/../../../../../../../../../../../../../../../../../../../../home/dev/.ssh/id_ed25519 |

    # Another guard may keep it as well, such as Landlock: then this one is not what keeps it
    @extra @needs:backend
    Scenario Outline: what keeps <path> is the sandbox around it
      When the step runs the probe "<probe>"
      Then no secret arrives
      And weakened, with the host's "<path>" mounted, the same probe gets the secret

      Examples:
        | path     | probe                                      |
        | ~/.ssh   | list ~/.ssh + read ~/.ssh/id_ed25519       |
        | ~/.gnupg | list ~/.gnupg + read ~/.gnupg/trustdb.gpg  |

    @case:R01
    Scenario Outline: cannot <what> through a link that the repository holds
      When the step runs the probe "<probe>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | what          | probe                        |
        | list the keys | list link-to-ssh             |
        | read a key    | read link-to-ssh/id_ed25519  |

    Scenario Outline: cannot read a key through a <kind> that the step makes
      When the step runs the probe "<probe>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | kind                      | probe                                                          |
        | symbolic link             | symlink ~/.ssh/id_ed25519 key-{nonce} + read key-{nonce}         |
        | symbolic link to a folder | symlink ~/.gnupg keys-{nonce} + read keys-{nonce}/trustdb.gpg    |
        | hard link                 | link ~/.ssh/id_ed25519 hard-key-{nonce} + read hard-key-{nonce}  |

    Scenario: cat of the shell cannot read a key either
      When the step runs the shell command "cat ~/.ssh/id_ed25519 ~/.gnupg/trustdb.gpg"
      Then no secret arrives
      And bare, the same probe gets the secret

    # codex 43929: the second of several masks failed
    @case:R10
    Scenario: three secrets are hidden in one attempt
      When the step runs the probe "read ~/.ssh/id_ed25519 + read ~/.gnupg/trustdb.gpg + read ~/.netrc + list ~/.ssh + list ~/.gnupg"
      Then no secret arrives
      And bare, the same probe gets the secret

    @needs:factory
    Scenario Outline: an agent of the provider <provider> cannot read a key either
      Given the step is run by the provider "<provider>" with the prompt "tools/probe <probe>"
      When the step is run
      Then no secret arrives
      And bare, the probe "<probe>" gets the secret

      Examples:
        | provider    | probe                                   |
        | claude-code | read ~/.ssh/id_ed25519 + list ~/.ssh    |
        | cursor      | read ~/.gnupg/trustdb.gpg + list ~/.gnupg |

    @needs:factory
    Scenario Outline: the number of repos makes no difference: <repos>
      Given its active repos have the sandbox "<repos>"
      When the step runs the shell command "cat ~/.ssh/id_ed25519 ~/.gnupg/trustdb.gpg; ls -a ~/.ssh ~/.gnupg"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | repos       |
        | none        |
        | unset+unset |

    Scenario: with network allowlist the keys are hidden as well
      Given the network is allowlist
      When the step runs the probe "read ~/.ssh/id_ed25519 + list ~/.gnupg"
      Then no secret arrives
      And bare, the same probe gets the secret
