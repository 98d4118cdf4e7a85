@needs:factory @needs:secret
Feature: The local address of a provider
  A client that can be given another address for its provider gets a local one, and a word in the key's place. What it sends
  there goes to the provider with the real key.

  @INJ-02
  Rule: base_url_env is set to the local address and key_env to factory-egress-placeholder; the proxy adds the header

    Background:
      Given a sandboxed step
      And the network is allowlist
      And a key for "https://{nonce}.api.test" is injected

    Scenario: the step has a local address and the placeholder
      When the step runs the probe "env API_URL API_KEY"
      Then the variable "API_URL" is a local address
      And the variable "API_KEY" is "factory-egress-placeholder"
      And planted, with nothing injected "API_KEY" is not set

    Scenario: what is sent to the local address arrives at the provider, with the key
      When the step sends its "API_URL"
        """
        GET {base}/v1/models HTTP/1.1
        Host: {authority}
        x-api-key: factory-egress-placeholder
        Connection: close
        """
      Then it is answered with "200"
      And an answer has "kusaw-origin:api"
      And every request to "{nonce}.api.test" has the line "GET /v1/models HTTP/1.1"
      And every request to "{nonce}.api.test" has the line "Host: {nonce}.api.test"
      And every request to "{nonce}.api.test" has a header "x-api-key", with "{api-key}"
      And bare, sent to "{nonce}.api.test" itself, the same has "factory-egress-placeholder"

    Scenario Outline: a body arrives as it was sent, <how>
      When the step sends its "API_URL"
        """
        POST {base}/v1/echo HTTP/1.1
        Host: {authority}
        <framing>
        Connection: close

        <body>\
        """
      Then it is answered with "200"
      And an answer has "the body of the request"
      And every request to "{nonce}.api.test" has a header "x-api-key", with "{api-key}"
      And bare, sent to "{nonce}.api.test" itself, the same has "the body of the request"

      Examples:
        | how             | framing                    | body                                                    |
        | with its length | Content-Length: 23         | the body of the request                                 |
        | in chunks       | Transfer-Encoding: chunked | 8\\r\\nthe body\\r\\nf\\r\\n of the request\\r\\n0\\r\\n\\r\\n |

    # OpenAI's clients and most gateways want a bearer token
    Scenario Outline: the key is added as the header <header>
      Given a key for "https://{nonce}.api.test" is injected as "OTHER" in the header "<header>: <format>"
      When the step sends its "OTHER_URL"
        """
        GET {base}/v1/models HTTP/1.1
        Host: {authority}
        Connection: close
        """
      Then it is answered with "200"
      And every request to "{nonce}.api.test" has a header "<header>", with "<value>"
      And planted, with nothing injected the same is not answered

      Examples:
        | header         | format    | value                  |
        | Authorization  | Bearer {} | Bearer {other-api-key} |
        | api-key        | {}        | {other-api-key}        |
        | x-goog-api-key | {}        | {other-api-key}        |

    Scenario: two providers have each their own address and key
      Given a key for "https://{nonce}.tls.test" is injected as "OTHER"
      When the step runs the shell command "tools/probe converse url:API_URL 'GET {base}/one HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n' + converse url:OTHER_URL 'GET {base}/two HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n'; true"
      Then every request to "{nonce}.api.test" has a header "x-api-key", with "{api-key}"
      And every request to "{nonce}.tls.test" has a header "x-api-key", with "{other-api-key}"
      And the key arrives at "{nonce}.api.test" alone
      And the other key arrives at "{nonce}.tls.test" alone
      And planted, with nothing injected the same is not answered

    @extra
    Scenario: a base path stands before every path
      Given its base path is "/v1"
      When the step sends its "API_URL"
        """
        GET {base}/models HTTP/1.1
        Host: {authority}
        Connection: close
        """
      Then every request to "{nonce}.api.test" has the line "GET /v1/models HTTP/1.1"
      And planted, with nothing injected the same is not answered

    @program:curl
    Scenario: a real client needs the two variables only
      When the step runs the shell command "curl -sS "$API_URL/v1/messages" -H "x-api-key: $API_KEY" -d '{}' && echo"
      Then the client gets the answer of the origin "api"
      And every request to "{nonce}.api.test" has a header "x-api-key", with "{api-key}"
      And planted, with nothing injected the same is not answered

  @INJ-03
  Rule: The provider receives exactly one credential header, the real key; client-sent ones are removed

    Background:
      Given a sandboxed step
      And the network is allowlist
      And a key for "https://{nonce}.api.test" is injected

    # getsentry/junior PR 338, OpenSandbox PR 955
    @case:I04
    Scenario Outline: a client's own key does not arrive: <what>
      When the step sends its "API_URL"
        """
        GET {base}/v1/models HTTP/1.1
        Host: {authority}
        <lines>
        Connection: close
        """
      Then it is answered with "200"
      And no request to "{nonce}.api.test" has "of-the-client"
      And every request to "{nonce}.api.test" has one header "x-api-key", with "{api-key}"
      And bare, sent to "{nonce}.api.test" itself, the same has "of-the-client"

      Examples:
        | what                   | lines                                                               |
        | the same header        | x-api-key: of-the-client                                            |
        | in capitals            | X-API-KEY: of-the-client                                            |
        | twice                  | x-api-key: of-the-client\\r\\nx-api-key: of-the-client              |
        | beside the placeholder | X-Api-Key: of-the-client\\r\\nx-api-key: factory-egress-placeholder |
        | a bearer token         | Authorization: Bearer of-the-client                                 |
        | basic credentials      | authorization: Basic of-the-client                                  |
        | Azure's header         | api-key: of-the-client                                              |
        | Google's header        | x-goog-api-key: of-the-client                                       |
        | a cookie               | Cookie: session=of-the-client                                       |
        | for a proxy            | Proxy-Authorization: Bearer of-the-client                           |

    @case:I04
    Scenario: a header that only this provider knows is replaced as well
      Given a key for "https://{nonce}.tls.test" is injected as "OTHER" in the header "x-gateway-token: {}"
      When the step sends its "OTHER_URL"
        """
        GET {base}/v1/models HTTP/1.1
        Host: {authority}
        X-Gateway-Token: of-the-client
        Connection: close
        """
      Then every request to "{nonce}.tls.test" has one header "x-gateway-token", with "{other-api-key}"
      And no request to "{nonce}.tls.test" has "of-the-client"
      And planted, with nothing injected the same is not answered

    @case:I04
    Scenario Outline: a Connection header does not take the key away: <what>
      When the step sends its "API_URL"
        """
        GET {base}/v1/models HTTP/1.1
        Host: {authority}
        <lines>
        """
      Then every request to "{nonce}.api.test" has one header "x-api-key", with "{api-key}"
      And every request to "{nonce}.api.test" has the line "Host: {nonce}.api.test"
      And bare, sent to "{nonce}.api.test" itself, the same has "of-the-client"

      Examples:
        | what                          | lines                                                      |
        | the key's header behind close | Connection: close, x-api-key\\r\\nx-api-key: of-the-client |
        | the key's header first        | Connection: X-Api-Key, close\\r\\nX-Api-Key: of-the-client |
        | the host                      | Connection: close, host\\r\\nx-more: of-the-client         |

    Scenario Outline: a key in the query does not arrive: <what>
      When the step sends its "API_URL"
        """
        GET {base}/v1/models?<query> HTTP/1.1
        Host: {authority}
        Connection: close
        """
      Then no request to "{nonce}.api.test" has "of-the-client"
      And every request to "{nonce}.api.test" has one header "x-api-key", with "{api-key}"
      And bare, sent to "{nonce}.api.test" itself, the same has "of-the-client"

      Examples:
        | what                     | query                     |
        | alone                    | key=of-the-client         |
        | behind another parameter | alt=sse&key=of-the-client |
        | by its other name        | api_key=of-the-client&a=b |
