Feature: Open as written
  What the settings name is open, whatever it is. The suite shows how large that hole is; validate warns of it.

  @FS-11
  Rule: What allow_read or allow_write names is open as written; validate warns where it covers a protected path

    Background:
      Given a sandboxed step

    Scenario Outline: allow_<how> of <path> opens it: <probe>
      Given "<path>" may be <allowed>
      When the step runs the probe "<probe>"
      Then the secret arrives
      And planted, without the setting no secret arrives

      Examples:
        | how   | allowed | path         | probe                            |
        | read  | read    | ~/.aws       | read ~/.aws/credentials          |
        | read  | read    | ~/.aws       | list ~/.aws                      |
        | read  | read    | ~/.ssh       | read ~/.ssh/id_ed25519           |
        | read  | read    | ~/.ssh/config | read ~/.ssh/config              |
        | write | written | ~/.aws       | read ~/.aws/credentials          |
        | read  | read    | ~/src        | read {other}/customers.csv       |

    Scenario: allow_write of ~/.config/gh opens it for writing
      Given "~/.config/gh" may be written
      When the step runs the probe "write ~/.config/gh/made-{nonce} x"
      Then every action succeeds
      And on the host, "~/.config/gh/made-{nonce}" holds "x"
      And planted, without the setting it is not so

    # claude-code 32226: what is allowed as a whole is open as a whole
    @case:R11
    Scenario Outline: allow_read of the home opens <what>
      Given "~" may be read
      When the step runs the probe "read <path>"
      Then the secret arrives
      And planted, without the setting no secret arrives

      Examples:
        | what    | path                  |
        | ~/.netrc | ~/.netrc             |
        | ~/.ssh  | ~/.ssh/id_ed25519     |
        | ~/.gnupg | ~/.gnupg/trustdb.gpg |

    # greywall 55: a mount that is read-only does not stop connect(2)
    @case:S01
    Scenario: a socket in a folder that may be read is reached
      Given a service of the host listens at "{library}/shelf/agent"
      And "{library}/shelf" may be read
      When the step runs the probe "socket {library}/shelf/agent"
      Then the secret arrives
      And planted, without the setting no secret arrives

    @needs:validate
    Scenario Outline: validate warns of allow_<how> of <path>
      Given "<path>" may be <allowed>
      When the settings are validated
      Then it warns "W2" of "<path>"
      And planted, of "/srv/data" it does not warn

      Examples:
        | how   | allowed | path              |
        | read  | read    | ~                 |
        | read  | read    | /home             |
        | read  | read    | ~/.ssh            |
        | read  | read    | ~/.ssh/id_ed25519 |
        | read  | read    | ~/.gnupg          |
        | write | written | ~                 |
        | write | written | ~/.ssh            |
        | write | written | ~/.gnupg          |

    @needs:validate
    Scenario: validate warns of a link to ~/.ssh
      Given "{library}/door" is a link to "~/.ssh"
      And "{library}/door" may be read
      When the settings are validated
      Then it warns "W2" of "{library}/door"
      And planted, of "/srv/data" it does not warn

    @needs:validate
    Scenario: validate warns of what a step's own block allows
      Given "~/.ssh" may be read by this step
      When the settings are validated
      Then it warns "W2" of "~/.ssh"
      And planted, of "/srv/data" it does not warn

    @case:S01 @needs:validate @extra
    Scenario: validate warns of a folder in which a service of the host listens
      Given a service of the host listens at "{library}/shelf/agent"
      And "{library}/shelf" may be read
      When the settings are validated
      Then it warns "W2" of "{library}/shelf"
      And planted, of "/srv/data" it does not warn

    @needs:validate @extra
    Scenario: validate warns of a repository that may be written: git runs what a step writes into its hooks
      Given "/srv/data/repo" may be written
      When the settings are validated
      Then it warns "W2" of "/srv/data/repo"
      And planted, of "/srv/data" it does not warn

    # who is warned of everything reads no warning
    @needs:validate @extra
    Scenario Outline: validate does not warn of allow_<how> of <what>
      Given the user has the secrets
        | {library}/shelf/book |
      And "<path>" may be <allowed>
      When the settings are validated
      Then it does not warn "W2" of "<path>"
      And planted, of "~/.ssh" it warns

      Examples:
        | how   | allowed | what                | path            |
        | read  | read    | a folder in the home | {library}/shelf |
        | write | written | a folder in the home | {library}/shelf |
        | read  | read    | a folder of /opt    | /opt/data       |
        | write | written | a folder of /var    | /var/lib/data   |

    @needs:validate @needs:protected @extra
    Scenario Outline: validate warns of allow_<how> of <what>
      Given the factory has a secret store, keys and a signing shim
      And "<path>" may be <allowed>
      When the settings are validated
      Then it warns "W2" of "<path>"
      And planted, of "/srv/data" it does not warn

      Examples:
        | how   | allowed | what                            | path          |
        | read  | read    | what holds the secret store     | {store}/..    |
        | read  | read    | a repository of the factory     | {repository}  |
        | read  | read    | what holds its repositories     | ~/src         |
        | read  | read    | the session's sockets           | /run/user/42042 |
        | read  | read    | credentials                     | ~/.aws        |
        | read  | read    | a file of credentials           | ~/.netrc      |
        | read  | read    | a browser's data                | ~/.mozilla    |
        | read  | read    | settings of many programs       | ~/.config     |
        | write | written | what a shell starts             | ~/.bashrc     |
        | read  | read    | the folder of all attempts      | {factory}     |
