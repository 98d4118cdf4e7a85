@needs:protected
Feature: The secret store
  A factory keeps the secrets of its steps in a store, and the keys that open it beside it. A step gets the secrets that
  its settings give it, and never the place they come from: not its files, not their names, not that it is there.

  @FS-09
  Rule: The secret store and key folders of the factory are not visible

    Background:
      Given a sandboxed step
      And the factory has a secret store, keys and a signing shim

    Scenario Outline: cannot <what>
      When the step runs the probe "<probe>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | what                    | probe                |
        | read the secret store   | read {store}/secrets |
        | list the secret store   | list {store}         |
        | read a key of the store | read {keys}/identity |
        | list the keys           | list {keys}          |

    # macOS lets existence be seen (FS-14)
    @linux
    Scenario Outline: cannot see that <what> is there
      When the step runs the probe "stat <path>"
      Then the probe finds nothing there
      And bare, the same probe finds it

      Examples:
        | what                  | path            |
        | the secret store      | {store}         |
        | a file of the store   | {store}/secrets |
        | the folder of keys    | {keys}          |
        | a key                 | {keys}/identity |

    Scenario Outline: cannot read <what> by <road>
      When the step runs the probe "<probe>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | what      | road                  | probe                                                                           |
        | the store | its root in /proc     | read /proc/self/root{store}/secrets                                             |
        | a key     | its root in /proc     | read /proc/thread-self/root{keys}/identity                                      |
        | the store | climbing from the cwd | read ../../../../../../../../../../../../../../../../../../../..{store}/secrets |
        | the store | a link to it          | symlink {store} store-{nonce} + list store-{nonce} + read store-{nonce}/secrets |
        | a key     | a link to it          | symlink {keys}/identity key-{nonce} + read key-{nonce}                          |

    # Files that lie on another file system cannot be linked, with or without a sandbox
    Scenario: cannot read a key by a hard link to it
      When the step runs the probe "link {keys}/identity hard-{nonce} + read hard-{nonce}"
      Then no secret arrives
      And bare, the same probe gets the secret

    Scenario: the shell cannot read them either
      When the step runs the shell command "cat {store}/* {keys}/*; ls -a {store} {keys}"
      Then no secret arrives
      And bare, the same probe gets the secret

    @needs:factory
    Scenario Outline: an agent of the provider <provider> cannot read them either
      Given the step is run by the provider "<provider>" with the prompt "tools/probe <probe>"
      When the step is run
      Then no secret arrives
      And bare, the probe "<probe>" gets the secret

      Examples:
        | provider    | probe                              |
        | claude-code | read {store}/secrets + list {keys} |
        | cursor      | read {keys}/identity + list {store} |

    @needs:factory
    Scenario Outline: the number of repos makes no difference: <repos>
      Given its active repos have the sandbox "<repos>"
      When the step runs the shell command "cat {store}/secrets {keys}/identity"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | repos       |
        | none        |
        | unset+unset |

    Scenario: with network allowlist they are hidden as well
      Given the network is allowlist
      When the step runs the probe "read {store}/secrets + list {keys}"
      Then no secret arrives
      And bare, the same probe gets the secret
