@needs:egress-log
Feature: The log of blocked hosts
  With network: allowlist a step reaches only listed hosts. Which hosts it was refused is what a user wants to know
  afterwards: each stands once in the egress.log of its attempt, up to 50.

  @EGR-14
  Rule: A blocked host is written to the attempt's egress.log, once, up to 50

    Background:
      Given a sandboxed step
      And the network is allowlist
      And the host "allowed.example" is allowed

    Scenario Outline: a host asked for by <way> to port <port> is logged
      When the step runs the probe "connect --proxy <way> blocked.example:<port>"
      Then no origin answers
      And the egress.log names exactly "blocked.example"
      And bare, "blocked.example:<port>" answers

      Examples:
        | way     | port |
        | connect | 443  |
        | connect | 80   |
        | connect | 22   |
        | http    | 80   |
        | http    | 8080 |

    Scenario Outline: a host asked for <how> is logged once
      When the step runs the probe "<probe>"
      Then no origin answers
      And the egress.log names exactly "again.example"
      And planted, a line too many is noticed

      Examples:
        | how                 | probe                                                                               |
        | three times         | connect --proxy connect --times 3 again.example:443                                 |
        | twenty at a time    | connect --proxy connect --parallel 20 again.example:443                             |
        | by CONNECT and HTTP | connect --proxy connect again.example:443 + connect --proxy http again.example:80   |
        | by HTTP three times | connect --proxy http --times 3 again.example:80                                     |

    Scenario: two hosts are two lines
      When the step runs the probe "connect --proxy connect one.example:443 + connect --proxy http two.example:80"
      Then the egress.log names exactly "one.example, two.example"
      And planted, a missing line is noticed

    Scenario: a host that was reached is not in the log
      When the step runs the probe "connect --proxy connect allowed.example:443"
      Then the origin "allowed" answers
      And the egress.log names no host
      And planted, a line too many is noticed

    Scenario: reached and blocked hosts in turn
      When the step runs the probe "connect --proxy connect allowed.example:443 + connect --proxy connect no.example:443 + connect --proxy connect allowed.example:443"
      Then the origin "allowed" answers
      And the egress.log names exactly "no.example"
      And bare, "no.example:443" answers

    Scenario: a step that asks for nothing leaves no line
      When the step runs the probe "env PATH"
      Then the egress.log names no host
      And planted, a line too many is noticed

    @case:N05
    # sandbox-runtime, 2025-11: an empty list taken as "no restriction"
    Scenario: with an empty list every host is blocked and logged
      Given no host is allowed
      When the step runs the probe "connect --proxy connect allowed.example:443"
      Then no origin answers
      And the egress.log names exactly "allowed.example"
      And bare, "allowed.example:443" answers

    Scenario: a name that does not exist is blocked and logged like any other
      When the step runs the probe "connect --proxy connect unknown.example:443"
      Then no origin answers
      And the egress.log names exactly "unknown.example"
      And planted, a missing line is noticed

    Scenario: an address that is not listed is blocked and logged
      When the step runs the probe "connect --proxy connect 93.184.216.35:443"
      Then no origin answers
      And the egress.log names exactly "93.184.216.35"
      And bare, "93.184.216.35:443" answers

    Scenario Outline: names that look like an allowed one are logged: <host>
      When the step runs the probe "connect --proxy connect <host>:443"
      Then no origin answers
      And the egress.log names exactly "<host>"
      And bare, "<host>:443" answers

      Examples:
        | host                         |
        | sub.allowed.example          |
        | xallowed.example             |
        | allowed.example.evil.example |

    Scenario Outline: <asked> blocked hosts are <logged> lines
      When the step asks for <asked> different hosts
      Then no origin answers
      And the egress.log has <logged> lines, each another of these hosts
      And planted, a line too many is noticed

      Examples:
        | asked | logged |
        | 2     | 2      |
        | 49    | 49     |
        | 50    | 50     |
        | 51    | 50     |
        | 120   | 50     |

    Scenario Outline: the log is there after <end>
      When the step runs the shell command "tools/probe connect --proxy connect before.example:443; <command>"
      Then the step ends with <code>
      And the egress.log names exactly "before.example"
      And bare, "before.example:443" answers

      Examples:
        | end                           | command        | code |
        | a step that fails             | exit 7         | 7    |
        | a step killed by SIGKILL      | kill -9 $$     | 137  |
        | a step ended by SIGTERM       | kill -15 $$    | 143  |

    Scenario: what a process in the background asked for is logged
      When the step runs the shell command "tools/probe connect --proxy connect behind.example:443 & wait $!"
      Then no origin answers
      And the egress.log names exactly "behind.example"
      And bare, "behind.example:443" answers

    Scenario: each attempt has a log of its own
      When the step runs the probe "connect --proxy connect first.example:443"
      And in a second attempt, the step runs the probe "connect --proxy connect second.example:443"
      Then the egress.log of the first attempt names exactly "first.example"
      And the egress.log names exactly "second.example"
      And planted, a missing line is noticed

    Scenario: two attempts of one factory at the same time log apart
      When two attempts of one factory at the same time ask for "left.example:443" and "right.example:443"
      Then the egress.log of the first attempt names exactly "left.example"
      And the egress.log names exactly "right.example"
      And planted, a line too many is noticed

    @extra
    # The reference: a failure is not a block
    Scenario: an allowed name that does not resolve is not logged
      Given the host "unknown.example" is allowed
      When the step runs the probe "connect --proxy connect unknown.example:443"
      Then no origin answers
      And the egress.log names no host
      And planted, a line too many is noticed

    @extra
    # A listed name that leads to a private address is a blocked host
    Scenario: an allowed name that leads to a private address is logged
      Given the host "private.example" is allowed
      When the step runs the probe "connect --proxy connect private.example:443"
      Then no origin answers
      And the egress.log names exactly "private.example"
      And planted, a missing line is noticed

    @extra
    Scenario: spellings and ports of one host are one line
      When the step runs the probe "connect --proxy connect Odd.Example:443 + connect --proxy connect odd.example.:443 + connect --proxy connect odd.example:80 + connect --proxy http ODD.example:8080"
      Then no origin answers
      And the egress.log names exactly "odd.example"
      And planted, a line too many is noticed
