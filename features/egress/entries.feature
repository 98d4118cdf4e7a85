Feature: Entries of the list
  An entry is a host name or `*.suffix`, with an optional port. Everything else that a name could be taken for is another host.

  @EGR-03
  Rule: Entries are host names or *.suffix, with an optional :port

    Background:
      Given a sandboxed step
      And the network is allowlist

    Scenario Outline: the entry <entry> covers <target> by <way><more>
      Given the host "<entry>" is allowed
      When the step runs the probe "connect --proxy <way> <target>"
      Then the origin "pub" answers
      And planted, with an empty list, nothing arrives at "{nonce}.pub.test"

      Examples:
        | entry                  | way     | target                    | more               |
        | {nonce}.pub.test       | connect | {nonce}.pub.test:443      |                    |
        | {nonce}.pub.test       | connect | {nonce}.pub.test:22       |                    |
        | {nonce}.pub.test       | http    | {nonce}.pub.test:8080     |                    |
        | {nonce}.pub.test:443   | connect | {nonce}.pub.test:443      |                    |
        | {nonce}.pub.test:8080  | connect | {nonce}.pub.test:8080     |                    |
        | {nonce}.pub.test:80    | http    | {nonce}.pub.test:80       |                    |
        | {nonce}.pub.test:80    | connect | {nonce}.pub.test:80       |                    |
        | {nonce}.pub.test:8080  | http    | {nonce}.pub.test:8080     |                    |
        | {nonce}.pub.test       | connect | {nonce}.PUB.test:443      |, in upper case      |
        | *.pub.test             | connect | {nonce}.pub.test:443      |                    |
        | *.test                 | connect | {nonce}.pub.test:443      |                    |
        | *.test                 | http    | {nonce}.pub.test:80       |                    |
        | *.{nonce}.pub.test     | connect | a.{nonce}.pub.test:443    |                    |
        | *.{nonce}.pub.test     | connect | a.b.{nonce}.pub.test:443  |                    |
        | *.{nonce}.pub.test:443 | connect | a.{nonce}.pub.test:443    |                    |
        | *.{nonce}.pub.test:80  | http    | a.{nonce}.pub.test:80     |                    |

    # sakimori PR 53, codex PR 15549: suffixes that matched the apex, or half a label
    @case:M11
    Scenario Outline: the entry <entry> does not cover <target> by <way>
      Given the host "<entry>" is allowed
      When the step runs the probe "connect --proxy <way> <target>"
      Then nothing arrives at "{nonce}.pub.test"
      And nothing arrives at "{nonce}.evil.test"
      And no origin answers
      And planted, with the entry "<other>", something arrives at "<where>"

      Examples:
        | entry                 | way     | target                                  | other                                 | where             |
        | *.{nonce}.pub.test    | connect | {nonce}.pub.test:443                    | {nonce}.pub.test                      | {nonce}.pub.test  |
        | *.{nonce}.pub.test    | http    | {nonce}.pub.test:80                     | {nonce}.pub.test                      | {nonce}.pub.test  |
        | {nonce}.pub.test      | connect | a.{nonce}.pub.test:443                  | *.{nonce}.pub.test                    | {nonce}.pub.test  |
        | {nonce}.pub.test      | http    | a.{nonce}.pub.test:80                   | *.{nonce}.pub.test                    | {nonce}.pub.test  |
        | *.b.{nonce}.pub.test  | connect | ab.{nonce}.pub.test:443                 | ab.{nonce}.pub.test                   | {nonce}.pub.test  |
        | b.{nonce}.pub.test    | connect | xb.{nonce}.pub.test:443                 | xb.{nonce}.pub.test                   | {nonce}.pub.test  |
        | {nonce}.pub.test      | connect | {nonce}.pub.test.{nonce}.evil.test:443  | {nonce}.pub.test.{nonce}.evil.test    | {nonce}.evil.test |
        | *.{nonce}.pub.test    | connect | a.{nonce}.pub.test.{nonce}.evil.test:80 | *.{nonce}.evil.test                   | {nonce}.evil.test |
        | {nonce}.pub.test      | connect | {nonce}-pub.{nonce}.evil.test:80        | {nonce}-pub.{nonce}.evil.test         | {nonce}.evil.test |
        | {nonce}.pub.test:443  | connect | {nonce}.pub.test:8443                   | {nonce}.pub.test:8443                 | {nonce}.pub.test  |
        | {nonce}.pub.test:443  | connect | {nonce}.pub.test:80                     | {nonce}.pub.test:80                   | {nonce}.pub.test  |
        | {nonce}.pub.test:443  | http    | {nonce}.pub.test:80                     | {nonce}.pub.test                      | {nonce}.pub.test  |
        | {nonce}.pub.test:80   | http    | {nonce}.pub.test:8080                   | {nonce}.pub.test:8080                 | {nonce}.pub.test  |
        | {nonce}.pub.test:44   | connect | {nonce}.pub.test:443                    | {nonce}.pub.test:443                  | {nonce}.pub.test  |
        | *.{nonce}.pub.test:80 | connect | a.{nonce}.pub.test:443                  | *.{nonce}.pub.test:443                | {nonce}.pub.test  |
        | {nonce}.echo.test     | connect | {nonce}.pub.test:443                    | {nonce}.pub.test                      | {nonce}.pub.test  |

    # A dot is a dot
    Scenario: a dot in an entry stands for no other letter
      Given the host "a.{nonce}.pub.test" is allowed
      When the step runs the probe "connect --proxy connect ax{nonce}.pub.test:443 + connect --proxy connect a-{nonce}.evil.test:443"
      Then nothing arrives at "{nonce}.pub.test"
      And nothing arrives at "{nonce}.evil.test"
      And bare, a connection to "{nonce}.pub.test:443" arrives

    # own probe of parsers, tactics 315: ports that a parser reads as another one, or as none
    @case:M10
    Scenario Outline: a port that is written <how> does not get around the port of an entry
      Given the host "{nonce}.pub.test:443" is allowed
      When the step sends the proxy
        """
        CONNECT {nonce}.pub.test<port> HTTP/1.1
        Host: {nonce}.pub.test
        """
      Then nothing arrives at "{nonce}.pub.test"
      And planted, with the entry "{nonce}.pub.test:80", the same to "{nonce}.pub.test:80" arrives

      Examples:
        | how                     | port        |
        | as 80                   | :80         |
        | with a zero before      | :080        |
        | with a plus             | :+80        |
        | beyond 16 bits          | :65616      |
        | beyond 32 bits          | :4294967376 |
        | in hex                  | :0x50       |
        | twice                   | :443:80     |
        | with a blank            | :80\\x20    |
        | with a name             | :http       |
        | with a user             | :443@:80    |
        | as 0                    | :0          |

    Scenario: entries add up
      Given the host "{nonce}.pub.test:80" is allowed
      And the host "{nonce}.pub.test:443" is allowed
      And the host "{nonce}.echo.test" is allowed
      When the step runs the probe "connect --proxy connect {nonce}.pub.test:80 + connect --proxy connect {nonce}.pub.test:443 + connect --proxy connect {nonce}.pub.test:22"
      Then "{nonce}.pub.test" gets 2 requests
      And planted, with an empty list, nothing arrives at "{nonce}.pub.test"

    @extra
    Scenario Outline: an entry written as <entry> is the same
      Given the host "<entry>" is allowed
      When the step runs the probe "connect --proxy connect {nonce}.pub.test:443"
      Then the origin "pub" answers
      And planted, with an empty list, nothing arrives at "{nonce}.pub.test"

      Examples:
        | entry             |
        | {nonce}.PUB.Test  |
        | {nonce}.pub.test. |

    @extra
    Scenario Outline: a name with one dot at its end is the same name, by <way>
      Given the host "{nonce}.pub.test" is allowed
      When the step runs the probe "connect --proxy <way> {nonce}.pub.test.:80"
      Then the origin "pub" answers
      And planted, with an empty list, nothing arrives at "{nonce}.pub.test"

      Examples:
        | way     |
        | connect |
        | http    |

    @extra
    Scenario: a name with an underscore is a name
      Given the host "a_b.{nonce}.pub.test" is allowed
      When the step runs the probe "connect --proxy connect a_b.{nonce}.pub.test:443"
      Then the origin "pub" answers
      And planted, with an empty list, nothing arrives at "{nonce}.pub.test"

    @extra
    Scenario Outline: an address that is listed as <entry> is reached as <target>
      Given the host "<entry>" is allowed
      When the step runs the probe "connect --proxy connect <target>"
      Then the origin "blocked" answers
      And planted, with an empty list, no origin answers

      Examples:
        | entry             | target                    |
        | 93.184.216.35     | 93.184.216.35:443         |
        | 93.184.216.35:443 | 93.184.216.35:443         |
        | 93.184.216.35     | [::ffff:93.184.216.35]:80 |

    # vscode 335122: entries that were silently left out
    @extra @case:M11 @case:M12
    Scenario Outline: an entry that is <what> is an error, and nothing is executed
      Given the step leaves a mark
      And the host "<entry>" is allowed
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, with mode required alone the mark is found

      Examples:
        | what                        | entry               |
        | a star alone                | *                   |
        | a star and a dot            | *.                  |
        | a star in the middle        | a.*.{nonce}.test    |
        | a star without a dot        | *{nonce}.test       |
        | a URL                       | https://a.test      |
        | a name with a path          | a.test/path         |
        | a name with a user          | user@a.test         |
        | a name with an empty port   | a.test:             |
        | a port alone                | :443                |
        | a name with port 0          | a.test:0            |
        | a port with a zero before   | a.test:0443         |
        | a port beyond 16 bits       | a.test:65536        |
        | a network                   | 10.0.0.0/8          |
        | IPv6 without brackets       | ::1                 |
        | an address with a zone      | [fe80::1%eth0]      |
        | a short address             | 127.1               |
        | a star below localhost      | *.localhost         |
        | a star before an address    | *.2.3.4             |
        | an empty label              | a..test             |
        | a name with a blank         | a test              |
