@needs:factory
Feature: What a refusal says
  Whoever is refused a host must see that it was, by whom, and what to write into the settings; and must not learn anything of
  the network from it.

  @EGR-18
  Rule: A refusal is 403 (400 where malformed) and names host, reason and the setting to add, never an address

    Background:
      Given a sandboxed step
      And the network is allowlist
      And the host "{nonce}.pub.test" is allowed

    Scenario Outline: a host that is not listed is refused with 403, by <way>
      When the step sends the proxy
        """
        <line> HTTP/1.1
        Host: {nonce}.evil.test
        """
      Then the proxy answers with "403"
      And an answer has "{nonce}.evil.test"
      And an answer has "not-allowed"
      And an answer has "sandbox.egress.allow"
      And no answer has "23.2."
      And nothing arrives at "{nonce}.evil.test"
      And bare, a connection to "{nonce}.evil.test:80" arrives

      Examples:
        | way     | line                          |
        | connect | CONNECT {nonce}.evil.test:80  |
        | http    | GET http://{nonce}.evil.test/ |

    Scenario: a port that no entry has is refused with its own reason
      Given the host "{nonce}.evil.test:443" is allowed
      When the step sends the proxy
        """
        CONNECT {nonce}.evil.test:80 HTTP/1.1
        Host: {nonce}.evil.test:80
        """
      Then the proxy answers with "403"
      And an answer has "{nonce}.evil.test:80"
      And an answer has "port-not-allowed"
      And an answer has "sandbox.egress.allow"
      And bare, a connection to "{nonce}.evil.test:80" arrives

    # sandbox-runtime: a refusal must not teach the sandbox what a name resolves to
    Scenario Outline: a name that leads to <what> is refused without its address
      Given the host "{nonce}.<script>.test" is allowed
      And a service at every special address, on a port of its own
      When the step sends the proxy
        """
        CONNECT {nonce}.<script>.test:{port} HTTP/1.1
        Host: {nonce}.<script>.test:{port}
        """
      Then the proxy answers with "403"
      And an answer has "{nonce}.<script>.test"
      And an answer has "private-address"
      And no answer has "<address>"
      And bare, a connection to "{nonce}.<script>.test:{port}" arrives

      Examples:
        | what            | script     | address         |
        | loopback        | loopback   | 127.0.0.1       |
        | 10.0.0.0/8      | private-10 | 10.200.         |
        | a cloud's data  | metadata   | 169.254.        |

    Scenario Outline: what is malformed is refused with 400: <what>
      When the step sends the proxy
        """
        <line>
        Host: {nonce}.pub.test
        """
      Then the proxy answers with "400"
      And nothing arrives at "{nonce}.pub.test"
      And planted, with the entry "{nonce}.pub.test", the same to "{nonce}.pub.test:80" arrives

      Examples:
        | what                     | line                                       |
        | a CONNECT without a port | CONNECT {nonce}.pub.test HTTP/1.1          |
        | port 0                   | CONNECT {nonce}.pub.test:0 HTTP/1.1        |
        | a port with a plus       | CONNECT {nonce}.pub.test:+80 HTTP/1.1      |
        | a port with a zero       | CONNECT {nonce}.pub.test:080 HTTP/1.1      |
        | a port beyond 16 bits    | CONNECT {nonce}.pub.test:65616 HTTP/1.1    |
        | an empty port            | CONNECT {nonce}.pub.test: HTTP/1.1         |
        | an empty host            | CONNECT :80 HTTP/1.1                       |
        | a user                   | CONNECT u:p@{nonce}.pub.test:80 HTTP/1.1   |
        | two dots at the end      | CONNECT {nonce}.pub.test..:80 HTTP/1.1     |
        | a star                   | CONNECT *.{nonce}.pub.test:80 HTTP/1.1     |
        | brackets around a name   | CONNECT [{nonce}.pub.test]:80 HTTP/1.1     |
        | an origin-form           | GET / HTTP/1.1                             |
        | another scheme           | GET https://{nonce}.pub.test/ HTTP/1.1     |
        | a short address          | CONNECT 127.1:80 HTTP/1.1                  |
        | an address as a number   | CONNECT 2130706433:80 HTTP/1.1             |
        | an address in hex        | CONNECT 0x7f000001:80 HTTP/1.1             |
        | an address in octal      | CONNECT 017700000001:80 HTTP/1.1           |
        | an address with a zero   | CONNECT 127.0.0.01:80 HTTP/1.1             |
        | an address with a zone   | CONNECT [::1%lo]:80 HTTP/1.1               |

    # A failure is no refusal: it is not the user's to allow
    Scenario Outline: <what> is no refusal: 502
      Given the host "<host>" is allowed
      When the step sends the proxy
        """
        CONNECT <host>:<port> HTTP/1.1
        Host: <host>:<port>
        """
      Then the proxy answers with "502"
      And an answer has "<code>"
      And no answer has "sandbox.egress.allow"
      And planted, with the entry "{nonce}.pub.test", the same to "{nonce}.pub.test:80" arrives

      Examples:
        | what                           | host             | port | code           |
        | a name that does not exist     | {nonce}.nx.test  | 80   | dns-failure    |
        | a port at which nobody listens | {nonce}.pub.test | 81   | connect-failed |
