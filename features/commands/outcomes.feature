@needs:factory @needs:outcomes @needs:outcome @needs:words
Feature: Statuses, outcomes, and exit codes
  What a record of an attempt can say is listed by the program itself, so that whoever reads records finds every word.

  @CLI-05
  Rule: Run states, step outcomes, reason codes and exit codes are generated from the binary's enumerations

    Background:
      Given a sandboxed step

    Scenario Outline: what the record of a step that does "<command>" says stands in the list
      Given the step does "<command>"
      When the step is run
      And its command "outcomes" is asked
      Then every word of its record stands in the list
      And planted, a word that no record has is not in the list

      Examples:
        | command                  |
        | /bin/true                |
        | /bin/false               |
        | /bin/kill -9 0           |
        | /nonexistent/program     |
        | /etc/passwd              |

    Scenario Outline: the reason that is recorded when <fault> stands in the list
      Given the step leaves a mark
      And <fault>
      When the step is run
      And its command "outcomes" is asked
      Then the attempt is refused
      And every word of its record stands in the list
      And planted, a word that no record has is not in the list

      Examples:
        | fault                                               |
        | bubblewrap is not on PATH                           |
        | bubblewrap does "exit 1"                            |
        | user namespaces are off                             |
        | /proc is masked                                     |
        | the repository is broken                            |
        | the step's setting "requires" is "[network]"        |
