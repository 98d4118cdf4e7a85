Feature: A write that does not count fails
  A layer that takes a write and forgets it tells the agent that all is well. What cannot be kept is refused, so that the
  agent sees it. The private home, the temp folder and /dev/shm are the step's own: there a write does succeed.

  @FS-15
  Rule: A write outside fails visibly, except below the private home

    Background:
      Given a sandboxed step

    # sandbox-runtime 149: a hidden folder is a writable tmpfs; writes seem to succeed, and vanish
    @case:W11
    Scenario Outline: fails visibly: a file in <place>
      When the step runs the probe "write <folder>/written-{nonce} x"
      Then no action succeeds
      And bare, the same probe writes "<folder>/written-{nonce}"

      Examples:
        | place                     | folder           |
        | /srv                      | /srv/data        |
        | /opt                      | /opt/data        |
        | /var                      | /var/lib/data    |
        | /mnt                      | /mnt/data        |
        | /media                    | /media/data      |
        | /etc                      | /etc/data        |
        | /usr                      | /usr/local/games |
        | the host's runtime folder | /run/user/42042  |

    @case:W11 @needs:backend
    Scenario Outline: fails visibly: <what>
      When the step runs the probe "<probe>"
      Then no action succeeds
      And weakened, without "<guard>", the same probe succeeds

      Examples:
        | what                     | probe                                 | guard            |
        | a file in the root       | write /written-{nonce} x              | --remount-ro /   |
        | a folder in the root     | mkdir /made-{nonce}                   | --remount-ro /   |
        | a file in /run           | write /run/written-{nonce} x          | --remount-ro /   |
        | a file beside the home   | write /home/written-{nonce} x         | --remount-ro /   |
        | a file in /dev           | write /dev/written-{nonce} x          | --remount-ro /dev |

    # What is prepared for the step is shared by attempts: it goes again where it could be written
    @case:W11 @needs:backend @extra
    Scenario: fails visibly: a file in /etc itself
      When the step runs the probe "write /etc/written-{nonce} x + remove /etc/written-{nonce}"
      Then no action succeeds
      And weakened, with "/etc" writable, the same probe succeeds
