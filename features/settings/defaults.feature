@needs:factory
Feature: Defaults
  What a factory gets that sets only part of the sandbox block: mode off, network open, no extra paths, no hosts,
  provider_hosts true, no injection.

  @SET-08
  Rule: Defaults: mode off, network open, no extra paths, no hosts, provider_hosts true, no injection

    Scenario Outline: mode is off when the block has only <key>
      Given the sandbox settings
        """
        <settings>
        """
      And the starts of the sandbox program are watched
      When the step runs the probe "read ~/.netrc"
      Then the secret arrives
      And no sandbox program is started
      And planted, with sandbox required a sandbox program is seen to start

      Examples:
        | key         | settings                           |
        | nothing     | {}                                 |
        | network     | network: allowlist                 |
        | allow       | egress: {allow: [allowed.example]} |
        | allow_read  | allow_read: []                     |
        | allow_write | allow_write: []                    |

    Scenario: network is open
      Given the sandbox settings
        """
        mode: required
        """
      When the step runs the probe "connect --proxy none blocked.example:443 + read ~/.netrc"
      Then the origin "blocked" answers
      And no secret arrives
      And bare, the same probe gets the secret

    Scenario: with network open no proxy is set and no host is refused
      Given the sandbox settings
        """
        mode: required
        """
      When the step runs the probe "connect --proxy connect allowed.example:443 + connect --proxy none allowed.example:443"
      Then the first action finds no proxy
      And the origin "allowed" answers
      And planted, with network allowlist the first action finds a proxy

    Scenario Outline: no path is added: <path>
      Given the sandbox settings
        """
        mode: required
        """
      When the step runs the probe "read <path>"
      Then no secret arrives
      And bare, the same probe gets the secret

      Examples:
        | path                    |
        | /srv/data/customers.csv |
        | /mnt/data/customers.csv |
        | /media/data/customers.csv |
        | /opt/data/customers.csv |
        | /var/data/customers.csv |
        | /var/lib/data/customers.csv |
        | /run/user/42042/customers.csv |
        | /tmp/customers.csv      |
        | /var/tmp/customers.csv  |
        | ~/.aws/credentials      |

    Scenario Outline: no path outside is writable: <folder>
      Given the sandbox settings
        """
        mode: required
        """
      When the step runs the probe "write <folder>/written-{nonce} x"
      Then "<folder>/written-{nonce}" is not there afterwards
      And bare, the same probe writes "<folder>/written-{nonce}"

      Examples:
        | folder          |
        | /srv/data       |
        | /mnt/data       |
        | /opt/data       |
        | /var/lib/data   |
        | /run/user/42042 |
        | /tmp            |
        | /var/tmp        |
        | /dev/shm        |
        | ~/Documents     |

    Scenario Outline: no host is allowed when <what>
      Given the sandbox settings
        """
        <settings>
        """
      When the step runs the probe "connect --proxy connect allowed.example:443"
      Then no origin answers
      And planted, with the host allowed the origin "allowed" answers

      Examples:
        | what                   | settings                                                 |
        | egress is left out     | {mode: required, network: allowlist}                     |
        | egress is empty        | {mode: required, network: allowlist, egress: {}}         |
        | the allow list is      | {mode: required, network: allowlist, egress: {allow: []}} |

    Scenario Outline: provider hosts are allowed when <what>
      Given the sandbox settings
        """
        <settings>
        """
      And the step is run by the provider "<provider>" with the prompt "tools/probe connect --proxy connect <host>:443"
      When the step is run
      Then the origin "provider" answers
      And planted, with provider_hosts false no origin answers

      Examples:
        | what                       | provider    | host              | settings                                                  |
        | egress is left out         | claude-code | api.anthropic.com | {mode: required, network: allowlist}                      |
        | only allow is set          | claude-code | api.anthropic.com | {mode: required, network: allowlist, egress: {allow: []}} |
        | the agent is another       | cursor      | api2.cursor.sh    | {mode: required, network: allowlist}                      |

    Scenario: a provider's hosts do not open others
      Given the sandbox settings
        """
        {mode: required, network: allowlist}
        """
      And the step is run by the provider "claude-code" with the prompt "tools/probe connect --proxy connect blocked.example:443"
      When the step is run
      Then no origin answers
      And bare, "blocked.example:443" answers

    Scenario: a provider's hosts are not allowed for a step without that provider
      Given the sandbox settings
        """
        {mode: required, network: allowlist}
        """
      When the step runs the probe "connect --proxy connect api.anthropic.com:443"
      Then no origin answers
      And bare, "api.anthropic.com:443" answers

    Scenario: nothing is injected
      Given the sandbox settings
        """
        {mode: required, network: allowlist}
        """
      When the step runs the probe "env"
      Then no variable holds "factory-egress-placeholder"
      And planted, a variable that holds "factory-egress-placeholder" is noticed
