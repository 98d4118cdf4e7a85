@needs:factory @needs:doctor
Feature: The doctor
  What can a step connect to, why, and does that hold here? The doctor says it for each step, and tries it by a real launch.

  @CLI-02
  Rule: sandbox doctor prints per-step mode, the allowlist with the origin of each host, injected names only, the proxy, and P5 to P7

    Background:
      Given a sandboxed step
      And the network is allowlist
      And the host "allowed.example" is allowed

    Scenario: P5 holds: an allowed host answers through the proxy
      When its doctor is asked for
      Then the doctor says that "P5" holds
      And planted, with the host "unknown.example" alone allowed the doctor says that "P5" does not hold

    Scenario: P6 holds: a blocked host is refused and logged
      When its doctor is asked for
      Then the doctor says that "P6" holds
      And planted, with the host that P6 asks for allowed the doctor says that "P6" does not hold

    Scenario: P7 holds: a direct connection fails
      When its doctor is asked for
      Then the doctor says that "P7" holds
      And weakened, without "--unshare-net", the doctor says that "P7" does not hold

    Scenario: the mode of a step
      When its doctor is asked for
      Then the doctor says "required" in the line of the step
      And planted, with mode off it says "off" there instead

    Scenario: a host of the factory's allowlist, with its origin
      When its doctor is asked for
      Then the doctor says "allowed.example" in one line with "sandbox.egress.allow"
      And planted, without that entry it is not said

    Scenario: a host of the step's own list, with its origin
      Given a step whose sandbox is "{mode: required, egress: {allow: [own.example]}}"
      When its doctor is asked for
      Then the doctor says "own.example" in one line with "steps.probe.sandbox.egress.allow"
      And planted, without that entry it is not said

    Scenario: a provider's host, with its origin
      Given the step is run by the provider "claude-code" with the prompt "hello"
      When its doctor is asked for
      Then the doctor says "api.anthropic.com" in one line with "claude-code"
      And planted, with provider_hosts false it is not said

    # The one that the step is told
    Scenario: the proxy, as the step is told of it
      When the step runs the probe "env HTTPS_PROXY"
      And its doctor is asked for
      Then the doctor says in one line with "proxy" what the step has as "HTTPS_PROXY"
      And planted, with network open the step has nothing there that the doctor says

  @CLI-07
  Rule: sandbox doctor lists as W1 the tools that ignore the proxy variables

    Scenario Outline: <program> is listed
      Given a sandboxed step
      And the network is allowlist
      When its doctor is asked for
      Then the doctor says "<program>" in one line with "W1"
      And planted, "curl", which heeds them, it does not list with "W1"

      Examples:
        | program |
        | ssh     |
        | java    |
        | gradle  |
        | nc      |
        | psql    |
        | dig     |

    @extra @needs:validate
    Scenario Outline: validate warns where a step runs such a tool: <argv>
      Given a sandboxed step
      And the network is allowlist
      And the step runs "<argv>"
      When the settings are validated
      Then it warns "W1" of "<tool>"
      And planted, with network open it does not warn so

      Examples:
        | argv                                     | tool      |
        | /usr/bin/ssh host                        | ssh       |
        | env A=1 timeout 5 nc host 80             | nc        |
        | sh -c 'cd x && ./gradlew test; echo done' | ./gradlew |

    @extra @needs:validate
    Scenario: validate does not warn where a step only names one
      Given a sandboxed step
      And the network is allowlist
      And the step runs "echo ssh java"
      When the settings are validated
      Then it does not warn "W1" of "ssh"
      And planted, with the command "ssh host" it warns
