Feature: Paths that are refused
  Some places are never for a step, whatever the settings say.

  @FS-16
  Rule: The reference refuses allow_read or allow_write of /, of the secret store and of its keys

    Background:
      Given a sandboxed step
      And the step leaves a mark

    @needs:factory
    Scenario Outline: allow_<how> of <what> is refused
      Given "<path>" may be <allowed>
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, with mode required alone the mark is found

      Examples:
        | how   | allowed | what                   | path    |
        | read  | read    | the root               | /       |
        | read  | read    | the root by dots       | /srv/.. |
        | read  | read    | the root, twice        | //      |
        | write | written | the root               | /       |
        | write | written | the root by dots       | /srv/.. |

    # with these a step would decide what is executed outside, now or in a later run
    @needs:factory
    Scenario Outline: allow_write of <what> is refused
      Given "<path>" may be written
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, with mode required alone the mark is found

      Examples:
        | what                             | path               |
        | the home                         | ~                  |
        | the factory's folder             | {factory}          |
        | the git folder of the repository | {repository}/.git  |
        | the repository itself            | {repository}       |
        | a folder of programs             | ~/.local/bin       |
        | a program that is started        | ~/.local/bin/claude |

    @needs:factory
    Scenario: allow_read of a link to the root is refused
      Given "{library}/door" is a link to "/"
      And "{library}/door" may be read
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, with mode required alone the mark is found

    @needs:factory
    Scenario: allow_read of the root in a step's own block is refused
      Given "/" may be read by this step
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, without the setting the mark is found

    @needs:factory @needs:protected
    Scenario Outline: allow_<how> of <what> is refused
      Given the factory has a secret store, keys and a signing shim
      And "<path>" may be <allowed>
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, with mode required alone the mark is found

      Examples:
        | how   | allowed | what                       | path         |
        | read  | read    | the secret store           | {store}      |
        | read  | read    | the keys                   | {keys}       |
        | read  | read    | a file of the secret store | {store}/secrets |
        | read  | read    | a file of the keys         | {keys}/identity |
        | write | written | the secret store           | {store}      |
        | write | written | the keys                   | {keys}       |
        | write | written | the folder above the store | {store}/..   |
        | write | written | the folder above the keys  | {keys}/..    |
        | write | written | what holds both, by its name | ~/.local/share |
        | read  | read    | the secret store by dots   | {store}/../store |

    @needs:factory @needs:protected
    Scenario Outline: allow_read of a link to <what> is refused
      Given the factory has a secret store, keys and a signing shim
      And "{library}/door" is a link to "<path>"
      And "{library}/door" may be read
      When the step is run
      Then the attempt is refused
      And no mark is found
      And planted, with mode required alone the mark is found

      Examples:
        | what             | path    |
        | the secret store | {store} |
        | the keys         | {keys}  |

    # what lies above them may be allowed: then they are hidden in it, or it is refused
    @case:R11 @needs:protected
    Scenario Outline: allow_<how> of <what> does not open <hidden>
      Given the factory has a secret store, keys and a signing shim
      And "<path>" may be <allowed>
      And the attempt may be refused
      When the step runs the probe "read <file> + list <folder>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | how   | allowed | what                 | path       | hidden           | file             | folder  |
        | read  | read    | the home             | ~          | the secret store | {store}/secrets  | {store} |
        | read  | read    | the home             | ~          | the keys         | {keys}/identity  | {keys}  |
        | write | written | the home             | ~          | the secret store | {store}/secrets  | {store} |
        | write | written | the home             | ~          | the keys         | {keys}/identity  | {keys}  |
        | read  | read    | the folder above     | {store}/.. | the secret store | {store}/secrets  | {store} |
        | read  | read    | the folder above     | {keys}/..  | the keys         | {keys}/identity  | {keys}  |

    @needs:validate @needs:protected
    Scenario Outline: validate tells that allow_<how> of <what> is refused
      Given the factory has a secret store, keys and a signing shim
      And "<path>" may be <allowed>
      When the settings are validated
      Then it warns "protected-path" of "<path>"
      And planted, of "/srv/data" it does not warn

      Examples:
        | how   | allowed | what             | path    |
        | read  | read    | the secret store | {store} |
        | read  | read    | the keys         | {keys}  |
        | write | written | the home         | ~       |
        | read  | read    | the root         | /       |
