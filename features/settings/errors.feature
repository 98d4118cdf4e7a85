@needs:factory @needs:yaml
Feature: What is said of wrong settings
  Whoever has made a mistake in a settings file is told at once where it is and what would be right: file, line and column, the
  line itself, the path of the key, and the fix. "↵" is the end of a line, "@" the place of what is wrong, and "RUN" stands for a
  command that ends with 37.

  @SET-09
  Rule: A settings error names file, line, column, snippet, key path and what would be right; duplicate keys, bombs and deep nesting are refused quickly

    Scenario Outline: <what> is told with its place and what would be right
      Given the settings are "<settings>" with "<wrong>" there
      When the step is run
      Then the attempt is refused
      And nothing was executed
      And it says the file, the place, the line, the key "<key>" and "<fix>"
      And planted, with "<right>" there it is run

      Examples:
        | what                              | settings                                                                                                                                          | wrong             | right               | key                                          | fix                                       |
        | an unknown word                   | sandbox:↵  mode: @↵steps: {probe: {RUN}}                                                                                                          | requird           | required            | sandbox.mode                                 | did you mean required?                    |
        | a word of another case            | sandbox: {network: @}↵steps: {probe: {RUN}}                                                                                                       | Open              | open                | sandbox.network                              | known here: open, allowlist               |
        | an unknown key at the top         | @: {mode: off}↵steps: {probe: {RUN}}                                                                                                              | sandbx            | sandbox             | sandbx                                       | did you mean sandbox?                     |
        | an unknown key of the block       | sandbox:↵  @: open↵steps: {probe: {RUN}}                                                                                                          | netwrk            | network             | sandbox.netwrk                               | did you mean network?                     |
        | an unknown key of egress          | sandbox:↵  egress: {@: [a.example]}↵steps: {probe: {RUN}}                                                                                         | alow              | allow               | sandbox.egress.alow                          | did you mean allow?                       |
        | an unknown key of a repo          | repos:↵  demo:↵    path: /srv/demo↵    @: off↵steps: {probe: {RUN}}                                                                               | sandbx            | sandbox             | repos.demo.sandbx                            | did you mean sandbox?                     |
        | an unknown key of a step          | steps:↵  probe:↵    RUN↵    @: {A: b}                                                                                                             | enw               | env                 | steps.probe.enw                              | did you mean env?                         |
        | a list where a word stands        | steps:↵  probe:↵    RUN↵    requires: @                                                                                                           | network           | []                  | steps.probe.requires                         | a list of capabilities, such as [network] |
        | text where a list stands          | steps:↵  probe:↵    run: @                                                                                                                        | make test         | [sh, -c, exit 37]   | steps.probe.run                              | such as [make, test]                      |
        | a number where a block stands     | sandbox: @↵steps: {probe: {RUN}}                                                                                                                  | 7                 | {mode: off}         | sandbox                                      | such as {mode: required                   |
        | nothing where a word stands       | steps:↵  probe: {RUN, sandbox: {mode: @}}                                                                                                         | ~                 | off                 | steps.probe.sandbox.mode                     | off or required                           |
        | a boolean of YAML 1.1             | sandbox:↵  egress: {provider_hosts: @}↵steps: {probe: {RUN}}                                                                                      | yes               | true                | sandbox.egress.provider_hosts                | true or false                             |
        | the second of several paths       | sandbox:↵  allow_read: [/usr/share, @]↵steps: {probe: {RUN}}                                                                                      | '/srv/*'          | /srv/x              | sandbox.allow_read[1]                        | name the folder itself                    |
        | a path in a list of lines         | sandbox:↵  allow_write:↵    - /srv/x↵    - @↵steps: {probe: {RUN}}                                                                                | ~other/x          | /srv/y              | sandbox.allow_write[1]                       | write ~/FOLDER for your own home          |
        | the second of several hosts       | sandbox:↵  egress:↵    allow: [a.example, @]↵steps: {probe: {RUN}}                                                                                | https://b.example | b.example           | sandbox.egress.allow[1]                      | an entry is HOST                          |
        | a host of a step's own            | steps:↵  probe: {RUN, sandbox: {mode: off, egress: {allow: [@]}}}                                                                                 | '*'               | a.example           | steps.probe.sandbox.egress.allow[0]          | an entry is HOST                          |
        | a repo that nobody knows          | repos: {demo: {path: /srv/demo}}↵steps:↵  other: {run: [x], repos: [@]}↵  probe: {RUN}                                                            | dmo               | demo                | steps.other.repos[0]                         | did you mean demo?                        |
        | an agent that nobody knows        | steps:↵  other: {provider: @, prompt: x}↵  probe: {RUN}                                                                                           | claude-cod        | claude-code         | steps.other.provider                         | did you mean claude-code?                 |
        | a built-in step that nobody knows | repos: {demo: {path: /srv/demo}}↵steps:↵  other: {uses: @, repos: [demo]}↵  probe: {RUN}                                                          | tset              | test                | steps.other.uses                             | did you mean test?                        |
        | a repo that is no name            | repos:↵  @: {path: /srv/demo}↵steps: {probe: {RUN}}                                                                                               | -x                | x                   | repos.-x                                     | letters, digits, dots                     |
        | a step that runs nothing          | steps:↵  probe: {RUN}↵  other: {run: @}                                                                                                           | []                | [x]                 | steps.other.run                              | such as [make, test]                      |
        | a variable that is no name        | steps:↵  probe:↵    RUN↵    env:↵      @: x                                                                                                       | 'A=B'             | AB                  | steps.probe.env.A=B                          | without = in the name                     |
        | a key that stands twice           | sandbox:↵  network: open↵  @: off↵steps: {probe: {RUN}}                                                                                           | network           | mode                | network stands twice                         | keep one of the two                       |
        | a step that stands twice          | steps:↵  probe: {RUN}↵  @: {run: [x]}                                                                                                             | probe             | other               | probe stands twice                           | keep one of the two                       |
        | a repo that stands twice          | repos: {a: {path: /a}, b: {path: /b}}↵steps:↵  other: {run: [x], repos: [a, @]}↵  probe: {RUN}                                                    | a                 | b                   | steps.other.repos[1]                         | keep one of the two                       |
        | per_repo without repos            | steps:↵  other: {run: [x], per_repo: @}↵  probe: {RUN}                                                                                            | true              | false               | steps.other.per_repo                         | add repos: [NAME]                         |
        | an entry of inject                | sandbox:↵  egress:↵    inject:↵      - name: api↵        upstream: @↵        base_url_env: API_URL↵        key_env: API_KEY↵steps: {probe: {RUN}} | ftp://api.example | https://api.example | sandbox.egress.inject[0].upstream: entry api | https://api.example.com                   |

    Scenario Outline: <what> is told with the place it concerns and what would be right
      Given the settings are "<settings>" with "<wrong>" there
      When the step is run
      Then the attempt is refused
      And nothing was executed
      And it says the file, the place <at>, the line, the key "<key>" and "<fix>"
      And planted, with "<right>" there it is run

      Examples:
        | what                                | settings                                                                                                                                                                                                                       | wrong           | right                          | at   | key                                 | fix                           |
        | a step of two kinds                 | steps:↵  probe: {RUN}↵  other:↵    run: [x]@                                                                                                                                                                                   | ↵    uses: test |                                | 3:3  | steps.other                         | such as run: [make, test] |
        | a step of no kind                   | steps:↵  probe: {RUN}↵  other:↵    env: {A: b}@                                                                                                                                                                                |                 | ↵    run: [x]                  | 3:3  | steps.other                         | such as run: [make, test] |
        | an entry of inject that lacks a key | sandbox:↵  egress:↵    inject:↵      - name: api↵        upstream: https://api.example@↵        key_env: API_KEY↵steps: {probe: {RUN}}                                                                                         |                 | ↵        base_url_env: API_URL | 4:9  | sandbox.egress.inject[0]            | base_url_env:                 |
        | an entry of inject of the same name | sandbox:↵  egress:↵    inject:↵      - {name: api, upstream: https://a.example, base_url_env: A_URL, key_env: A_KEY}↵      - {name: @, upstream: https://b.example, base_url_env: B_URL, key_env: B_KEY}↵steps: {probe: {RUN}} | api             | other                          | 5:9  | sandbox.egress.inject[1]: entry api | give it another name          |
        | a bracket that is not closed        | steps:↵  probe: {RUN@                                                                                                                                                                                                          |                 | }                              | 2:10 |                                     | close it                      |

    # The message ends up in a terminal's history and in logs
    Scenario Outline: a key that stands <where> is not printed back
      Given the settings are "<settings>" with "kusaw-canary-e0123456789abcdef" there
      When the step is run
      Then the attempt is refused
      And nothing was executed
      And no secret arrives
      And planted, with "<other>" there that is printed

      Examples:
        | where                            | settings                                                                                                                                              | other   |
        | in an entry of inject            | sandbox: {egress: {inject: [{name: api, key: x, format: @}]}}↵steps: {probe: {RUN}}                                                                       | Bearer  |
        | as the name of a secret          | sandbox: {egress: {inject: [{name: api, upstream: https://api.example, base_url_env: A_URL, key_env: A_KEY, secret: @}]}}↵steps: {probe: {RUN}}           | -A_KEY  |
        | as the value of inject           | sandbox: {egress: {inject: @}}↵steps: {probe: {RUN}}                                                                                                  | provdr  |
        | in the line of another mistake   | steps: {probe: {RUN, prompt: @, foo: 1}}                                                                                                              | hello   |
        | in the arguments of a step       | steps: {probe: {run: [sh, @], foo: 1}}                                                                                                                | hello   |

    Scenario Outline: a settings file that is <what> is refused quickly
      Given a sandboxed step
      And the step leaves a mark
      And the settings file is <what>
      When the step is run
      Then the attempt is refused
      And no mark is found
      And it takes less than 5 seconds
      And planted, with right settings the mark is found

      Examples:
        | what                                     |
        | 10 MB long                               |
        | 100000 nested brackets                   |
        | 700 nested blocks                        |
        | an alias bomb                            |
        | right but for a step that is there twice |
