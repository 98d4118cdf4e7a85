@needs:factory @needs:secret
Feature: Which keys are injected
  Entries of the settings, or the word provider for what the step's own agent takes. A login that an agent must hold itself is
  another matter.

  @INJ-06
  Rule: inject takes entries or the string provider; doctor shows injected names only

    Background:
      Given a sandboxed step
      And the network is allowlist

    Scenario: an entry of the factory's is for every step
      Given a key for "https://{nonce}.api.test" is injected
      When the step runs the probe "env API_URL API_KEY"
      Then the variable "API_URL" is a local address
      And planted, with nothing injected "API_URL" is not set

    Scenario: an entry of the step's adds to the factory's
      Given a key for "https://{nonce}.api.test" is injected
      And a key for "https://{nonce}.tls.test" is injected as "OTHER" for the step
      When the step runs the probe "env API_URL OTHER_URL"
      Then the variable "API_URL" is a local address
      And the variable "OTHER_URL" is a local address
      And planted, with nothing injected "OTHER_URL" is not set

    Scenario: the word provider stands for what the step's agent takes
      Given the step is run by the provider "claude-code" with the prompt "tools/probe converse url:ANTHROPIC_BASE_URL 'GET {base}/{nonce}/v1/messages HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n' + env ANTHROPIC_API_KEY"
      And the provider's key is injected from the secret "ANTHROPIC_API_KEY"
      When the step is run
      Then every request to "api.anthropic.com" has one header "x-api-key", with "{api-key}"
      And the key does not arrive
      And planted, a key that goes elsewhere is noticed

    @needs:doctor
    Scenario: the doctor names an injected key and does not show it
      Given a key for "https://{nonce}.api.test" is injected as "K{nonce}"
      When its doctor is asked for
      Then the doctor says "k{nonce}" in one line with "inject"
      And the doctor says nothing of the key
      And planted, with nothing injected it is not said

  @INJ-07
  Rule: Login tokens and login folders an agent CLI must hold itself stay inside

    # What an agent needs itself cannot be kept from it: a token of its login is a variable of the step like any other
    Scenario: a login token that the step is given is inside, beside an injected key
      Given a sandboxed step
      And the network is allowlist
      And a key for "https://{nonce}.api.test" is injected
      And the step has the variable "CLAUDE_CODE_OAUTH_TOKEN" with "login-of-{nonce}"
      When the step runs the probe "env CLAUDE_CODE_OAUTH_TOKEN API_KEY"
      Then the variable "CLAUDE_CODE_OAUTH_TOKEN" is "login-of-{nonce}"
      And the variable "API_KEY" is "factory-egress-placeholder"
      And planted, with nothing of its own "CLAUDE_CODE_OAUTH_TOKEN" is not set

    @needs:check
    Scenario: it says so
      When it is asked what it does not protect from
      Then it says "Login tokens"
      And planted, without --verbose it does not say it
