@needs:artifacts
Feature: Artifacts
  What a step wants to keep, it writes into its attempt folder.

  @FS-02
  Rule: A step can write artifacts in its attempt folder, and they are there afterwards

    Background:
      Given a sandboxed step

    Scenario Outline: can keep <what>
      When the step runs the probe "<probe>"
      Then every action succeeds
      And in the artifacts, "<path>" <state>
      And planted, in the artifacts of an attempt that did nothing it is not so

      Examples:
        | what              | probe                                                             | path        | state       |
        | a file            | write {artifacts}/kept x                                          | kept        | holds "x"   |
        | a folder          | mkdir {artifacts}/folder + write {artifacts}/folder/kept x        | folder/kept | holds "x"   |
        | a file it changed | write {artifacts}/kept x + append {artifacts}/kept y              | kept        | holds "xy"  |
        | a file it renamed | write {artifacts}/new x + rename {artifacts}/new {artifacts}/kept | kept        | holds "x"   |

    Scenario Outline: artifacts are there after <end>
      When the step runs the shell command "tools/probe write {artifacts}/kept x; <command>"
      Then the step ends with <code>
      And in the artifacts, "kept" holds "x"
      And planted, in the artifacts of an attempt that did nothing it is not so

      Examples:
        | end                      | command    | code |
        | a step that fails        | exit 7     | 7    |
        | a step killed by SIGKILL | kill -9 $$ | 137  |

    @extra @case:W14
    Scenario: the set-user-id bit on an artifact does not outlast the attempt
      When the step runs the shell command "cp tools/probe {artifacts}/left; chmod 4755 {artifacts}/left; [ -u {artifacts}/left ]"
      Then the step ends with 0
      And in the artifacts, "left" is a file without set-id bits
      And planted, with both bits set on it again it is not so
