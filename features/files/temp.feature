Feature: The private temp folder
  Programs need a place for what nobody keeps. It is the attempt's own, and goes with it.

  @FS-03
  Rule: TMPDIR, XDG_CACHE_HOME and XDG_RUNTIME_DIR name writable places in a private temp folder that nobody else sees and that leaves nothing

    Background:
      Given a sandboxed step

    @serial
    Scenario Outline: <variable> is writable, and nothing of it is left
      When the step runs the shell command "t=${<variable>:-/not-set}; tools/probe write $t/private-{nonce} x + mkdir $t/folder-{nonce} + stat $t/private-{nonce}"
      Then every action succeeds
      And nothing named "private-{nonce}" is on the host
      And bare, the same command leaves it there, with <variable> in the home

      Examples:
        | variable        |
        | TMPDIR          |
        | XDG_CACHE_HOME  |
        | XDG_RUNTIME_DIR |

    @case:W09 @serial
    # Rust CVE-2022-21658, GHSA-mc8h-8q98-g5hr: removal that follows links, or that gives up
    Scenario Outline: what is hard to remove is removed: <what>
      When the step runs the shell command "cd ${TMPDIR:-/tmp} && mkdir private-{nonce} && cd private-{nonce} && <command>"
      Then nothing named "private-{nonce}" is on the host
      And bare, the same command leaves it there, with TMPDIR in the home

      Examples:
        | what                   | command                                                      |
        | a folder with mode 000 | mkdir closed && touch closed/file && chmod 000 closed        |
        | read-only files        | touch file && chmod 400 file && chmod 500 .                  |
        | a link to a folder     | ln -s /srv/data away                                         |
        | a pipe                 | mkfifo pipe                                                  |
        | a deep tree            | i=0; while [ $i -lt 1000 ]; do mkdir deep; cd -P deep; i=$((i+1)); done |

    @serial
    Scenario: removal does not follow a link
      Given the user has a file "/srv/data/away-{nonce}/victim"
      When the step runs the shell command "cd ${TMPDIR:-/tmp} && mkdir private-{nonce} && ln -s /srv/data/away-{nonce} private-{nonce}/away"
      Then nothing named "private-{nonce}" is on the host
      And the user's file is as it was
      And bare, the same command leaves it there, with TMPDIR in the home

    Scenario Outline: another attempt does not see what is in <variable>
      When while an attempt that has done "set -e; touch ${<variable>:-/tmp}/private-{nonce}" waits, another runs "find / -name private-{nonce} -not -path '/proc/*' 2>/dev/null"
      Then the other attempt does not print "private-{nonce}"
      And bare, the same two commands print it, with <variable> in the home

      Examples:
        | variable        |
        | TMPDIR          |
        | XDG_CACHE_HOME  |
        | XDG_RUNTIME_DIR |

    # what has no variable in the documentation, and is private all the same
    @extra
    Scenario Outline: another attempt does not see what is in <place> either
      When while an attempt that has done "set -e; touch ${<variable>:-<place>}/private-{nonce}" waits, another runs "find / -name private-{nonce} -not -path '/proc/*' 2>/dev/null"
      Then the other attempt does not print "private-{nonce}"
      And bare, the same two commands print it, with <variable> in the home

      Examples:
        | place    | variable |
        | the home | HOME     |
        | /tmp     | TMP_OF   |
        | /dev/shm | SHM      |

    # npm, cargo, go, gradle do not ask XDG_CACHE_HOME; without a home that can be written they fail or load all again
    @extra @serial
    Scenario Outline: a cache in the home, <cache>, is writable, and nothing of it is left
      When the step runs the shell command "mkdir -p $HOME/<cache> && tools/probe write $HOME/<cache>/private-{nonce} x + append $HOME/<cache>/private-{nonce} y + read $HOME/<cache>/private-{nonce}"
      Then every action succeeds
      And nothing named "private-{nonce}" is on the host
      And bare, the same command leaves it there, with HOME in the home

      Examples:
        | cache              |
        | .npm/_cacache      |
        | .cache/pip         |
        | .cargo/registry    |
        | go/pkg/mod         |
        | .gradle/caches     |
        | .config/some-tool  |
        | .local/share       |

    # the one temp folder that has no variable: semaphores and shared memory of Python, Chromium, PostgreSQL
    @extra @serial
    Scenario: /dev/shm is writable, and nothing of it is left
      When the step runs the shell command "d=${SHM:-/dev/shm}; tools/probe write $d/private-{nonce} x + read $d/private-{nonce}"
      Then every action succeeds
      And nothing named "private-{nonce}" is on the host
      And bare, the same command leaves it there, with SHM in the home

    @extra @program:python3
    Scenario Outline: python3 shares <what> with its own processes
      When the step runs the shell command "python3 -c "<script>" >proof"
      Then in the worktree, "proof" ends in "ran"
      And planted, in the worktree of an attempt that did nothing it is not so

      Examples:
        | what   | script |
        | a lock | import multiprocessing as m; l = m.Lock(); l.acquire(); p = m.Process(target=l.release); p.start(); l.acquire(timeout=9) and print('ran') |
        | memory | import multiprocessing.shared_memory as m; s = m.SharedMemory(create=True, size=9); t = m.SharedMemory(s.name); t.buf[0] = 7; print('ran' if s.buf[0] == 7 else ''); t.close(); s.close(); s.unlink() |
