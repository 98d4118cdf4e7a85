Feature: The launcher leaves nothing
  Some sandboxes put empty files and folders where they want to hide something, and forget them there. Here the whole host
  is compared: names, kinds, modes, sizes, mount points.

  @FS-05 @serial
  Rule: The launcher itself leaves nothing behind: identical host tree during and after, also after SIGKILL

    Background:
      Given a sandboxed step

    # sandbox-runtime 85, 139; claude-code 46584, 25603, 81602, 83497: masks for what is not there become files
    @case:W12
    Scenario Outline: the host is the same while and after a step runs, with network <network>
      Given the network is <network>
      When the host is looked at before, while and after the step runs
      Then nothing on the host is new or changed while it runs, but its private temp folder
      And its worktree holds what the repository holds while it runs
      And nothing on the host is new or changed afterwards
      And planted, an empty file too many is noticed

      Examples:
        | network   |
        | open      |
        | allowlist |

    @case:W12
    Scenario: the host is the same after the first attempt of all
      Given a user for whom it never ran
      When the host is looked at before and after the first attempt of all
      Then nothing on the host is new or changed afterwards
      And planted, an empty file too many is noticed

    @case:W12
    Scenario: the host is the same after the launcher was killed
      When the launcher is killed by SIGKILL while the step runs, and another attempt has run since
      Then nothing on the host is new or changed afterwards
      And planted, an empty file too many is noticed
