@needs:factory @needs:secret
Feature: What passes between a step and its provider
  Answers arrive as the provider sends them, and the key is in no header of them, nor in what is written down. A body is not
  searched: a provider that says the key back in one shows it.

  @INJ-05
  Rule: Streaming answers (SSE) arrive as they are sent; redirects are not followed; host, path and absolute-form tricks do not move the key; the key is in no log, event or core dump

    Background:
      Given a sandboxed step
      And the network is allowlist
      And a key for "https://{nonce}.api.test" is injected

    # The provider sends the next event only when the client has told that it has the one before
    @program:curl
    Scenario: events arrive one by one
      When the step runs the shell command "curl -sSN "$API_URL/stream" | while read -r line; do echo "$line"; case $line in data:*) curl -sS "$API_URL/seen" >&2 ;; esac; done"
      Then the client gets "data: 3 kusaw-origin:api"
      And planted, "curl -sSN "$API_URL/again/stream"", which never tells, does not get "data: 2"

    Scenario Outline: a redirect <where> is told and not followed
      When the step sends its "API_URL"
        """
        GET {base}/<path> HTTP/1.1
        Host: {authority}
        Connection: close
        """
      Then it is answered with "<status>"
      And "{nonce}.api.test" gets 1 request
      And not a byte arrives at "{nonce}.evil.test"
      And bare, a connection to "{nonce}.evil.test:80" arrives

      Examples:
        | where                   | path       | status |
        | to another host         | moved      | 307    |
        | to the provider's own   | moved-home | 302    |

    Scenario: a redirect to another host is told as it is
      When the step sends its "API_URL"
        """
        GET {base}/moved HTTP/1.1
        Host: {authority}
        Connection: close
        """
      Then an answer has "http://{nonce}.evil.test/moved"
      And bare, sent to "{nonce}.api.test" itself, the same has "http://{nonce}.evil.test/moved"

    @program:curl
    Scenario: a redirect of the provider to itself goes on by the local address
      When the step runs the shell command "curl -sSL "$API_URL/moved-home" && echo"
      Then the client gets the answer of the origin "api"
      And every request to "{nonce}.api.test" has one header "x-api-key", with "{api-key}"
      And "{nonce}.api.test" gets 2 requests
      And planted, a key that goes elsewhere is noticed

    Scenario Outline: an odd request is refused, and nothing arrives: <what>
      When the step sends its "API_URL"
        """
        <request>
        Connection: close
        """
      Then it is answered with "<status>"
      And nobody is called at "{nonce}.api.test"
      And nobody is called at "{nonce}.evil.test"
      And bare, a connection to "{nonce}.api.test:80" arrives

      Examples:
        | what                         | request                                                                              | status |
        | the host of another          | GET {base}/v1 HTTP/1.1\\r\\nHost: {nonce}.evil.test                                  | 421    |
        | the host of the provider     | GET {base}/v1 HTTP/1.1\\r\\nHost: {nonce}.api.test                                   | 421    |
        | two hosts                    | GET {base}/v1 HTTP/1.1\\r\\nHost: {authority}\\r\\nHost: {nonce}.evil.test           | 421    |
        | no host                      | GET {base}/v1 HTTP/1.1                                                               | 421    |
        | an absolute URL of its own   | GET http://{authority}{base}/v1 HTTP/1.1\\r\\nHost: {authority}                      | 400    |
        | an absolute URL of another   | GET http://{nonce}.evil.test{base}/v1 HTTP/1.1\\r\\nHost: {authority}                | 400    |
        | without the base             | GET /v1 HTTP/1.1\\r\\nHost: {authority}                                              | 404    |
        | the root                     | GET / HTTP/1.1\\r\\nHost: {authority}                                                | 404    |
        | another base                 | GET {base}0/v1 HTTP/1.1\\r\\nHost: {authority}                                       | 404    |
        | a folder up                  | GET {base}/a/../v1 HTTP/1.1\\r\\nHost: {authority}                                   | 400    |
        | a folder up, escaped         | GET {base}/%2e%2e/v1 HTTP/1.1\\r\\nHost: {authority}                                 | 400    |
        | a folder up with a parameter | GET {base}/a/..;x/v1 HTTP/1.1\\r\\nHost: {authority}                                 | 400    |
        | two slashes                  | GET {base}//v1 HTTP/1.1\\r\\nHost: {authority}                                       | 400    |
        | a slash, escaped             | GET {base}/a%2f..%2fv1 HTTP/1.1\\r\\nHost: {authority}                               | 400    |
        | a backslash, escaped         | GET {base}/a%5cb HTTP/1.1\\r\\nHost: {authority}                                     | 400    |
        | an upgrade                   | GET {base}/v1 HTTP/1.1\\r\\nHost: {authority}\\r\\nUpgrade: websocket                | 400    |
        | another coding               | POST {base}/v1 HTTP/1.1\\r\\nHost: {authority}\\r\\nTransfer-Encoding: gzip, chunked | 400    |
        | OPTIONS                      | OPTIONS {base}/v1 HTTP/1.1\\r\\nHost: {authority}                                    | 405    |
        | TRACE                        | TRACE {base}/v1 HTTP/1.1\\r\\nHost: {authority}                                      | 405    |
        | a tunnel                     | CONNECT {nonce}.evil.test:80 HTTP/1.1\\r\\nHost: {nonce}.evil.test:80                | 421    |

    # OpenSandbox PR 955: a provider that says back what it was sent
    @case:I05
    Scenario: a header of an answer that holds the key does not arrive
      When the step sends its "API_URL"
        """
        GET {base}/echo-header HTTP/1.1
        Host: {authority}
        x-api-key: of-the-client
        Connection: close
        """
      Then it is answered with "502"
      And the key does not arrive
      And bare, sent to "{nonce}.api.test" itself, the same has "of-the-client"

    # nono, sandy 297
    @case:I08 @needs:egress-log @needs:events
    Scenario: it is in no log, event or other file of the attempt, also where requests go wrong
      Given the host "unknown.example" is allowed
      When the step sends its "API_URL"
        """
        GET {base}/echo-header HTTP/1.1
        Host: {authority}
        ---
        GET {base}/moved HTTP/1.1
        Host: {authority}
        ---
        GET {base}/v1 HTTP/9.9
        Host: {authority}
        """
      Then the key does not arrive
      And no file of the attempt holds the key
      And the key arrives at "{nonce}.api.test" alone
      And planted, one that does is noticed
