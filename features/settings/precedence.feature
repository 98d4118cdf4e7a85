@needs:factory
Feature: Which value of sandbox counts
  The sandbox is set in three places: for a step, for a repository, for the factory. The most specific one wins, and
  among repositories the stricter one. "any" in the column mode stands for each of unset, off and required.

  @SET-02
  Rule: The step's; else required if any active repo says required; else off if all those repos say off; else sandbox.mode

    Scenario Outline: step <step>, repos <repos>, mode <mode>
      Given a step whose sandbox is "<step>"
      And its active repos have the sandbox "<repos>"
      And the factory's sandbox mode is "<mode>"
      When the step runs the shell command "cat ~/.netrc"
      Then it ran <effective>
      And bare, the same probe gets the secret

      Examples: the step says so
        | step             | repos              | mode     | effective |
        | off              | none               | any      | free      |
        | off              | unset              | any      | free      |
        | off              | off                | any      | free      |
        | off              | required           | any      | free      |
        | off              | unset+unset        | any      | free      |
        | off              | unset+off          | any      | free      |
        | off              | unset+required     | any      | free      |
        | off              | off+off            | any      | free      |
        | off              | off+required       | any      | free      |
        | off              | required+required  | any      | free      |
        | required         | none               | any      | confined  |
        | required         | unset              | any      | confined  |
        | required         | off                | any      | confined  |
        | required         | required           | any      | confined  |
        | required         | unset+unset        | any      | confined  |
        | required         | unset+off          | any      | confined  |
        | required         | unset+required     | any      | confined  |
        | required         | off+off            | any      | confined  |
        | required         | off+required       | any      | confined  |
        | required         | required+required  | any      | confined  |
        | {mode: off}      | none               | any      | free      |
        | {mode: off}      | unset              | any      | free      |
        | {mode: off}      | off                | any      | free      |
        | {mode: off}      | required           | any      | free      |
        | {mode: off}      | unset+unset        | any      | free      |
        | {mode: off}      | unset+off          | any      | free      |
        | {mode: off}      | unset+required     | any      | free      |
        | {mode: off}      | off+off            | any      | free      |
        | {mode: off}      | off+required       | any      | free      |
        | {mode: off}      | required+required  | any      | free      |
        | {mode: required} | none               | any      | confined  |
        | {mode: required} | unset              | any      | confined  |
        | {mode: required} | off                | any      | confined  |
        | {mode: required} | required           | any      | confined  |
        | {mode: required} | unset+unset        | any      | confined  |
        | {mode: required} | unset+off          | any      | confined  |
        | {mode: required} | unset+required     | any      | confined  |
        | {mode: required} | off+off            | any      | confined  |
        | {mode: required} | off+required       | any      | confined  |
        | {mode: required} | required+required  | any      | confined  |

      Examples: else required, if any active repo says required
        | step             | repos              | mode     | effective |
        | unset            | required           | any      | confined  |
        | unset            | unset+required     | any      | confined  |
        | unset            | off+required       | any      | confined  |
        | unset            | required+required  | any      | confined  |
        | {network: open}  | required           | any      | confined  |
        | {network: open}  | unset+required     | any      | confined  |
        | {network: open}  | off+required       | any      | confined  |
        | {network: open}  | required+required  | any      | confined  |

      Examples: else off, if all those repos say off
        | step             | repos              | mode     | effective |
        | unset            | off                | any      | free      |
        | unset            | off+off            | any      | free      |
        | {network: open}  | off                | any      | free      |
        | {network: open}  | off+off            | any      | free      |

      Examples: else the mode of the factory
        | step             | repos              | mode     | effective |
        | unset            | none               | unset    | free      |
        | unset            | none               | off      | free      |
        | unset            | none               | required | confined  |
        | unset            | unset              | unset    | free      |
        | unset            | unset              | off      | free      |
        | unset            | unset              | required | confined  |
        | unset            | unset+unset        | unset    | free      |
        | unset            | unset+unset        | off      | free      |
        | unset            | unset+unset        | required | confined  |
        | unset            | unset+off          | unset    | free      |
        | unset            | unset+off          | off      | free      |
        | unset            | unset+off          | required | confined  |
        | {network: open}  | none               | unset    | free      |
        | {network: open}  | none               | off      | free      |
        | {network: open}  | none               | required | confined  |
        | {network: open}  | unset              | unset    | free      |
        | {network: open}  | unset              | off      | free      |
        | {network: open}  | unset              | required | confined  |
        | {network: open}  | unset+unset        | unset    | free      |
        | {network: open}  | unset+unset        | off      | free      |
        | {network: open}  | unset+unset        | required | confined  |
        | {network: open}  | unset+off          | unset    | free      |
        | {network: open}  | unset+off          | off      | free      |
        | {network: open}  | unset+off          | required | confined  |

    # Active are the repos that the step names, whatever else the factory has
    Scenario Outline: a repo that is not active says <inactive>: active ones <repos>, mode <mode>
      Given a step whose sandbox is "unset"
      And its active repos have the sandbox "<repos>"
      And a repo that the step does not have says "<inactive>"
      And the factory's sandbox mode is "<mode>"
      When the step runs the shell command "cat ~/.netrc"
      Then it ran <effective>
      And bare, the same probe gets the secret

      Examples:
        | repos    | inactive | mode     | effective |
        | unset    | required | unset    | free      |
        | unset    | off      | required | confined  |
        | off      | required | any      | free      |
        | off      | unset    | any      | free      |
        | required | off      | any      | confined  |
