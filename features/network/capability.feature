@needs:factory
Feature: The capability network
  A step can require that the factory keeps it to listed hosts. Nothing may rely on that before the factory has opted in.

  @NET-02
  Rule: The capability network stays not_supported until the factory opts into allowlist

    Background:
      Given a sandboxed step
      And the step's setting "requires" is "[network]"
      And the step leaves a mark

    Scenario: a step that requires it is refused where nothing is said of the network
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, with network allowlist the mark is found

    Scenario: a step that requires it is refused with network open
      Given the network is open
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, with network allowlist the mark is found

    Scenario: a step that requires it is refused without a sandbox
      Given the network is allowlist
      And a step whose sandbox is "off"
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, with network allowlist the mark is found

    @needs:providers
    Scenario: each provider's capability network is not_supported with network open
      Given the network is open
      When its providers are asked for
      Then it says of the capability "network" that it is "not_supported"
      And planted, with network allowlist it says of the capability "network" that it is "supported"

    @needs:providers
    Scenario: it is supported with network allowlist
      Given the network is allowlist
      When its providers are asked for
      Then it says of the capability "network" that it is "supported"
      And planted, with network open it says of the capability "network" that it is "not_supported"
