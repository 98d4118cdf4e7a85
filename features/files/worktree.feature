Feature: The worktree
  The one place where a step works. What it does there is there afterwards, on the host.

  @FS-01
  Rule: A step can create, change, rename and delete files in each of its attempt's worktrees

    Background:
      Given a sandboxed step

    Scenario Outline: can <what>
      When the step runs the probe "<probe>"
      Then every action succeeds
      And in the worktree, "<path>" <state>
      And planted, in the worktree of an attempt that did nothing it is not so

      Examples:
        | what                    | probe                                                              | path       | state         |
        | create a file           | create made                                                        | made       | is a file     |
        | write a file            | write made x                                                       | made       | holds "x"     |
        | change a file           | append README more                                                 | README     | ends in "more" |
        | delete a file           | remove README                                                      | README     | is gone       |
        | rename a file           | rename README RENAMED                                              | RENAMED    | is a file     |
        | rename a file away      | rename README RENAMED                                              | README     | is gone       |
        | replace a file          | write new x + rename new README                                    | README     | holds "x"     |
        | exchange two files      | write new x + exchange new README                                  | README     | holds "x"     |
        | make a folder           | mkdir folder                                                       | folder     | is a folder   |
        | make a file in a folder | mkdir folder + write folder/file x                                 | folder/file | holds "x"    |
        | rename a folder         | mkdir folder + rename folder other                                 | other      | is a folder   |
        | delete a folder         | mkdir folder + remove folder + rename tools kit                    | kit        | is a folder   |
        | make a link             | symlink README link                                                | link       | is a link     |
        | make a hard link        | link README hard                                                   | hard       | is a file     |
        | make a file executable  | write made x + chmod 0755 made                                     | made       | is executable |

    Scenario: can write in the worktree of a second repo
      Given its active repos have the sandbox "unset+unset"
      When the step runs the probe "write {second}/made x"
      Then every action succeeds
      And in the worktree of "extra", "made" holds "x"
      And planted, in the worktree of an attempt that did nothing it is not so

    Scenario: can run what it has written
      When the step runs the shell command "echo 'echo ran >proof' >script; chmod +x script; ./script"
      Then in the worktree, "proof" ends in "ran"
      And planted, in the worktree of an attempt that did nothing it is not so

    Scenario: can write there with network allowlist too
      Given the network is allowlist
      When the step runs the probe "write made x"
      Then every action succeeds
      And in the worktree, "made" holds "x"
      And planted, in the worktree of an attempt that did nothing it is not so

    # npm prefixes, spaces, quotes: what real trees hold
    Scenario Outline: can write a file whose name has <what>
      When the step runs the probe with the arguments
        | write | <name> | x |
      Then every action succeeds
      And in the worktree, "<name>" holds "x"
      And planted, in the worktree of an attempt that did nothing it is not so

      Examples:
        | what            | name                  |
        | blanks          | a file with blanks    |
        | quotes          | it's "quoted"         |
        | a leading dash  | ./-rf                 |
        | other alphabets | größe-尺寸            |
        | a dollar        | $HOME                 |
        | 200 letters     | xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx |
