@needs:egress-log @needs:events
Feature: A log that a step cannot blow up
  The names in the log are the step's words. However it spells them, however many it makes up and whatever it puts into them,
  the log stays a page that a terminal can show.

  @EGR-21
  Rule: Spellings and ports of one host count once; malformed hosts share a line; control characters are escaped; a flood keeps log and memory bounded

    Background:
      Given a sandboxed step
      And the network is allowlist
      And the host "allowed.example" is allowed

    Scenario Outline: one host is one line, <how>
      When the step runs the probe "<probe>"
      Then no origin answers
      And the egress.log names exactly "spelt.example"
      And an egress.blocked event names "spelt.example" and no other host
      And planted, a line too many is noticed

      Examples:
        | how                       | probe                                                                                                        |
        | in upper and lower case   | connect --proxy connect SPELT.example:443 + connect --proxy connect spelt.EXAMPLE:443                        |
        | with and without a dot    | connect --proxy connect spelt.example.:443 + connect --proxy connect spelt.example:443                       |
        | on several ports          | connect --proxy connect spelt.example:443 + connect --proxy connect spelt.example:22 + connect --proxy http spelt.example:8080 |
        | by CONNECT and plain HTTP | connect --proxy connect Spelt.example:80 + connect --proxy http spelt.example.:80                            |

    # srt's null byte, cplt PR 221: what cannot be a name is not written down as one
    Scenario: an address is one line, as IPv4 and mapped into IPv6
      When the step runs the probe "connect --proxy connect 23.9.9.9:443 + connect --proxy connect [::ffff:23.9.9.9]:443 + connect --proxy connect [::ffff:1709:909]:443"
      Then no origin answers
      And the egress.log names exactly "23.9.9.9"
      And an egress.blocked event names "23.9.9.9" and no other host
      And planted, a line too many is noticed

    @case:O01 @case:M01
    Scenario: hosts that are none share a line
      When the step runs the probe "converse proxy CONNECT\sa..b:443\sHTTP/1.1\r\n\r\n + converse proxy CONNECT\s127.1:80\sHTTP/1.1\r\n\r\n + converse proxy CONNECT\s*.blocked.example:443\sHTTP/1.1\r\n\r\n + converse proxy CONNECT\s[::1%25lo]:80\sHTTP/1.1\r\n\r\n"
      Then no origin answers
      And the egress.log has 1 line, printable
      And planted, a line too many is noticed

    @case:O01
    Scenario Outline: a name with <what> forges nothing
      When the step runs the probe "converse proxy CONNECT\s<bytes>:443\sHTTP/1.1\r\n\r\n + connect --proxy connect named.example:443"
      Then no origin answers
      And the egress.log has at most 2 lines, printable
      And one of them names "named.example"
      And planted, a control character is noticed

      Examples:
        | what                     | bytes                                                                            |
        | a line end               | a.example\\nb.example                                                             |
        | a carriage return        | a.example\\rb.example                                                             |
        | an escape sequence       | \\x1b[2Ja.example                                                                 |
        | a NUL                    | evil.example\\0.allowed.example                                                   |
        | bytes that are no UTF-8  | \\xff\\xfe.example                                                                 |
        | a quotation mark         | a","host":"forged.example                                                        |

    @case:O02
    Scenario: ten thousand requests to one host are one line and one event
      When the step asks 10000 times for "again.example", on one connection
      Then the egress.log names exactly "again.example"
      And there are 1 egress.blocked events, each naming another of these hosts
      And the egress.summary counts 10000 requests to 1 hosts
      And bare, "again.example:80" answers
      And planted, another number is noticed

    @case:O02
    Scenario: a thousand hosts are fifty lines and fifty events
      When the step asks for 1000 different hosts
      Then the egress.log has 50 lines, each another of these hosts
      And there are 50 egress.blocked events, each naming another of these hosts
      And the egress.summary counts 1000 requests to 1000 hosts
      And the egress.log is smaller than 20000 bytes
      And planted, another number is noticed
