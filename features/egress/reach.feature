Feature: What a step reaches
  With network: allowlist a step reaches the hosts of its list, by a tunnel or by plain HTTP, and no other one, however it asks.
  Whether something arrived is judged at the origin, which notes every connection.

  @EGR-01
  Rule: An allowed host is reached by CONNECT (TLS) and by plain HTTP

    Background:
      Given a sandboxed step
      And the network is allowlist
      And the host "{nonce}.pub.test" is allowed
      And the host "{nonce}.echo.test" is allowed
      And the host "{nonce}.sse.test" is allowed
      And the host "{nonce}.redirect.test" is allowed
      And the host "{nonce}.first.test" is allowed

    Scenario Outline: an allowed host is reached by <way>, on port <port>
      When the step runs the probe "connect --proxy <way> {nonce}.pub.test:<port>"
      Then the origin "pub" answers
      And planted, with an empty list, nothing arrives at "{nonce}.pub.test"

      Examples:
        | way     | port |
        | connect | 443  |
        | connect | 80   |
        | connect | 8080 |
        | connect | 22   |
        | http    | 80   |
        | http    | 8080 |

    Scenario: TLS is reached through a tunnel
      Given the host "{nonce}.tls.test" is allowed
      When the step runs the probe "hello --proxy connect {nonce}.tls.test:443"
      Then something arrives at "{nonce}.tls.test"
      And it gets the certificate that "{nonce}.tls.test:443" has for "{nonce}.tls.test"
      And planted, with an empty list, nothing arrives at "{nonce}.tls.test"

    Scenario Outline: a plain <method> request arrives
      When the step sends the proxy
        """
        <method> http://{nonce}.echo.test/path?query=1 HTTP/1.1
        Host: {nonce}.echo.test
        X-Of-The-Step: {nonce}
        Content-Length: <length>
        Connection: close

        <body>\
        """
      Then "{nonce}.echo.test" gets 1 request
      And every request to "{nonce}.echo.test" has the line "<method> /path?query=1 HTTP/1.1"
      And every request to "{nonce}.echo.test" has the line "X-Of-The-Step: {nonce}"
      And planted, with an empty list, nothing arrives at "{nonce}.echo.test"

      Examples:
        | method | length | body  |
        | GET    | 0      |       |
        | HEAD   | 0      |       |
        | POST   | 5      | hello |
        | PUT    | 5      | hello |
        | DELETE | 0      |       |

    Scenario: the body of a request arrives, and that of the answer comes back
      When the step sends the proxy
        """
        POST http://{nonce}.echo.test/ HTTP/1.1
        Host: {nonce}.echo.test
        Content-Length: 14
        Connection: close

        body-of-a-step\
        """
      Then an answer has "body-of-a-step"
      And planted, with an empty list, nothing arrives at "{nonce}.echo.test"

    Scenario: a body in chunks arrives
      When the step sends the proxy
        """
        POST http://{nonce}.echo.test/ HTTP/1.1
        Host: {nonce}.echo.test
        Transfer-Encoding: chunked
        Connection: close

        5
        chunk
        7
        -follow
        0

        """
      Then an answer has "chunk-follow"
      And "{nonce}.echo.test" gets 1 request
      And planted, with an empty list, nothing arrives at "{nonce}.echo.test"

    # Agents read their models' answers so
    Scenario: events come as they are sent
      When the step sends the proxy
        """
        GET http://{nonce}.sse.test/ HTTP/1.1
        Host: {nonce}.sse.test
        Connection: close
        """
      Then an answer has "data: 1 kusaw-origin:sse"
      And an answer has "data: 3 kusaw-origin:sse"
      And planted, with an empty list, nothing arrives at "{nonce}.sse.test"

    # Each event waits until the client has seen the one before
    @program:curl
    Scenario: events reach the step one by one
      Given the host "{nonce}.api.test" is allowed
      When the step runs the shell command "url=http://{nonce}.api.test; curl -sSN $url/stream | while read -r line; do echo "$line"; case $line in data:*) curl -sS $url/seen >&2 ;; esac; done"
      Then the client gets "data: 3 kusaw-origin:api"
      And planted, "curl -sSN http://{nonce}.api.test/again/stream", which never tells, does not get "data: 2"

    @extra
    Scenario: an origin learns that the step has said all, and the step that the origin has
      Given the host "{nonce}.parrot.test" is allowed
      When the step says all that it has to, through a tunnel to "{nonce}.parrot.test:80"
      Then all of it comes back, and the end
      And planted, where it does not say that it was all, "{nonce}.parrot.test:80" does not hang up

    # SSH and mail: nothing of the client is awaited
    Scenario: a server that speaks first is heard
      When the step sends the proxy
        """
        CONNECT {nonce}.first.test:22 HTTP/1.1
        Host: {nonce}.first.test:22
        """
      Then an answer has "220 kusaw-origin:first"
      And planted, with an empty list, nothing arrives at "{nonce}.first.test"

    # Python's urllib, requests and pip send it so
    Scenario: a tunnel that is asked for in HTTP/1.0 is opened
      When the step sends the proxy
        """
        CONNECT {nonce}.echo.test:80 HTTP/1.0
        ---
        GET /in-{nonce} HTTP/1.1
        Host: {nonce}.echo.test
        Connection: close
        """
      Then an answer has "GET /in-{nonce} HTTP/1.1"
      And planted, with an empty list, nothing arrives at "{nonce}.echo.test"

    Scenario: a WebSocket works through a tunnel
      Given the host "{nonce}.ws.test" is allowed
      When the step sends the proxy
        """
        CONNECT {nonce}.ws.test:80 HTTP/1.1
        Host: {nonce}.ws.test:80
        ---
        GET / HTTP/1.1
        Host: {nonce}.ws.test
        Connection: Upgrade
        Upgrade: websocket
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==
        Sec-WebSocket-Version: 13
        ---
        \x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58\
        """
      Then an answer has "kusaw-origin:ws"
      And an answer has "\x81\x05Hello"
      And planted, with an empty list, nothing arrives at "{nonce}.ws.test"

    # The proxy follows nothing: where to go is the client's to ask, and to be judged
    Scenario: an answer that sends the step on arrives as it is
      When the step sends the proxy
        """
        GET http://{nonce}.redirect.test/ HTTP/1.1
        Host: {nonce}.redirect.test
        Connection: close
        """
      Then an answer has "ocation: http://{nonce}.evil.test/"
      And nothing arrives at "{nonce}.evil.test"
      And planted, with an empty list, nothing arrives at "{nonce}.redirect.test"

    Scenario: two hosts of the list are reached in turn on one connection
      When the step sends the proxy
        """
        GET http://{nonce}.echo.test/one HTTP/1.1
        Host: {nonce}.echo.test
        ---
        GET http://{nonce}.pub.test/two HTTP/1.1
        Host: {nonce}.pub.test
        Connection: close
        """
      Then "{nonce}.echo.test" gets 1 request
      And planted, with an empty list, nothing arrives at "{nonce}.echo.test"

    @needs:ipv6
    Scenario: a host that has IPv6 alone is reached
      Given the host "{nonce}.v6.test" is allowed
      When the step runs the probe "connect --proxy connect {nonce}.v6.test:80"
      Then the origin "pub" answers
      And planted, with an empty list, nothing arrives at "{nonce}.v6.test"

    Scenario Outline: a host is reached whose name is <what>
      Given the host "{nonce}.<script>.test" is allowed
      When the step runs the probe "connect --proxy connect {nonce}.<script>.test:80"
      Then the origin "pub" answers
      And planted, with an empty list, nothing arrives at "{nonce}.<script>.test"

      Examples:
        | what                              | script |
        | another name for a public address | cname  |
        | answered late                     | slow   |
        | both IPv4 and IPv6                | both   |

    @program:curl @program:wget @program:python3 @program:pip3
    Scenario Outline: <client> reaches an allowed host by <scheme>
      Given the host "{nonce}.tls.test" is allowed
      When the step runs the shell command "<command>"
      Then the client gets the answer of the origin "<origin>"
      And planted, with an empty list, nothing arrives at "{nonce}.<origin>.test"

      Examples:
        | client          | scheme | origin | command                                                                                                             |
        | curl            | https  | tls    | curl -sS https://{nonce}.tls.test/                                                                                  |
        | curl            | http   | echo   | curl -sS http://{nonce}.echo.test/                                                                                  |
        | wget            | https  | tls    | wget -qO- https://{nonce}.tls.test/                                                                                 |
        | wget            | http   | echo   | wget -qO- http://{nonce}.echo.test/                                                                                 |
        | Python's urllib | https  | tls    | python3 -c 'import urllib.request as r; print(r.urlopen("https://{nonce}.tls.test/").read().decode())'            |
        | Python's urllib | http   | echo   | python3 -c 'import urllib.request as r; print(r.urlopen("http://{nonce}.echo.test/").read().decode())'            |
        | requests        | https  | tls    | python3 -c 'import requests as r; print(r.get("https://{nonce}.tls.test/").text)'                                 |
        | requests        | http   | echo   | python3 -c 'import requests as r; print(r.get("http://{nonce}.echo.test/").text)'                                 |

    @program:curl
    Scenario: git clones and pushes over https
      Given the host "{nonce}.depot.test" is allowed
      And a depot of the world holds a git repository
      When the step runs the shell command "cd "$TMPDIR"; git clone -q https://{nonce}.depot.test/git/demo.git c && cd c && echo more >>file && git -c user.name=n -c user.email=n@example commit -qam two && git push -q"
      Then the step ends with 0
      And the depot's git repository has the commit "two"
      And planted, with an empty list, nothing arrives at "{nonce}.depot.test"

    @program:pip3
    Scenario: pip downloads a package
      Given the host "{nonce}.depot.test" is allowed
      And a depot of the world holds a Python package
      When the step runs the shell command "cd "$TMPDIR"; pip3 download -q --no-deps --no-cache-dir --disable-pip-version-check --index-url https://{nonce}.depot.test/simple/ -d d demo-package && cat d/demo_package-1.0-py3-none-any.whl | wc -c"
      Then the step ends with 0
      And "{nonce}.depot.test" gets 2 requests
      And planted, with an empty list, nothing arrives at "{nonce}.depot.test"

    @extra @if-installed:npm
    Scenario: npm downloads a package
      Given the host "{nonce}.depot.test" is allowed
      And a depot of the world holds a npm package
      When the step runs the shell command "cd "$TMPDIR"; NODE_EXTRA_CA_CERTS=/etc/ssl/certs/lab-authority.pem npm_config_update_notifier=false npm pack --silent --registry https://{nonce}.depot.test/ demo-package && cat demo-package-1.0.0.tgz | wc -c"
      Then the step ends with 0
      And something arrives at "{nonce}.depot.test"
      And planted, with an empty list, nothing arrives at "{nonce}.depot.test"

    @extra @if-installed:cargo @if-installed:rustc
    Scenario: cargo downloads a crate
      Given the host "{nonce}.depot.test" is allowed
      And a depot of the world holds a crate
      When the step runs the shell command "cd "$TMPDIR"; mkdir -p p/src p/.cargo && cd p && : >src/lib.rs && printf '[package]\nname="p"\nversion="1.0.0"\nedition="2021"\n[dependencies]\ndemo-package={version="1",registry="lab"}\n' >Cargo.toml && printf '[registries.lab]\nindex="sparse+https://{nonce}.depot.test/index/"\n' >.cargo/config.toml && cargo fetch -q"
      Then the step ends with 0
      And "{nonce}.depot.test" gets 3 requests
      And planted, with an empty list, nothing arrives at "{nonce}.depot.test"

  @EGR-02
  Rule: A host that is not allowed is not reached by any route

    Background:
      Given a sandboxed step
      And the network is allowlist
      And the host "{nonce}.pub.test" is allowed
      And the host "{nonce}.echo.test" is allowed
      And the host "{nonce}.parrot.test" is allowed

    # claude-code 40213, 89165, 78608: only one of the routes was filtered
    @case:N04
    Scenario Outline: a host that is not listed is not reached by <way>, on port <port>
      When the step runs the probe "connect --proxy <way> {nonce}.evil.test:<port>"
      Then nothing arrives at "{nonce}.evil.test"
      And no origin answers
      And planted, with "{nonce}.evil.test" allowed, something arrives there

      Examples:
        | way     | port |
        | connect | 443  |
        | connect | 80   |
        | connect | 22   |
        | connect | 8080 |
        | http    | 80   |
        | http    | 8080 |

    @case:N04
    Scenario Outline: a host that is not listed is not reached by <method>
      When the step sends the proxy
        """
        <method> http://{nonce}.evil.test/ HTTP/1.1
        Host: {nonce}.evil.test
        Connection: close
        """
      Then nothing arrives at "{nonce}.evil.test"
      And planted, with "{nonce}.evil.test" allowed, something arrives there

      Examples:
        | method  |
        | GET     |
        | HEAD    |
        | POST    |
        | PUT     |
        | DELETE  |
        | OPTIONS |
        | PATCH   |

    @case:N04
    Scenario: a host that is not listed is not reached by a request to become a WebSocket
      When the step sends the proxy
        """
        GET http://{nonce}.evil.test/ HTTP/1.1
        Host: {nonce}.evil.test
        Connection: Upgrade
        Upgrade: websocket
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==
        Sec-WebSocket-Version: 13
        """
      Then nothing arrives at "{nonce}.evil.test"
      And planted, with "{nonce}.evil.test" allowed, something arrives there

    # OpenShell 2251, zed PR 59223: the second request of a connection was not looked at
    @case:M08
    Scenario Outline: a host that is not listed is not reached by a request <how>
      When the step sends the proxy
        """
        GET http://{nonce}.pub.test/ HTTP/1.1
        Host: {nonce}.pub.test
        <between>
        GET http://{nonce}.evil.test/ HTTP/1.1
        Host: {nonce}.evil.test
        <behind>
        GET http://{nonce}.pub.test/ HTTP/1.1
        Host: {nonce}.pub.test
        Connection: close
        """
      Then something arrives at "{nonce}.pub.test"
      And nothing arrives at "{nonce}.evil.test"
      And bare, a connection to "{nonce}.evil.test:80" arrives

      Examples:
        | how                                    | between | behind |
        | behind one that is allowed             | ---     | ---    |
        | sent at once with one that is allowed  |         |        |

    @case:M08
    Scenario: a host that is not listed is not reached by a tunnel behind a request that is allowed
      When the step sends the proxy
        """
        GET http://{nonce}.pub.test/ HTTP/1.1
        Host: {nonce}.pub.test

        CONNECT {nonce}.evil.test:80 HTTP/1.1
        Host: {nonce}.evil.test:80
        """
      Then something arrives at "{nonce}.pub.test"
      And nothing arrives at "{nonce}.evil.test"
      And bare, a connection to "{nonce}.evil.test:80" arrives

    # What is in a tunnel is for its host
    Scenario Outline: a host that is not listed is not reached by <what> inside an open tunnel
      When the step sends the proxy
        """
        CONNECT {nonce}.parrot.test:80 HTTP/1.1
        Host: {nonce}.parrot.test:80
        ---
        <line> HTTP/1.1
        Host: {nonce}.evil.test
        """
      Then nothing arrives at "{nonce}.evil.test"
      And an answer has "<line> HTTP/1.1"
      And bare, a connection to "{nonce}.evil.test:80" arrives

      Examples:
        | what      | line                            |
        | a CONNECT | CONNECT {nonce}.evil.test:80    |
        | a request | GET http://{nonce}.evil.test/   |

    # claude-code 87381: the same CONNECT was refused directly, and let through by way of a relay
    @case:N03 @program:socat
    Scenario Outline: a host that is not listed is not reached through a relay of the step's own, by <way>
      When the step runs the shell command "proxy=${<variable>#http://}; user=${proxy%${proxy##*@}}; proxy=${proxy##*@}; socat TCP-LISTEN:3999,bind=127.0.0.1,fork,reuseaddr TCP:${proxy%/} & for n in $(seq 100); do socat -u OPEN:/dev/null TCP:127.0.0.1:3999 2>/dev/null && break; sleep 0.02; done; <variable>=http://${user}127.0.0.1:3999 <lower>=http://${user}127.0.0.1:3999 tools/probe connect --proxy <way> {nonce}.evil.test:80 + connect --proxy <way> {nonce}.pub.test:80; code=$?; kill $!; exit $code"
      Then nothing arrives at "{nonce}.evil.test"
      And the origin "pub" answers
      And planted, with "{nonce}.evil.test" allowed, something arrives there

      Examples:
        | way     | variable    | lower       |
        | connect | HTTPS_PROXY | https_proxy |
        | http    | HTTP_PROXY  | http_proxy  |

    # A process of many that asks at once gets no other answer
    Scenario: a host that is not listed is not reached by one of twenty at a time
      When the step runs the probe "connect --proxy connect --parallel 20 {nonce}.evil.test:443 + connect --proxy http --parallel 20 {nonce}.evil.test:80"
      Then nothing arrives at "{nonce}.evil.test"
      And planted, with "{nonce}.evil.test" allowed, something arrives there

    # Null byte: Claude Code, sandbox-runtime (A. Guan, 2026). Brackets: smokescreen GHSA-qwrf-gfpj-qvj6. User info: vscode 335122.
    @case:M01 @case:M02 @case:M03 @case:M04 @case:M05
    Scenario Outline: a host that is not listed is not reached by a tunnel, as <how>
      When the step sends the proxy
        """
        CONNECT <target> HTTP/1.1
        Host: {nonce}.pub.test:80
        """
      Then nothing arrives at "{nonce}.evil.test"
      And no origin answers
      And bare, a connection to "{nonce}.evil.test:80" arrives

      Examples:
        | how                                | target                                            |
        | upper case                         | {nonce}.EVIL.test:80                              |
        | a name with a dot at its end       | {nonce}.evil.test.:80                             |
        | a name with two dots at its end    | {nonce}.evil.test..:80                            |
        | a name in brackets                 | [{nonce}.evil.test]:80                            |
        | a name behind an allowed user      | {nonce}.pub.test@{nonce}.evil.test:80             |
        | a name behind an allowed authority | {nonce}.pub.test:80@{nonce}.evil.test:80          |
        | a name before an allowed one       | {nonce}.evil.test:80@{nonce}.pub.test:80          |
        | a name before a null byte          | {nonce}.evil.test\\0{nonce}.pub.test:80            |
        | a name behind a null byte          | {nonce}.pub.test\\0{nonce}.evil.test:80            |
        | a name before an escaped null      | {nonce}.evil.test%00{nonce}.pub.test:80           |
        | a name before a blank              | {nonce}.evil.test:80 {nonce}.pub.test:80          |
        | a name before a tab                | {nonce}.evil.test:80\\t{nonce}.pub.test:80         |
        | a name before a line feed          | {nonce}.evil.test:80\\n{nonce}.pub.test:80         |
        | a name before a carriage return    | {nonce}.evil.test:80\\r{nonce}.pub.test:80         |
        | a name before a slash              | {nonce}.evil.test:80/{nonce}.pub.test:80          |
        | a name before a fragment           | {nonce}.evil.test:80#{nonce}.pub.test:80          |
        | a name before a query              | {nonce}.evil.test:80?{nonce}.pub.test:80          |
        | a name with two ports              | {nonce}.evil.test:80:80                           |
        | an absolute URL                    | http://{nonce}.evil.test:80                       |
        | an absolute URL with a path        | http://{nonce}.evil.test:80/{nonce}.pub.test      |
        | an escaped letter                  | {nonce}.ev%69l.test:80                            |
        | a longer name than the allowed one | x{nonce}.pub.test.{nonce}.evil.test:80            |
        | the allowed name before its own    | {nonce}.pub.test.{nonce}.evil.test:80             |

    @case:M01 @case:M03 @case:M04 @case:M05 @case:M07
    Scenario Outline: a host that is not listed is not reached by a plain request, as <how>
      When the step sends the proxy
        """
        GET <url> HTTP/1.1
        Host: <host>
        Connection: close
        """
      Then nothing arrives at "{nonce}.evil.test"
      And bare, a connection to "{nonce}.evil.test:80" arrives

      Examples:
        | how                                | url                                                 | host                              |
        | upper case                         | http://{nonce}.EVIL.test/                           | {nonce}.EVIL.test                 |
        | an upper-case scheme               | HTTP://{nonce}.evil.test/                           | {nonce}.evil.test                 |
        | a name with a dot at its end       | http://{nonce}.evil.test./                          | {nonce}.evil.test.                |
        | a name in brackets                 | http://[{nonce}.evil.test]/                         | {nonce}.pub.test                  |
        | a name behind an allowed user      | http://{nonce}.pub.test@{nonce}.evil.test/          | {nonce}.pub.test                  |
        | a name behind an allowed authority | http://{nonce}.pub.test:80@{nonce}.evil.test/       | {nonce}.pub.test                  |
        | a name before a backslash          | http://{nonce}.evil.test\\\\@{nonce}.pub.test/        | {nonce}.pub.test                  |
        | a name before an escaped null      | http://{nonce}.evil.test%00.{nonce}.pub.test/       | {nonce}.pub.test                  |
        | a name before a null byte          | http://{nonce}.evil.test\\0.{nonce}.pub.test/        | {nonce}.pub.test                  |
        | a Host beside an allowed URL       | http://{nonce}.pub.test/                            | {nonce}.evil.test                 |
        | a URL beside an allowed Host       | http://{nonce}.evil.test/                           | {nonce}.pub.test                  |
        | a Host beside a path               | /                                                   | {nonce}.evil.test                 |
        | a Host beside another scheme       | ftp://{nonce}.evil.test/                            | {nonce}.evil.test                 |
        | a URL without slashes              | http:{nonce}.evil.test/                             | {nonce}.evil.test                 |
        | a URL with three slashes           | http:///{nonce}.evil.test/                          | {nonce}.evil.test                 |
        | a name with a dot before it        | http://.{nonce}.evil.test/                          | {nonce}.evil.test                 |

    # RFC 9112, 3.2.2: the URL counts, whatever Host says; what the origin gets must say the same. To send nothing is right too.
    @case:M07
    Scenario: a request to an allowed host does not name another one to it
      When the step sends the proxy
        """
        GET http://{nonce}.echo.test/ HTTP/1.1
        Host: {nonce}.evil.test
        Connection: close
        """
      Then nothing arrives at "{nonce}.evil.test"
      And "{nonce}.echo.test" gets no request that has "{nonce}.evil.test"
      And bare, a connection to "{nonce}.evil.test:80" arrives

    Scenario: an address that is not listed is not reached
      When the step runs the probe "connect --proxy connect 93.184.216.35:443 + connect --proxy http 93.184.216.35:80"
      Then no origin answers
      And a proxy was asked
      And bare, "93.184.216.35:443" answers
