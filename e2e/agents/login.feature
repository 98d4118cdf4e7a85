@needs:factory @needs:allowlist @agent:claude
Feature: A real agent that holds its own login
  Claude Code with a login token, which no factory can keep from it, talks to its provider's own name, by TLS through the proxy.

  @INJ-07
  Rule: Login tokens and login folders an agent CLI must hold itself stay inside

    Scenario: it works with a login token in its environment, and its model can see it there
      Given a sandboxed step
      And the network is allowlist
      And the step is run by the real Claude Code, which asks for no permission
      And the step has the variable "CLAUDE_CODE_OAUTH_TOKEN" with "login-of-the-user"
      And the step has the variable "NODE_EXTRA_CA_CERTS" with "/etc/ssl/certs/ca-certificates.crt"
      When its model asks for
        | Bash | tr '\\0' '\\n' </proc/$PPID/environ | |
      Then every request of the model has one credential, "Bearer login-of-the-user"
      And the model sees "CLAUDE_CODE_OAUTH_TOKEN=login-of-the-user"
      And the egress.log names no host
      And planted, without "CLAUDE_CODE_OAUTH_TOKEN" the model is told nothing
