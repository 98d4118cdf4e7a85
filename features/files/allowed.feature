Feature: Paths that are allowed
  What a step needs beyond its worktree, the settings name: allow_read and allow_write. They open what they name, and nothing
  beside it. A user keeps a library: shelves with books, a diary beside them.

  @FS-10
  Rule: allow_read adds reading of that path and nothing beside it; allow_write adds writing of that path and nothing beside it

    Background:
      Given a sandboxed step
      And the user has the secrets
        | {library}/shelf/book          |
        | {library}/shelf/{canary}.txt  |
        | {library}/shelf/inner/page    |
        | {library}/my shelf/a book     |
        | {library}/other/book          |
        | {library}/shelf and more/book |
        | {library}/diary               |
        | {library}/{canary}.txt        |

    Scenario Outline: allow_read of <what> reads <read>
      Given "{library}/<allowed>" may be read
      When the step runs the probe with the arguments
        | read | {library}/<read> |
      Then the secret arrives
      And planted, without the setting no secret arrives

      Examples:
        | what                       | allowed    | read             |
        | a folder                   | shelf      | shelf/book       |
        | a folder with folders      | shelf      | shelf/inner/page |
        | a file                     | shelf/book | shelf/book       |
        | a name with blanks         | my shelf   | my shelf/a book  |
        | a file with blanks         | my shelf/a book | my shelf/a book |
        | a name with a slash behind | shelf/     | shelf/book       |
        | a folder by dots           | other/../shelf | shelf/book   |

    Scenario Outline: allow_read of a folder in <place> reads it
      Given the user has the secrets
        | <place>/library/{nonce}/shelf/book |
      And "<place>/library/{nonce}/shelf" may be read
      When the step runs the probe "read <place>/library/{nonce}/shelf/book"
      Then the secret arrives
      And planted, without the setting no secret arrives

      Examples:
        | place           |
        | /home/dev       |
        | /srv/data       |
        | /opt/data       |
        | /var/lib/data   |
        | /mnt/data       |
        | /tmp            |
        | /run/user/42042 |

    Scenario Outline: allow_read of a link reads <what> that it leads to
      Given "{library}/door" is a link to "{library}/<target>"
      And "{library}/door" may be read
      When the step runs the probe "read {library}/<read>"
      Then the secret arrives
      And planted, without the setting no secret arrives

      Examples:
        | what                   | target     | read       |
        | a book of the folder   | shelf      | door/book  |
        | the file               | shelf/book | door       |

    Scenario: allow_read of one step adds to the factory's
      Given "{library}/other" may be read
      And "{library}/shelf" may be read by this step
      When the step runs the probe "read {library}/other/book + read {library}/shelf/book"
      Then every action succeeds
      And the secret arrives
      And planted, without the setting no secret arrives

    Scenario: with network allowlist what is allowed is read and written as well
      Given the network is allowlist
      And "{library}/shelf" may be written
      When the step runs the probe "read {library}/shelf/book + write {library}/shelf/made x"
      Then the secret arrives
      And on the host, "{library}/shelf/made" holds "x"
      And planted, without the setting it is not so

    @needs:factory
    Scenario: an agent reads what is allowed as well
      Given "{library}/shelf" may be read
      And the step is run by the provider "claude-code" with the prompt "tools/probe read ~/library/{nonce}/shelf/book"
      When the step is run
      Then the secret arrives
      And planted, without the setting no secret arrives

    Scenario: allow_read of another step is not for this one
      Given "{library}/shelf" may be read by another step
      When the step runs the probe "read {library}/shelf/book"
      Then no secret arrives
      And bare, the same probe gets the secret

    Scenario Outline: allow_<how> of a folder does not <what>
      Given "{library}/shelf" may be <allowed>
      When the step runs the probe with the arguments
        | <action> | <path> |
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | how   | allowed | what                                | action | path                               |
        | read  | read    | read a folder beside it             | read   | {library}/other/book               |
        | read  | read    | read what begins with its name      | read   | {library}/shelf and more/book      |
        | read  | read    | read a file beside it               | read   | {library}/diary                    |
        | read  | read    | read a file beside it by dots       | read   | {library}/shelf/../diary           |
        | read  | read    | list the folder above it            | list   | {library}                          |
        | read  | read    | list the home                       | list   | ~                                  |
        | read  | read    | read ~/.ssh                         | read   | ~/.ssh/id_ed25519                  |
        | read  | read    | read ~/.netrc                       | read   | ~/.netrc                           |
        | read  | read    | read another repo                   | read   | {other}/customers.csv              |
        | write | written | read a folder beside it             | read   | {library}/other/book               |
        | write | written | read a file beside it               | read   | {library}/diary                    |
        | write | written | list the folder above it            | list   | {library}                          |
        | write | written | list the home                       | list   | ~                                  |
        | write | written | read ~/.ssh                         | read   | ~/.ssh/id_ed25519                  |

    Scenario Outline: allow_read of a file does not <what>
      Given "{library}/shelf/book" may be read
      When the step runs the probe "<probe>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | what                            | probe                           |
        | read a file in a folder beside it | read {library}/shelf/inner/page |
        | list its folder                 | list {library}/shelf            |
        | list the folder above its own   | list {library}                  |

    Scenario Outline: allow_read does not let a step <what>
      Given the user has a file "{library}/shelf/victim"
      And "{library}/shelf" may be read
      When the step runs the probe "<probe>"
      Then the user's file is as it was
      And bare, the same probe changes the user's file

      Examples:
        | what                        | probe                                                       |
        | append to a file            | append {library}/shelf/victim evil                          |
        | overwrite a file            | write {library}/shelf/victim evil                           |
        | delete a file               | remove {library}/shelf/victim                               |
        | rename a file               | rename {library}/shelf/victim {library}/shelf/moved         |
        | change the mode of a file   | chmod 0777 {library}/shelf/victim                           |
        | write through a link        | symlink {library}/shelf/victim link-{nonce} + append link-{nonce} evil |
        | write through a hard link   | link {library}/shelf/victim hard-{nonce} + append hard-{nonce} evil |
        | write by another road       | append /proc/self/root/home/dev/library/{nonce}/shelf/victim evil |

    Scenario: allow_read of a file does not let a step write it
      Given the user has a file "{library}/shelf/victim"
      And "{library}/shelf/victim" may be read
      When the step runs the probe "append {library}/shelf/victim evil"
      Then the user's file is as it was
      And bare, the same probe changes the user's file

    Scenario Outline: allow_read does not let a step make <what>
      Given "{library}/shelf" may be read
      When the step runs the probe "<probe>"
      Then "{library}/shelf/made" is not there afterwards
      And bare, the same probe writes "{library}/shelf/made"

      Examples:
        | what     | probe                          |
        | a file   | write {library}/shelf/made x   |
        | a folder | mkdir {library}/shelf/made     |
        | a link   | symlink ~ {library}/shelf/made |

    Scenario Outline: allow_write lets a step <what>
      Given "{library}/<allowed>" may be written
      When the step runs the probe with the arguments
        | <action> | {library}/<path> | <word> |
      Then every action succeeds
      And on the host, "{library}/<path>" <state>
      And planted, without the setting it is not so

      Examples:
        | what                               | allowed    | action | path             | word | state          |
        | write a file                       | shelf      | write  | shelf/made       | x    | holds "x"      |
        | change a file                      | shelf      | append | shelf/book       | more | ends in "more" |
        | change the file that is named      | shelf/book | append | shelf/book       | more | ends in "more" |
        | write a file in a folder           | shelf      | write  | shelf/inner/made | x    | holds "x"      |
        | write where the name has blanks    | my shelf   | write  | my shelf/made it | x    | holds "x"      |

    Scenario Outline: allow_write lets a step <what> there
      Given "{library}/shelf" may be written
      When the step runs the probe "<probe>"
      Then every action succeeds
      And on the host, "{library}/shelf/<path>" <state>
      And planted, without the setting it is not so

      Examples:
        | what            | probe                                                     | path  | state       |
        | make a folder   | mkdir {library}/shelf/made                                | made  | is a folder |
        | delete a file   | remove {library}/shelf/book                               | book  | is gone     |
        | rename a file   | rename {library}/shelf/book {library}/shelf/moved         | moved | is a file   |

    Scenario: allow_write of one step adds to the factory's
      Given "{library}/other" may be written
      And "{library}/shelf" may be written by this step
      When the step runs the probe "write {library}/other/made x + write {library}/shelf/made x"
      Then every action succeeds
      And on the host, "{library}/other/made" holds "x"
      And on the host, "{library}/shelf/made" holds "x"
      And planted, without the setting it is not so

    # our reading; the other: allow_write alone does not read
    Scenario: allow_write reads as well
      Given "{library}/shelf" may be written
      When the step runs the probe "read {library}/shelf/book"
      Then the secret arrives
      And planted, without the setting no secret arrives

    Scenario Outline: allow_write of a folder does not let a step write <where>
      Given "{library}/shelf" may be written
      When the step runs the probe "write <path>/made-{nonce} x"
      Then "<path>/made-{nonce}" is not there afterwards
      And bare, the same probe writes "<path>/made-{nonce}"

      Examples:
        | where                 | path                      |
        | beside it             | {library}/other           |
        | in the folder above   | {library}                 |
        | above it by dots      | {library}/shelf/..        |
        | in the home           | ~                         |
        | in ~/.ssh             | ~/.ssh                    |
        | in the repository     | {repository}              |
        | in the factory        | {factory}                 |

    Scenario Outline: allow_write of a folder does not let a step <what> beside it
      Given the user has a file "{library}/other/victim"
      And "{library}/shelf" may be written
      When the step runs the probe "<probe>"
      Then the user's file is as it was
      And bare, the same probe changes the user's file

      Examples:
        | what                             | probe                                                        |
        | append to a file                 | append {library}/other/victim evil                           |
        | write through a link that is there | symlink {library}/other/victim {library}/shelf/l + append {library}/shelf/l evil |
        | write through a link to a folder | symlink {library}/other {library}/shelf/d + append {library}/shelf/d/victim evil |
        | write through a hard link        | link {library}/other/victim {library}/shelf/h + append {library}/shelf/h evil |
        | rename a file of its own to one  | write {library}/shelf/e evil + rename {library}/shelf/e {library}/other/victim |

    # sandbox-runtime 171: the later of two mounts lay over the earlier. What is allowed adds up: below what may be written,
    # allow_read takes nothing away.
    @case:W13
    Scenario Outline: what is allowed for reading, <order> what is allowed for writing, can be read
      Given "{library}/<first>" may be <how>
      And "{library}/<second>" may be <how else>
      When the step runs the probe "read {library}/<read>"
      Then the secret arrives
      And planted, without the setting no secret arrives

      Examples:
        | order                   | read             | first       | how     | second      | how else |
        | below                   | shelf/inner/page | shelf       | written | shelf/inner | read     |
        | below, and named before | shelf/inner/page | shelf/inner | read    | shelf       | written  |
        | above                   | shelf/book       | shelf       | read    | shelf/inner | written  |
        | above, and named after  | shelf/book       | shelf/inner | written | shelf       | read     |

    @case:W13
    Scenario: what is allowed for reading, above what is allowed for writing, cannot be written
      Given the user has a file "{library}/shelf/victim"
      And "{library}/shelf" may be read
      And "{library}/shelf/inner" may be written
      When the step runs the probe "append {library}/shelf/victim evil"
      Then the user's file is as it was
      And bare, the same probe changes the user's file

    @case:W13
    Scenario Outline: what is allowed for writing, <order> what is allowed for reading, can be written
      Given "{library}/<first>" may be <how>
      And "{library}/<second>" may be <how else>
      When the step runs the probe "write {library}/<write>/made x"
      Then every action succeeds
      And on the host, "{library}/<write>/made" holds "x"
      And planted, without the setting it is not so

      Examples:
        | order                   | write       | first       | how     | second      | how else |
        | below                   | shelf/inner | shelf       | read    | shelf/inner | written  |
        | below, and named before | shelf/inner | shelf/inner | written | shelf       | read     |
        | above                   | shelf       | shelf       | written | shelf/inner | read     |
        | in the place of         | shelf       | shelf       | read    | shelf       | written  |
        | named before, in the place of | shelf | shelf       | written | shelf       | read     |

    @case:W13
    Scenario: below a folder that may be read, the worktree can be written
      Given "~/factories" may be read
      When the step runs the probe "write made x"
      Then every action succeeds
      And in the worktree, "made" holds "x"
      And planted, in the worktree of an attempt that did nothing it is not so

    @case:W13 @needs:artifacts
    Scenario: below a folder that may be read, the artifacts can be written
      Given "~/factories" may be read
      When the step runs the probe "write {artifacts}/made x"
      Then every action succeeds
      And in the artifacts, "made" holds "x"
      And planted, in the artifacts of an attempt that did nothing it is not so

    @case:W13
    Scenario: where a folder of /tmp may be read, TMPDIR can be written
      Given the user has the secrets
        | /tmp/library/{nonce}/book |
      And "/tmp/library/{nonce}" may be read
      When the step runs the shell command "tools/probe write ${TMPDIR:-/tmp}/made-there x + write /tmp/made x + read /tmp/library/{nonce}/book"
      Then every action succeeds
      And the secret arrives
      And planted, without the setting no secret arrives

    @needs:factory @extra
    Scenario: a path that is relative is meant from the factory's folder
      Given "../../library/{nonce}/shelf" may be read
      When the step runs the probe "read {library}/shelf/book"
      Then the secret arrives
      And planted, without the setting no secret arrives

    # flatpak CVE-2024-42472, bubblewrap CVE-2026-87766: what one run leaves is what the next run mounts
    @case:W02 @case:W01
    Scenario Outline: a link that an earlier attempt left in an allowed folder does not lead out: <what>
      Given "{library}/shelf" may be written
      And "{library}/shelf/<inner>" may be <how>
      And the user has the secrets
        | {library}/shelf/<inner>/x |
      And the attempt may be refused
      When the step runs the probe "<first>"
      And in a second attempt, the step runs the probe "<second>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | what                                   | inner   | how     | first                                                                          | second                               |
        | to a folder above one that may be read | a/other | read    | rename {library}/shelf/a {library}/shelf/b + symlink {library} {library}/shelf/a | read {library}/shelf/a/other/book  |
        | to a folder above one that may be written | a/other | written | rename {library}/shelf/a {library}/shelf/b + symlink {library} {library}/shelf/a | read {library}/shelf/a/other/book |
        | by a relative way                      | a/other | read    | rename {library}/shelf/a {library}/shelf/b + symlink .. {library}/shelf/a       | read {library}/shelf/a/other/book    |
        | to the home                            | a/.aws  | read    | rename {library}/shelf/a {library}/shelf/b + symlink ~ {library}/shelf/a        | read {library}/shelf/a/.aws/credentials |
        | in place of a folder                   | a/other | read    | rename {library}/shelf/inner {library}/shelf/b + symlink ~/.aws {library}/shelf/inner | read {library}/shelf/inner/credentials |

    @case:W02
    Scenario Outline: a link that an earlier attempt left in its worktree does not lead out, where it may be <how>
      Given the attempt may be refused
      When the step runs the shell command "ln -s ~/.aws/ d"
      And "d" in the worktree of that attempt may be <how> from then on
      And in a second attempt, the step runs the probe "read {allowed}/credentials + read ~/.aws/credentials"
      Then no secret arrives
      And bare, the probe "read {allowed}/credentials" gets the secret

      Examples:
        | how     |
        | read    |
        | written |

    @case:W02 @needs:artifacts
    Scenario Outline: a link that an earlier attempt left in its artifacts does not lead out, where it may be <how>
      Given the attempt may be refused
      When the step runs the shell command "ln -s ~/.aws/ {artifacts}/d"
      And "d" in the artifacts of that attempt may be <how> from then on
      And in a second attempt, the step runs the probe "read {allowed}/credentials + read ~/.aws/credentials"
      Then no secret arrives
      And bare, the probe "read {allowed}/credentials" gets the secret

      Examples:
        | how     |
        | read    |
        | written |

    @case:W02 @extra
    Scenario Outline: a link in a folder that another step may write does not lead out, where it may be <how>
      Given "{library}/shelf/door" is a link to "{library}/other"
      And "{library}/shelf" may be written by another step
      And "{library}/shelf/door" may be <how>
      And the attempt may be refused
      When the step runs the probe "read {library}/shelf/door/book + read {library}/other/book"
      Then no secret arrives
      And bare, the probe "read {library}/shelf/door/book" gets the secret

      Examples:
        | how     |
        | read    |
        | written |

    # Cursor CVE-2026-50549: what could not be resolved was taken as it was written
    @case:W04 @needs:factory @extra
    Scenario Outline: allow_<how> of <what> is refused
      Given "{library}/loop" is a link to "{library}/loop"
      And "{library}/dangling" is a link to "{library}/nowhere"
      And nobody may open the folder "{library}/closed"
      And the step leaves a mark
      And "{library}/<path>" may be <allowed>
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, with mode required alone the mark is found

      Examples:
        | how   | allowed | what                              | path        |
        | read  | read    | a link to itself                  | loop        |
        | read  | read    | a path through a link to itself   | loop/book   |
        | read  | read    | a link to nowhere                 | dangling    |
        | read  | read    | a path that is not there          | nowhere     |
        | read  | read    | a path through a file             | diary/page  |
        | read  | read    | a path in a folder that is closed | closed/book |
        | write | written | a link to itself                  | loop        |
        | write | written | a path through a link to itself   | loop/book   |
        | write | written | a link to nowhere                 | dangling    |
        | write | written | a path that is not there          | nowhere     |
        | write | written | a path in a folder that is closed | closed/book |
