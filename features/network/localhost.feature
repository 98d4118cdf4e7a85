Feature: The host's localhost
  Where a developer's server, a database and many an unguarded service listen. In allowlist mode it is as far away as any other
  host: only what the list names can be reached, and of that only the port that it names.

  @NET-05
  Rule: The host's localhost is not reachable in allowlist mode, except what is named or leased

    Background:
      Given a sandboxed step
      And the network is allowlist
      And services listen on the host's localhost

    Scenario Outline: cannot reach a service of the host directly at <where>
      Given the host "allowed.example" is allowed
      When the step runs the probe "connect --proxy none <authority>"
      Then no origin answers
      And bare, the same probe reaches an origin

      Examples:
        | where                         | authority         |
        | localhost                     | localhost:{local-port}  |
        | 127.0.0.1                     | 127.0.0.1:{local-port}  |
        | another address of 127.0.0.0  | 127.0.0.2:{local-port}  |
        | the address of all            | 0.0.0.0:{local-port}    |
        | ::1                           | [::1]:{local-port}      |
        | the host's own address        | 10.9.0.2:{local-port}   |

    Scenario Outline: cannot reach a service of the host by <way> at <where>
      Given the host "allowed.example" is allowed
      When the step runs the probe "connect --proxy <way> <authority>"
      Then no origin answers
      And bare, the probe "connect --proxy none <bare>" reaches an origin

      Examples:
        | way     | where                   | authority          | bare              |
        | connect | localhost               | localhost:{local-port}   | localhost:{local-port}  |
        | http    | localhost               | localhost:{local-port}   | localhost:{local-port}  |
        | connect | 127.0.0.1               | 127.0.0.1:{local-port}   | 127.0.0.1:{local-port}  |
        | http    | 127.0.0.1               | 127.0.0.1:{local-port}   | 127.0.0.1:{local-port}  |
        | connect | ::1                     | [::1]:{local-port}       | localhost:{local-port}  |
        | connect | the address of all      | 0.0.0.0:{local-port}     | 0.0.0.0:{local-port}    |
        | connect | 127.1                   | 127.1:{local-port}       | 127.0.0.1:{local-port}  |
        | connect | the host's own address  | 10.9.0.2:{local-port}    | 10.9.0.2:{local-port}   |
        | http    | the host's own address  | 10.9.0.2:{local-port}    | 10.9.0.2:{local-port}   |

    Scenario Outline: cannot send a datagram to a service of the host at <where>
      When the step runs the probe "datagram <words>"
      Then no origin answers
      And bare, the same probe reaches an origin

      Examples:
        | where                        | words                        |
        | 127.0.0.1                    | 127.0.0.1:{local-port}             |
        | 127.0.0.1, connected         | --connected 127.0.0.1:{local-port} |
        | ::1                          | [::1]:{local-port}                 |
        | the host's own address       | 10.9.0.2:{local-port}              |

    Scenario: cannot reach an abstract socket of the host
      When the step runs the probe "socket @lab-abstract"
      Then no secret arrives
      And bare, the same probe gets the secret

    Scenario: nobody inside leads to a service of the host
      When the step runs the probe "every-way localhost:{local-port}"
      Then no origin answers
      And planted, with "localhost:{local-port}" allowed the same command reaches an origin

    # NO_PROXY sends clients there directly: an entry that only the proxy heeds is of no use to them (claude-code 65482)
    @case:N06 @case:A08
    Scenario Outline: a service that is named is reached <how>
      Given "localhost:{local-port}" is allowed
      When the step runs the probe "connect --proxy <way> localhost:{local-port}"
      Then the origin "local" answers
      And planted, with no host allowed no origin answers

      Examples:
        | how                      | way     |
        | directly, as NO_PROXY says | none  |
        | by CONNECT               | connect |
        | by plain HTTP            | http    |

    # An entry for one port that opens every port (shpwrck/tactics 315)
    @case:N09 @case:A08
    Scenario Outline: beside a service that is named, cannot reach another port <how>
      Given "localhost:{local-port}" is allowed
      When the step runs the probe "connect --proxy <way> <authority>"
      Then no origin answers
      And bare, the probe "connect --proxy none <bare>" reaches an origin

      Examples:
        | how                               | way     | authority               | bare                    |
        | directly                          | none    | localhost:{other-port}  | localhost:{other-port}  |
        | directly, by its address          | none    | 127.0.0.1:{other-port}  | 127.0.0.1:{other-port}  |
        | by CONNECT                        | connect | localhost:{other-port}  | localhost:{other-port}  |
        | by plain HTTP                     | http    | localhost:{other-port}  | localhost:{other-port}  |
        | by CONNECT, by its address        | connect | 127.0.0.1:{other-port}  | 127.0.0.1:{other-port}  |

    @case:A08
    Scenario Outline: beside a service that is named, cannot reach its port at <where> by <way>
      Given "localhost:{local-port}" is allowed
      When the step runs the probe "connect --proxy <way> <authority>"
      Then no origin answers
      And bare, the probe "connect --proxy none <bare>" reaches an origin

      Examples:
        | way     | where                        | authority             | bare              |
        | connect | another address of 127.0.0.0 | 127.0.0.2:{local-port}      | 127.0.0.2:{local-port}  |
        | connect | the host's own address       | 10.9.0.2:{local-port}       | 10.9.0.2:{local-port}   |
        | http    | the host's own address       | 10.9.0.2:{local-port}       | 10.9.0.2:{local-port}   |
        | none    | the host's own address       | 10.9.0.2:{local-port}       | 10.9.0.2:{local-port}   |
        | connect | a name below localhost       | foo.localhost:{local-port}  | 127.0.0.1:{local-port}  |

    Scenario: beside a service that is named, cannot send it datagrams
      Given "localhost:{local-port}" is allowed
      When the step runs the probe "datagram 127.0.0.1:{local-port}"
      Then no origin answers
      And bare, the same probe reaches an origin
