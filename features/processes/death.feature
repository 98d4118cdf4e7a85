Feature: The launcher dies
  A factory is ended by its user, by a service manager, by the kernel that needs memory. What an agent has started must not go
  on unseen.

  @NS-05
  Rule: When kusaw dies (SIGKILL too), every process of the attempt dies (bound: a harness setting, 5 s by default)

    Background:
      Given a sandboxed step

    # bubblewrap 165: a process that called setsid(2) lives on
    @case:P02
    Scenario Outline: every process dies with a launcher that gets SIGKILL, with network <network>
      Given the network is <network>
      When its launcher gets SIGKILL while a step runs that has children of every kind, which have 5 s to die
      Then no process of the attempt is alive
      And another attempt works
      And bare, such a step leaves processes alive

      Examples:
        | network   |
        | open      |
        | allowlist |

    @case:P02
    Scenario Outline: every process dies with a launcher below a shell that gets SIGKILL, with network <network>
      Given the network is <network>
      And its launcher is the child of a shell that waits for it
      When its launcher gets SIGKILL while a step runs that has children of every kind, which have 5 s to die
      Then no process of the attempt is alive
      And bare, such a step leaves processes alive

      Examples:
        | network   |
        | open      |
        | allowlist |

    # bubblewrap 692: PR_SET_PDEATHSIG counts the thread, not the process: steps were killed when a thread pool shrank
    @case:P04
    Scenario Outline: a step outlives the thread that started its launcher, and dies with the launcher, with network <network>
      Given the network is <network>
      And its launcher was started by a thread that ends while the step runs
      When its launcher gets SIGKILL while a step runs that has children of every kind, which have 5 s to die
      Then no process of the attempt is alive
      And bare, such a step leaves processes alive

      Examples:
        | network   |
        | open      |
        | allowlist |

    # bubblewrap 726, 147: with a new session the signal reaches the outer process alone
    @case:P05
    Scenario Outline: every process dies with a launcher that gets <signal>
      When its launcher gets <signal> while a step runs that has children of every kind, which have 5 s to die
      Then no process of the attempt is alive
      And bare, such a step leaves processes alive

      Examples:
        | signal  |
        | SIGTERM |
        | SIGHUP  |
        | SIGINT  |

    @case:P05 @extra
    Scenario Outline: every process dies within 2 s with a launcher that gets <signal>, and it ends with <code>
      When its launcher gets <signal> while a step runs that has children of every kind, which have 2 s to die
      Then no process of the attempt is alive
      And it ends with the code <code>
      And bare, such a step leaves processes alive

      Examples:
        | signal  | code |
        | SIGTERM | 143  |
        | SIGHUP  | 129  |
        | SIGINT  | 130  |

    # bubblewrap 633, 700: the death signal is asked for too late
    @case:P03 @serial
    Scenario Outline: no process lives on whenever the launcher is killed, with network <network>
      Given the network is <network>
      When its launcher is killed by SIGKILL at random moments, until launch, step and end were each hit 20 times, and there are 5 s to die
      Then no process of the attempt is alive
      And another attempt works
      And planted, launch, step and end were each hit at least 20 times
      And bare, such a step leaves processes alive

      Examples:
        | network   |
        | open      |
        | allowlist |

    @case:P03 @extra @serial
    Scenario: no process and nothing else is left by 150 attempts whose launchers are killed
      Given the network is allowlist
      When its launcher is killed by SIGKILL at random moments, until launch, step and end were each hit 50 times, and there are 5 s to die
      Then no process of the attempt is alive
      And another attempt works
      And nothing on the host is new or changed afterwards
      And planted, an empty file too many is noticed
      And planted, launch, step and end were each hit at least 50 times
      And bare, such a step leaves processes alive
