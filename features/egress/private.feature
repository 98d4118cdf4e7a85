Feature: Private addresses
  A name of the list is somebody else's to point anywhere. Where it leads to this machine or its network, the proxy does not
  follow, unless an entry names that place itself. What must not be reached notes whoever comes.

  @EGR-09
  Rule: A name or literal that leads to a private, loopback or link-local address is refused unless an entry names it

    Background:
      Given a sandboxed step
      And the network is allowlist
      And a service at every special address, on a port of its own

    # ckan-mcp-server GHSA-798p-78g2-v556, tactics 315
    @case:A07
    Scenario Outline: a listed name that leads to <what> is not reached, by <way>
      Given the host "{nonce}.<script>.test" is allowed
      When the step runs the probe "connect --proxy <way> {nonce}.<script>.test:{port}"
      Then nothing arrives at a special address
      And no origin answers
      And bare, a connection to "{nonce}.<script>.test:{port}" arrives

      Examples:
        | what                            | script         | way     |
        | loopback                        | loopback       | connect |
        | loopback                        | loopback       | http    |
        | another address of loopback     | loopback-other | connect |
        | the unspecified address         | zero           | connect |
        | 10.0.0.0/8                      | private-10     | connect |
        | 10.0.0.0/8                      | private-10     | http    |
        | 172.16.0.0/12                   | private-172    | connect |
        | 192.168.0.0/16                  | private-192    | connect |
        | a link-local address            | link-local     | connect |
        | the metadata of a cloud         | metadata       | connect |
        | the metadata of a cloud         | metadata       | http    |
        | an address of this machine      | own            | connect |
        | a name that leads to loopback   | cname-loopback | connect |

    @case:A07 @case:A02 @needs:ipv6
    Scenario Outline: with IPv6, a listed name that leads to <what> is not reached
      Given the host "{nonce}.<script>.test" is allowed
      When the step runs the probe "connect --proxy connect {nonce}.<script>.test:{port}"
      Then nothing arrives at a special address
      And no origin answers
      And bare, a connection to "{nonce}.<script>.test:{port}" arrives

      Examples:
        | what                                | script         |
        | loopback                            | loopback-6     |
        | the unspecified address             | zero-6         |
        | a unique local address              | private-6      |
        | the metadata of a cloud             | metadata-6     |
        | loopback mapped into IPv6           | mapped         |
        | a private address mapped into IPv6  | mapped-private |

    # agent-airlock, CVE-2026-47390; CVE-2021-29922; zeptoclaw GHSA-j8q9-r9pq-2hh9; FreshRSS PR 9195
    @case:A01 @case:A04
    Scenario Outline: the address <literal> is not reached, by <way>
      When the step runs the probe "connect --proxy <way> <literal>:{port}"
      Then nothing arrives at a special address
      And no origin answers
      And bare, a connection to "<plain>:{port}" arrives

      Examples:
        | literal         | plain           | way     |
        | 127.0.0.1       | 127.0.0.1       | connect |
        | 127.0.0.1       | 127.0.0.1       | http    |
        | 127.8.9.10      | 127.8.9.10      | connect |
        | 127.1           | 127.0.0.1       | connect |
        | 127.0.1         | 127.0.0.1       | connect |
        | 0x7f.1          | 127.0.0.1       | connect |
        | 0x7f000001      | 127.0.0.1       | connect |
        | 2130706433      | 127.0.0.1       | connect |
        | 017700000001    | 127.0.0.1       | connect |
        | 0177.0.0.1      | 127.0.0.1       | connect |
        | 127.0.0.01      | 127.0.0.1       | connect |
        | 127.0.0.1.      | 127.0.0.1       | connect |
        | 0x7f.1          | 127.0.0.1       | http    |
        | 2130706433      | 127.0.0.1       | http    |
        | 0               | 0.0.0.0         | connect |
        | 0.0.0.0         | 0.0.0.0         | connect |
        | 10.200.0.1      | 10.200.0.1      | connect |
        | 172.16.0.1      | 172.16.0.1      | connect |
        | 192.168.0.1     | 192.168.0.1     | connect |
        | 169.254.169.254 | 169.254.169.254 | connect |
        | 169.254.169.254 | 169.254.169.254 | http    |
        | 10.9.0.2        | 10.9.0.2        | connect |
        | localhost       | 127.0.0.1       | connect |
        | localhost       | 127.0.0.1       | http    |
        | devbox          | 127.0.0.1       | connect |

    @case:A02 @case:A09 @needs:ipv6
    Scenario Outline: with IPv6, an address is not reached by <way>: <what>
      When the step runs the probe "connect --proxy <way> <literal>:{port}"
      Then nothing arrives at a special address
      And no origin answers
      And bare, a connection to "<plain>:{port}" arrives

      Examples:
        | what                          | literal                  | plain                | way     |
        | loopback                      | [::1]                    | [::1]                | connect |
        | loopback                      | [::1]                    | [::1]                | http    |
        | loopback at length            | [0:0:0:0:0:0:0:1]        | [::1]                | connect |
        | unspecified                   | [::]                     | [::]                 | connect |
        | loopback mapped               | [::ffff:127.0.0.1]       | [::ffff:127.0.0.1]   | connect |
        | loopback mapped in hex        | [::ffff:7f00:1]          | [::ffff:127.0.0.1]   | connect |
        | 10.200.0.1 mapped             | [::ffff:10.200.0.1]      | [::ffff:10.200.0.1]  | connect |
        | metadata mapped               | [::ffff:169.254.169.254] | 169.254.169.254      | connect |
        | unique local                  | [fd12::1]                | [fd12::1]            | connect |
        | metadata                      | [fd00:ec2::254]          | [fd00:ec2::254]      | connect |
        | this machine's own            | [fd09::2]                | [fd09::2]            | connect |
        | loopback with a zone          | [::1%lo]                 | [::1]                | connect |
        | loopback with an escaped zone | [::1%25lo]               | [::1]                | connect |
        | loopback without brackets     | ::1                      | [::1]                | connect |

    # A suffix names hosts, not places
    Scenario: a listed suffix does not open what its names lead to
      Given the host "*.test" is allowed
      When the step runs the probe "connect --proxy connect {nonce}.loopback.test:{port} + connect --proxy connect {nonce}.private-10.test:{port} + connect --proxy connect {nonce}.metadata.test:{port}"
      Then nothing arrives at a special address
      And no origin answers
      And bare, a connection to "{nonce}.loopback.test:{port}" arrives

    # The unlucky order, and the lucky one
    Scenario Outline: a listed name that leads to a public address and to <what> does not reach the latter
      Given the host "{nonce}.<script>.test" is allowed
      When the step runs the probe "connect --proxy connect --times 4 {nonce}.<script>.test:{port} + connect --proxy http {nonce}.<script>.test:{port}"
      Then nothing arrives at loopback
      And bare, a connection to "{nonce}.loopback.test:{port}" arrives

      Examples:
        | what             | script     |
        | loopback, last   | mixed      |
        | loopback, first  | mixed-back |
        | loopback of IPv6 | mixed-6    |

    # cvat PR 6362, coder PR 24209: checked by one look-up, connected by another
    @case:A05
    Scenario Outline: a listed name that leads elsewhere from its second look-up on does not reach loopback, by <way> <times> times
      Given the host "{nonce}.rebind.test" is allowed
      When the step runs the probe "connect --proxy <way> --times <times> {nonce}.rebind.test:{port}"
      Then nothing arrives at loopback
      And "{nonce}.rebind.test" is looked up at least once
      And bare, a connection to "{nonce}.loopback.test:{port}" arrives

      Examples:
        | way     | times |
        | connect | 1     |
        | connect | 5     |
        | http    | 1     |
        | http    | 5     |

    # openai/codex 33227: what is named must work
    @case:A08
    Scenario Outline: the entry <entry> reaches <target>, by <way>
      Given the host "<entry>" is allowed
      When the step runs the probe "connect --proxy <way> <target>:{port}"
      Then the origin "host" answers
      And planted, with an empty list, no origin answers

      Examples:
        | entry            | target    | way     |
        | localhost        | localhost | connect |
        | localhost        | localhost | http    |
        | localhost:{port} | localhost | connect |
        | 127.0.0.1        | 127.0.0.1 | connect |
        | 127.0.0.1:{port} | 127.0.0.1 | http    |

    Scenario: an entry that names a private address reaches it
      Given the host "10.200.0.1:{port}" is allowed
      When the step runs the probe "connect --proxy connect 10.200.0.1:{port}"
      Then the origin "private" answers
      And planted, with an empty list, no origin answers

    @case:A08 @case:N09
    Scenario Outline: the entry <entry> does not reach <target>
      Given the host "<entry>" is allowed
      When the step runs the probe "connect --proxy connect <target>:{port}"
      Then nothing arrives at a special address
      And no origin answers
      And bare, a connection to "127.0.0.1:{port}" arrives

      Examples:
        | entry             | target                 |
        | localhost:1025    | localhost              |
        | localhost:1025    | 127.0.0.1              |
        | localhost         | {nonce}.loopback.test  |
        | localhost         | 127.0.0.2              |
        | localhost         | foo.localhost          |
        | localhost         | 10.9.0.2               |
        | 10.200.0.2        | 10.200.0.1             |

    # The reference refuses more than the documentation's three words
    @extra
    Scenario Outline: a listed name that leads to <what> is refused
      Given the host "{nonce}.<script>.test" is allowed
      When the step runs the probe "connect --proxy connect {nonce}.<script>.test:{port}"
      Then nothing arrives at a special address
      And no origin answers
      And bare, a connection to "{nonce}.<script>.test:{port}" arrives

      Examples:
        | what                                | script         |
        | an address that is shared (RFC 6598)| shared         |
        | the metadata of another cloud       | metadata-other |
        | a public address of this machine    | own-public     |

    @extra @needs:ipv6
    Scenario Outline: with IPv6, a listed name that leads to <what> is refused
      Given the host "{nonce}.<script>.test" is allowed
      When the step runs the probe "connect --proxy connect {nonce}.<script>.test:{port}"
      Then nothing arrives at a special address
      And no origin answers
      And bare, a connection to "{nonce}.<script>.test:{port}" arrives

      Examples:
        | what                         | script         |
        | loopback behind NAT64        | nat64-loopback |
        | loopback behind 6to4         | sixtofour      |

    # smokescreen refuses all of NAT64, and with it networks that have nothing else
    @extra @needs:ipv6
    Scenario: a listed name that leads to a public address behind NAT64 is reached
      Given the host "{nonce}.nat64.test" is allowed
      When the step runs the probe "connect --proxy connect {nonce}.nat64.test:{port}"
      Then the origin "nat64" answers
      And planted, with an empty list, no origin answers

    @extra
    Scenario Outline: the literal <literal> is reached where localhost is listed
      Given the host "localhost:{port}" is allowed
      When the step runs the probe "connect --proxy connect <literal>:{port}"
      Then the origin "host" answers
      And planted, with an empty list, no origin answers

      Examples:
        | literal    |
        | 127.0.0.1  |
        | localhost. |
