Feature: Keyrings
  The kernel keeps keys for a session and for a user: of encrypted disks, of network shares, of programs that put a token
  there. A namespace does not hide them; only a session keyring of its own, and no word to the kernel about the others, do.

  @SEC-08
  Rule: The caller's session and user keyrings are not readable

    Background:
      Given a sandboxed step

    Scenario Outline: cannot read a key of the caller's <ring> keyring
      When the step runs the probe "keyring <key>"
      Then no secret arrives
      And bare, the same probe reads the key

      Examples:
        | ring    | key           |
        | session | {session-key} |
        | user    | {user-key}    |

    # keyrings(7): who may link a keyring possesses what is in it; the permission is the uid's, whatever its namespace
    Scenario: cannot read a key by its number
      When the step runs the probe "keys lab-"
      Then no secret arrives
      And bare, the same probe reads the key

    Scenario: a key that it adds is not in the caller's session keyring
      When the step runs the probe "add-key added-{nonce} x"
      Then the caller's session keyring has no key "added-{nonce}"
      And bare, the same probe adds it there

    Scenario: with network allowlist they are not readable either
      Given the network is allowlist
      When the step runs the probe "keyring {session-key} + keyring {user-key} + keys lab-"
      Then no secret arrives
      And bare, the same probe reads the key

    @needs:factory
    Scenario: an agent cannot read them either
      Given the step is run by the provider "claude-code" with the prompt "tools/probe keyring {session-key} + keys lab-"
      When the step is run
      Then no secret arrives
      And bare, the probe "keyring {session-key} + keys lab-" gets the secret
