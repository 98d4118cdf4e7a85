Feature: What a step leaves behind
  A build server, a watcher, a forgotten test run: a step starts what it does not wait for, on purpose or not.

  @NS-07
  Rule: A detached process (setsid, double fork) does not outlive the attempt

    Background:
      Given a sandboxed step

    Scenario Outline: does not outlive the attempt: a process that <what>
      When the step ends after it has done "<how>"
      Then no process of the attempt is alive
      And it ends with the code 7
      And bare, it lives on

      Examples:
        | what                       | how                                                                                                |
        | calls setsid               | setsid sh -c "$child" "$0" </dev/null >/dev/null 2>&1 &                                            |
        | forks twice                | (setsid sh -c "$child" "$0" </dev/null >/dev/null 2>&1 &)                                          |
        | was started by nohup       | nohup sh -c "$child" "$0" </dev/null >/dev/null 2>&1 &                                             |
        | has closed its descriptors | setsid sh -c "$child" "$0" <&- >&- 2>&- &                                                          |
        | ignores signals            | setsid sh -c "trap '' HUP INT QUIT TERM; $child" "$0" </dev/null >/dev/null 2>&1 &                 |
        | is stopped                 | setsid sh -c "touch started; kill -STOP 0; :" "$0" </dev/null >/dev/null 2>&1 &                    |
        | is one of 500              | f=${TMPDIR:-/tmp}/f-{nonce}; mkfifo $f; i=0; while [ $i -lt 500 ]; do (: <$f) & i=$((i+1)); done </dev/null >/dev/null 2>&1; touch started |

    Scenario: does not outlive the attempt with network allowlist either: a process that calls setsid
      Given the network is allowlist
      When the step ends after it has done "setsid sh -c "$child" "$0" </dev/null >/dev/null 2>&1 &"
      Then no process of the attempt is alive
      And it ends with the code 7
      And bare, it lives on
