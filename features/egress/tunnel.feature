Feature: What is in a tunnel
  TLS goes through the proxy as it is: what the step sees is the origin's, what the origin sees is the step's.

  @EGR-07
  Rule: TLS is tunnelled: the client sees the origin's own certificate, no CA is installed, no byte is changed

    Background:
      Given a sandboxed step
      And the network is allowlist
      And the host "{nonce}.tls.test" is allowed
      And the host "{nonce}.parrot.test" is allowed

    Scenario Outline: the certificate is the origin's own, on port <port>
      When the step runs the probe "hello --proxy connect {nonce}.tls.test:<port>"
      Then it gets the certificate that "{nonce}.tls.test:<port>" has for "{nonce}.tls.test"
      And bare, "{nonce}.tls.test:<port>" has another certificate for "other.{nonce}.tls.test"

      Examples:
        | port |
        | 443  |
        | 8443 |
        | 80   |

    Scenario: what a TLS client sends arrives as it was sent
      When the step runs the probe "hello --proxy connect {nonce}.tls.test:443"
      Then what arrives at "{nonce}.tls.test" is what was sent, with the server name "{nonce}.tls.test"
      And bare, "{nonce}.tls.test:443" has another certificate for "other.{nonce}.tls.test"

    # Addresses have none (RFC 6066), nor had old clients
    Scenario: a client without a server name gets through
      When the step runs the probe "hello --proxy connect --sni none {nonce}.tls.test:443"
      Then it gets the certificate that "{nonce}.tls.test:443" has for "none"
      And bare, "{nonce}.tls.test:443" has another certificate for "{nonce}.tls.test"

    Scenario Outline: every byte goes through a tunnel and back as it was, <times> times
      When the step sends <times> times every byte through a tunnel to "{nonce}.parrot.test:<port>"
      Then <times> times every byte comes back
      And bare, of <times> times every byte, sent to "{nonce}.parrot.test:<port>" itself with one bit changed, it is not so

      Examples:
        | times | port |
        | 1     | 443  |
        | 4     | 80   |
        | 64    | 443  |

    # A proxy that reads TLS has a certificate of its own to be believed in
    Scenario: no certificate is installed for the step
      When the step runs the shell command "for file in /etc/ssl/certs/ca-certificates.crt "$SSL_CERT_FILE" "$NODE_EXTRA_CA_CERTS" "$CURL_CA_BUNDLE" "$REQUESTS_CA_BUNDLE" "$GIT_SSL_CAINFO"; do [ -z "$file" ] || cat "$file"; done >trusted; tools/probe env SSL_CERT_FILE"
      Then in its worktree, all lines of "trusted" are lines of the host's "/etc/ssl/certs/ca-certificates.crt"
      And planted, of a step that adds a line to "trusted", one is no line of the host's "/etc/ssl/certs/ca-certificates.crt"

    # Another protocol than TLS on its port: git over SSH, for one
    Scenario: what is not TLS goes through a tunnel to port 443
      When the step sends the proxy
        """
        CONNECT {nonce}.parrot.test:443 HTTP/1.1
        Host: {nonce}.parrot.test:443
        ---
        SSH-2.0-probe
        """
      Then an answer has "SSH-2.0-probe"
      And planted, with an empty list, nothing arrives at "{nonce}.parrot.test"

  @EGR-19
  Rule: A tunnel whose TLS server name differs from the CONNECT host is closed and logged (switchable)

    Background:
      Given a sandboxed step
      And the network is allowlist
      And the host "{nonce}.tls.test" is allowed

    Scenario Outline: a tunnel is closed whose client asks for <what>
      When the step runs the probe "hello --proxy connect --sni <sni> {nonce}.tls.test:<port>"
      Then it gets no certificate
      And not a byte arrives at "{nonce}.tls.test"
      And bare, "{nonce}.tls.test:443" has another certificate for "<sni>"

      Examples:
        | what                             | sni                      | port |
        | another host                     | {nonce}.evil.test        | 443  |
        | another host, on another port    | {nonce}.evil.test        | 8443 |
        | a host below its own             | a.{nonce}.tls.test       | 443  |
        | a host above its own             | tls.test                 | 443  |
        | a host that begins with its name | {nonce}.tls.test.ev.test | 443  |

    # Whoever cuts its hello in pieces is looked at all the same: the test of the reference itself has that
    @needs:egress-log
    Scenario: a tunnel that is closed for its server name is logged
      When the step runs the probe "hello --proxy connect --sni {nonce}.evil.test {nonce}.tls.test:443"
      Then it gets no certificate
      And the egress.log names exactly "{nonce}.evil.test"
      And planted, a missing line is noticed

    Scenario Outline: a tunnel stays open whose client asks for its host in <case> case
      When the step runs the probe "hello --proxy connect --sni <sni> {nonce}.tls.test:443"
      Then it gets the certificate that "{nonce}.tls.test:443" has for "<sni>"
      And bare, "{nonce}.tls.test:443" has another certificate for "other.{nonce}.tls.test"

      Examples:
        | case  | sni              |
        | lower | {nonce}.tls.test |
        | upper | {nonce}.TLS.test |

    Scenario: with the check switched off a tunnel stays open
      Given the egress setting "sni" is "off"
      When the step runs the probe "hello --proxy connect --sni {nonce}.evil.test {nonce}.tls.test:443"
      Then it gets the certificate that "{nonce}.tls.test:443" has for "{nonce}.evil.test"
      And bare, "{nonce}.tls.test:443" has another certificate for "{nonce}.tls.test"
