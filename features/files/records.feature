@needs:factory
Feature: What the factory opens after a step
  A factory writes its records beside what a step may write, and collects what it left. A name there can be a link, a pipe
  or a folder by then. Nothing is written or copied through a link, nobody waits for a pipe, and the next attempt works.

  @FS-13
  Rule: What the factory opens in a place the step can write is opened without following links and cannot hang it

    Background:
      Given a sandboxed step
      And the network is allowlist
      And the host "allowed.example" is allowed

    # Claude Code CVE-2026-39861, flatpak CVE-2026-96807, rappdw/sandy PR 283: a line of a log in ~/.bashrc
    @case:W05 @needs:egress-log @needs:events @needs:outcome
    Scenario Outline: <record> is not written through a link to a file of the user
      Given the user has a file "~/victim-{nonce}"
      When the step runs the shell command "rm -rf <path>; ln -s ~/victim-{nonce} <path>; tools/probe connect --proxy connect blocked.example:443"
      And in a second attempt, the step runs the probe "connect --proxy connect second.example:443"
      Then the user's file is as it was
      And the egress.log names exactly "second.example"
      And planted, whoever follows such a link changes the user's file

      Examples:
        | record             | path         |
        | the egress.log     | {egress-log} |
        | the list of events | {events}     |
        | the outcome        | {outcome}    |

    @case:W05 @needs:egress-log @needs:events @needs:outcome
    Scenario Outline: <record> does not make a file where a link leads to none
      When the step runs the shell command "rm -rf <path>; ln -s ~/made-{nonce} <path>; tools/probe connect --proxy connect blocked.example:443"
      And in a second attempt, the step runs the probe "connect --proxy connect second.example:443"
      Then nothing named "made-{nonce}" is on the host
      And the egress.log names exactly "second.example"
      And planted, whoever follows such a link makes it

      Examples:
        | record             | path         |
        | the egress.log     | {egress-log} |
        | the list of events | {events}     |
        | the outcome        | {outcome}    |

    @case:W06 @needs:egress-log @needs:events @needs:outcome
    Scenario Outline: a pipe in place of <record> keeps nobody waiting
      When the step runs the shell command "rm -rf <path>; mkfifo <path>; tools/probe connect --proxy connect blocked.example:443"
      And in a second attempt, the step runs the probe "connect --proxy connect second.example:443"
      Then the attempts have ended
      And the egress.log names exactly "second.example"
      And planted, a plain write to such a pipe does not end within a second

      Examples:
        | record             | path         |
        | the egress.log     | {egress-log} |
        | the list of events | {events}     |
        | the outcome        | {outcome}    |

    @needs:egress-log @needs:events @needs:outcome
    Scenario Outline: a folder in place of <record> does not change how the step ended
      When the step runs the shell command "rm -rf <path>; mkdir <path>; touch <path>/file; tools/probe connect --proxy connect blocked.example:443; exit 7"
      Then the step ends with 7
      And planted, a plain write to such a folder fails

      Examples:
        | record             | path         |
        | the egress.log     | {egress-log} |
        | the list of events | {events}     |
        | the outcome        | {outcome}    |

    # Docker Sandboxes CVE-2026-103916: what was collected was a copy of what the link led to
    @case:W08 @needs:artifacts
    Scenario Outline: <what> is not collected as what it leads to
      When the step runs the probe "symlink <target> <link>"
      Then every action succeeds
      And no secret stands in a file of the attempt's folder
      And planted, a copy of what such a link leads to is noticed

      Examples:
        | what                                   | target                       | link             |
        | a link to a key among the artifacts    | ~/.ssh/id_ed25519            | {artifacts}/link |
        | a link to a folder among the artifacts | ~/.ssh                       | {artifacts}/link |
        | a link by /proc among the artifacts    | /proc/self/root/home/dev/.netrc | {artifacts}/link |
        | a link that climbs                     | ../../../../../../../../../../../../home/dev/.netrc | {artifacts}/link |
        | a link to a key in the worktree        | ~/.ssh/id_ed25519            | link             |

    @case:W06 @needs:artifacts
    Scenario Outline: a pipe <where> keeps nobody waiting
      When the step runs the probe "mkfifo <path>"
      And in a second attempt, the step runs the probe "env PATH"
      Then the attempts have ended
      And planted, a plain read of such a pipe does not end within a second

      Examples:
        | where               | path             |
        | among the artifacts | {artifacts}/pipe |
        | in the worktree     | pipe             |
