@needs:protected
Feature: Signing
  Commits are signed outside, by a shim that asks whoever holds the key. A step that could run it, or reach what it asks,
  would sign what it likes.

  @SEC-01
  Rule: The signing shim is not visible inside

    Background:
      Given a sandboxed step
      And the factory has a secret store, keys and a signing shim

    Scenario Outline: cannot <what>
      When the step runs the probe "<probe>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | what                             | probe                                                       |
        | run the signing shim             | exec {signing}/shim                                         |
        | read the signing shim            | read {signing}/shim                                         |
        | list its folder                  | list {signing}                                              |
        | reach its socket                 | socket {signing}/socket                                     |
        | run it by its root in /proc      | exec /proc/self/root{signing}/shim                          |
        | run it through a link            | symlink {signing}/shim shim-{nonce} + exec ./shim-{nonce}   |
        | run it through a link to its folder | symlink {signing} signing-{nonce} + exec ./signing-{nonce}/shim |
        | reach its socket by its root in /proc | socket /proc/self/root{signing}/socket                 |
        | reach its socket through a link  | symlink {signing}/socket socket-{nonce} + socket socket-{nonce} |

    # macOS lets existence be seen (FS-14)
    @linux
    Scenario Outline: cannot see that <what> is there
      When the step runs the probe "stat <path>"
      Then the probe finds nothing there
      And bare, the same probe finds it

      Examples:
        | what             | path             |
        | its folder       | {signing}        |
        | the signing shim | {signing}/shim   |
        | its socket       | {signing}/socket |

    Scenario: the shell cannot run it either
      When the step runs the shell command "PATH={signing}:$PATH; shim; {signing}/shim; cat {signing}/shim"
      Then no secret arrives
      And bare, the same probe gets the secret

    @needs:factory
    Scenario Outline: an agent of the provider <provider> cannot reach it either
      Given the step is run by the provider "<provider>" with the prompt "tools/probe <probe>"
      When the step is run
      Then no secret arrives
      And bare, the probe "<probe>" gets the secret

      Examples:
        | provider    | probe                                       |
        | claude-code | exec {signing}/shim + socket {signing}/socket |
        | cursor      | exec {signing}/shim + socket {signing}/socket |

    Scenario: with network allowlist it is out of reach as well
      Given the network is allowlist
      When the step runs the probe "exec {signing}/shim + socket {signing}/socket"
      Then no secret arrives
      And bare, the same probe gets the secret

    # what lies above it may be allowed: then it is hidden in it, or the attempt is refused
    @extra @case:R11
    Scenario Outline: allow_<how> of <what> does not open it
      Given "<path>" may be <allowed>
      And the attempt may be refused
      When the step runs the probe "exec {signing}/shim + list {signing} + socket {signing}/socket"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | how   | allowed | what             | path         |
        | read  | read    | the home         | ~            |
        | write | written | the home         | ~            |
        | read  | read    | the folder above | {signing}/.. |
        | read  | read    | itself           | {signing}    |
        | read  | read    | its shim         | {signing}/shim |
