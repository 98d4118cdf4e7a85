Feature: Links
  A link is a name for another place. Inside, it leads nowhere that the step could not go itself.

  @FS-12
  Rule: Links do not lead out

    Background:
      Given a sandboxed step

    # Claude Code CVE-2026-25724: a link inside the worktree reads a denied file
    @case:R01
    Scenario Outline: cannot read a secret through <road>
      When the step runs the probe "<probe>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | road                              | probe                                                                          |
        | a link to a file                  | symlink ~/.netrc l-{nonce} + read l-{nonce}                                    |
        | a link to a folder                | symlink ~/.aws d-{nonce} + read d-{nonce}/credentials                          |
        | a link to a link                  | symlink ~/.netrc a-{nonce} + symlink a-{nonce} b-{nonce} + read b-{nonce}      |
        | a link that climbs                | symlink ../../../../../../../../../../../../home/dev/.netrc u-{nonce} + read u-{nonce} |
        | a link in a folder it made        | mkdir m-{nonce} + symlink ~/.ssh m-{nonce}/s + list m-{nonce}/s                |
        | a link that was renamed           | symlink ~/.netrc r-{nonce} + rename r-{nonce} n-{nonce} + read n-{nonce}       |
        | a link put in place of a file     | symlink ~/.netrc x-{nonce} + write y-{nonce} x + rename x-{nonce} y-{nonce} + read y-{nonce} |
        | a hard link                       | link ~/.netrc h-{nonce} + read h-{nonce}                                       |
        | its root in /proc                 | symlink /proc/self/root/home/dev/.netrc p-{nonce} + read p-{nonce}             |
        | its working folder in /proc       | read /proc/self/cwd/../../../../../../../../../../../../../../home/dev/.netrc  |
        | a link of the repository          | read link-to-ssh/id_ed25519                                                    |

    # Another guard may keep it as well, such as Landlock: then this one is not what keeps it
    @extra @needs:backend
    Scenario Outline: what keeps <road> from the secret is the sandbox around it
      When the step runs the probe "<probe>"
      Then no secret arrives
      And weakened, with the host's "~/.aws" mounted, the same probe gets the secret

      Examples:
        | road        | probe                                                                |
        | a link      | symlink ~/.aws d-{nonce} + read d-{nonce}/credentials                |
        | /proc       | read /proc/self/root/home/dev/.aws/credentials                       |

    Scenario Outline: cannot change a file of the user through <road>
      Given the user has a file "~/victim-{nonce}"
      When the step runs the probe "<probe>"
      Then the user's file is as it was
      And bare, the same probe changes the user's file

      Examples:
        | road                        | probe                                                                        |
        | a link to it                | symlink ~/victim-{nonce} l-{nonce} + write l-{nonce} evil                    |
        | a link to its folder        | symlink ~ d-{nonce} + append d-{nonce}/victim-{nonce} evil                   |
        | a link to a link            | symlink ~/victim-{nonce} a-{nonce} + symlink a-{nonce} b-{nonce} + append b-{nonce} evil |
        | a hard link                 | link ~/victim-{nonce} h-{nonce} + append h-{nonce} evil                      |
        | a rename into its place     | write e-{nonce} evil + rename e-{nonce} ~/victim-{nonce}                     |
        | a rename through a link     | symlink ~ d-{nonce} + write e-{nonce} evil + rename e-{nonce} d-{nonce}/victim-{nonce} |
        | a removal through a link    | symlink ~ d-{nonce} + remove d-{nonce}/victim-{nonce}                        |
        | a mode through a link       | symlink ~/victim-{nonce} l-{nonce} + chmod 0777 l-{nonce}                    |
        | its root in /proc           | append /proc/self/root/home/dev/victim-{nonce} evil                          |

    Scenario: a link that an earlier attempt left does not help a later one
      Given the user has a file "~/victim-{nonce}"
      When the step runs the probe "symlink ~/victim-{nonce} left-{nonce}"
      And in a second attempt, the step runs the probe "append left-{nonce} evil + symlink ~/victim-{nonce} own-{nonce} + append own-{nonce} evil"
      Then the user's file is as it was
      And bare, the same probe changes the user's file

    Scenario Outline: with network allowlist links do not lead out either: <road>
      Given the network is allowlist
      When the step runs the probe "<probe>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | road               | probe                                                                      |
        | a link to a folder | symlink ~/.aws d-{nonce} + read d-{nonce}/credentials                      |
        | a link to a repo   | symlink /srv/data d-{nonce} + read d-{nonce}/repo/customers.csv            |
        | its root in /proc  | symlink /proc/self/root/home/dev/.netrc p-{nonce} + read p-{nonce}         |
