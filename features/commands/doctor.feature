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

    Scenario: a blocked host and a direct connection are tried as well
      When its doctor is asked for
      Then the doctor says that "P6" holds
      And the doctor says that "P7" holds
      And planted, with the host "unknown.example" alone allowed the doctor says that "P5" does not hold

    Scenario: the mode of a step
      When its doctor is asked for
      Then the doctor says "required" in one line with "probe"
      And planted, without that it is not said

    Scenario: a host of the factory's allowlist, with its origin
      When its doctor is asked for
      Then the doctor says "allowed.example" in one line with "sandbox.egress.allow"
      And planted, without that it is not said

    Scenario: a host of the step's own list, with its origin
      Given a step whose sandbox is "{mode: required, egress: {allow: [own.example]}}"
      When its doctor is asked for
      Then the doctor says "own.example" in one line with "steps.probe.sandbox.egress.allow"
      And planted, without that it is not said

    Scenario: a provider's host, with its origin
      Given the step is run by the provider "claude-code" with the prompt "hello"
      When its doctor is asked for
      Then the doctor says "api.anthropic.com" in one line with "claude-code"
      And planted, without that it is not said
