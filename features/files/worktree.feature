Feature: The worktree
  The one place where a step works. What it does there is there afterwards, on the host.

  @FS-01
  Rule: A step can create, change, rename and delete files in each of its attempt's worktrees

    Background:
      Given a sandboxed step

    # sandbox-runtime 171: a worktree that lies below a hidden folder, as these do below the home
    @case:W13
    Scenario Outline: can <what>
      When the step runs the probe "<probe>"
      Then every action succeeds
      And in the worktree, "<path>" <state>
      And planted, in the worktree of an attempt that did nothing it is not so

      Examples:
        | what                    | probe                                                              | path       | state         |
        | create a file           | create made                                                        | made       | is a file     |
        | write a file            | write made x                                                       | made       | holds "x"     |
        | change a file           | append README more                                                 | README     | ends in "more" |
        | delete a file           | remove README                                                      | README     | is gone       |
        | rename a file           | rename README RENAMED                                              | RENAMED    | is a file     |
        | rename a file away      | rename README RENAMED                                              | README     | is gone       |
        | replace a file          | write new x + rename new README                                    | README     | holds "x"     |
        | exchange two files      | write new x + exchange new README                                  | README     | holds "x"     |
        | make a folder           | mkdir folder                                                       | folder     | is a folder   |
        | make a file in a folder | mkdir folder + write folder/file x                                 | folder/file | holds "x"    |
        | rename a folder         | mkdir folder + rename folder other                                 | other      | is a folder   |
        | delete a folder         | remove tools/probe + remove tools                                  | tools      | is gone       |
        | make a link             | symlink README link                                                | link       | is a link     |
        | make a hard link        | link README hard                                                   | hard       | is a file     |
        | make a file executable  | write made x + chmod 0755 made                                     | made       | is executable |

    Scenario: can write in the worktree of a second repo
      Given its active repos have the sandbox "unset+unset"
      When the step runs the probe "write {second}/made x"
      Then every action succeeds
      And in the worktree of "extra", "made" holds "x"
      And planted, in the worktree of an attempt that did nothing it is not so

    Scenario: can run what it has written
      When the step runs the shell command "echo 'echo ran >proof' >script; chmod +x script; ./script"
      Then in the worktree, "proof" ends in "ran"
      And planted, in the worktree of an attempt that did nothing it is not so

    Scenario: can write there with network allowlist too
      Given the network is allowlist
      When the step runs the probe "write made x"
      Then every action succeeds
      And in the worktree, "made" holds "x"
      And planted, in the worktree of an attempt that did nothing it is not so

    # npm prefixes, spaces, quotes: what real trees hold
    Scenario Outline: can write a file whose name has <what>
      When the step runs the probe with the arguments
        | write | <name> | x |
      Then every action succeeds
      And in the worktree, "<name>" holds "x"
      And planted, in the worktree of an attempt that did nothing it is not so

      Examples:
        | what            | name                  |
        | blanks          | a file with blanks    |
        | quotes          | it's "quoted"         |
        | a leading dash  | ./-rf                 |
        | other alphabets | größe-尺寸            |
        | a dollar        | $HOME                 |
        | 200 letters     | xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx |

    Scenario Outline: can make a file whose name has <what>
      When the step runs the shell command "printf x >"$(printf '<octal>')""
      Then in the worktree, the file whose name is the bytes "<bytes>" holds "x"
      And planted, in the worktree of an attempt that did nothing it is not so

      Examples:
        | what               | octal            | bytes             |
        | a newline          | a\\012b          | 61 0a 62          |
        | a carriage return  | a\\015b          | 61 0d 62          |
        | an escape          | a\\033b          | 61 1b 62          |
        | a byte that is not UTF-8 | a\\377b    | 61 ff 62          |
        | half a letter of UTF-8 | \\303         | c3                |

    # What people complain about when a sandbox takes it away; the documentation does not speak of it.
    @extra
    Scenario Outline: ordinary work: <what>
      When the step runs the shell command "<command>"
      Then in the worktree, "proof" ends in "<proof>"
      And planted, in the worktree of an attempt that did nothing it is not so

      Examples:
        | what                        | command                                                         | proof |
        | throwing output away        | echo x >/dev/null && cat /dev/null && echo ran >proof           | ran   |
        | random bytes                | head -c 16 /dev/urandom \| wc -c >proof                         | 16    |
        | zeros                       | head -c 16 /dev/zero \| wc -c >proof                            | 16    |
        | a full disk                 | echo x 2>/dev/null >/dev/full \|\| echo ran >proof                | ran   |
        | a descriptor by its name    | cat /dev/fd/3 3<README >proof                                   | lab.  |
        | standard input by its name  | cat /dev/stdin <README >proof                                   | lab.  |
        | a pipe                      | echo ran \| cat \| cat >proof                                   | ran   |
        | a named pipe                | mkfifo p && (echo ran >p &) && cat p >proof                     | ran   |
        | a here-document             | cat <<END >proof\nran\nEND                                      | ran   |
        | a process in the background | (sleep 0.1; echo ran >proof) & wait                             | ran   |
        | a temporary file            | f=$(mktemp) && echo ran >$f && cat $f >proof                    | ran   |
        | a temporary folder          | d=$(mktemp -d) && echo ran >$d/f && cat $d/f >proof             | ran   |
        | a move to TMPDIR and back   | mv README $TMPDIR/ && mv $TMPDIR/README proof                   | lab.  |
        | a copy with all attributes  | cp -a README proof                                              | lab.  |
        | a change in place           | cp README proof && sed -i 's/$/ran/' proof                      | ran   |
        | a file of holes             | truncate -s 1G big && stat -c %s big >proof                     | 1073741824 |
        | a tree that comes and goes  | mkdir -p a/b/c && touch a/b/c/f && rm -r a && echo ran >proof   | ran   |
        | the number of processors    | [ $(nproc) -ge 1 ] && grep -q ^processor /proc/cpuinfo && echo ran >proof | ran |
        | the space that is left      | df -P . >/dev/null && echo ran >proof                           | ran   |
        | a name of its host          | [ -n "$(uname -n)" ] && echo ran >proof                         | ran   |
        | its user's name             | id -un >proof                                                   | dev   |
        | its user's number           | id -u >proof                                                    | 42042 |
        | its group's name            | id -gn >proof                                                   | dev   |
        | its user in the user table  | getent passwd 42042 \| cut -d: -f1,6 >proof                     | dev:/home/dev |
        | root in the user table      | getent passwd root \| cut -d: -f3 >proof                        | 0     |
        | the host's name by number   | getent hosts 127.0.0.1 \| grep -c localhost >proof              | 1     |
        | going home                  | w=$PWD; cd && pwd >$w/proof                                     | /home/dev |
        | a file in the home          | echo ran >$HOME/f && cat $HOME/f >proof                         | ran   |
        | a program by a link of /etc | awk 'BEGIN { print 6 * 7 }' >proof                              | 42    |
        | a letter of two bytes       | printf ä \| wc -m >proof                                        | 1     |
        | the host's time zone        | date -d @0 +%H%Z >proof                                         | 05LAB |
        | a time zone of its own      | TZ=XYZ-3 date -d @0 +%H%Z >proof                                | 03XYZ |
        | the host's certificates     | tail -n 1 /etc/ssl/certs/devbox.pem >proof                      | -----END CERTIFICATE----- |
        | its own processes           | [ -d /proc/$$ ] && echo ran >proof | ran |

    @extra @program:python3
    Scenario Outline: ordinary work with python3: <what>
      When the step runs the shell command "<command>"
      Then in the worktree, "proof" ends in "<proof>"
      And planted, in the worktree of an attempt that did nothing it is not so

      Examples:
        | what                  | command                                                                                     | proof |
        | a script              | echo "open('proof', 'w').write('ran')" >s.py && python3 s.py                              | ran   |
        | another process       | python3 -c "import subprocess as s; print(s.check_output(['echo', 'ran'], text=True))" >proof | ran |
        | the user's name       | python3 -c "import os, pwd; print(pwd.getpwuid(os.getuid()).pw_name)" >proof     | dev   |
        | the home              | python3 -c "import os; print(os.path.expanduser('~'))" >proof                             | /home/dev |
        | the locale            | python3 -c "import locale; print(locale.setlocale(locale.LC_ALL, ''))" >proof             | C.UTF-8 |
        | a temporary folder    | python3 -c "import tempfile as t; d = t.TemporaryDirectory(); open(d.name + '/f', 'w'); print('ran')" >proof | ran |
        | a file without a name | python3 -c "import tempfile as t; f = t.TemporaryFile(); f.write(b'ran'); f.seek(0); print(f.read().decode())" >proof | ran |
        | a file in memory      | python3 -c "import mmap; f = open('m', 'w+b'); f.truncate(9); m = mmap.mmap(f.fileno(), 9); m[:3] = b'ran'; print(open('m').read(3))" >proof | ran |
        | a database            | python3 -c "import sqlite3 as q; d = q.connect('d'); d.execute('pragma journal_mode=wal'); d.execute('create table t (c)'); d.commit(); print('ran')" >proof | ran |
        | an environment of its own | python3 -m venv --without-pip env && env/bin/python -c "print('ran')" >proof          | ran   |
        | a server on loopback  | python3 -c "import socket as s; l = s.create_server(('127.0.0.1', 0)); c = s.create_connection(l.getsockname()); l.accept()[0].send(b'ran'); print(c.recv(9).decode())" >proof | ran |
        | a socket pair by path | python3 -c "import socket as s; l = s.socket(s.AF_UNIX); l.bind('sock'); l.listen(); c = s.socket(s.AF_UNIX); c.connect('sock'); l.accept()[0].send(b'ran'); print(c.recv(9).decode())" >proof | ran |
        | a pseudo-terminal     | python3 -c "import os, pty; m, s = pty.openpty(); os.write(s, b'ran'); print(os.read(m, 9).decode())" >proof | ran |
        | many threads          | python3 -c "import threading as t; w = [t.Thread(target=int) for _ in range(50)]; [x.start() for x in w]; [x.join() for x in w]; print('ran')" >proof | ran |

    @extra @program:node
    Scenario Outline: ordinary work with node: <what>
      When the step runs the shell command "<command>"
      Then in the worktree, "proof" ends in "<proof>"
      And planted, in the worktree of an attempt that did nothing it is not so

      Examples:
        | what            | command                                                                                     | proof |
        | a script        | echo "require('fs').writeFileSync('proof', 'ran')" >s.js && node s.js                     | ran   |
        | another process | node -p "require('child_process').execSync('echo ran').toString()" >proof                 | ran   |
        | the user's name | node -p "require('os').userInfo().username" >proof                                        | dev   |
        | the home        | node -p "require('os').homedir()" >proof                                                  | /home/dev |
        | a worker        | node -e "new (require('worker_threads').Worker)('console.log(/ran/.source)', {eval: true})" >proof | ran |
        | a server on loopback | node -e "const s = require('http').createServer((q, a) => a.end('ran')).listen(0, '127.0.0.1', () => fetch('http://127.0.0.1:' + s.address().port).then(a => a.text()).then(t => (console.log(t), process.exit())))" >proof | ran |
        | a watched file  | node -e "require('fs').watch('.', () => (console.log('ran'), process.exit())); setTimeout(() => require('fs').writeFileSync('f', ''), 50)" >proof | ran |

    @extra @program:cc
    Scenario: ordinary work with a compiler: a program is built and run
      When the step runs the shell command "printf '#include <stdio.h>\nint main(void) { return puts("ran") < 0; }\n' >p.c && cc p.c -o p && ./p >proof"
      Then in the worktree, "proof" ends in "ran"
      And planted, in the worktree of an attempt that did nothing it is not so

    # Where the user's folders lie, and what they are called, is no reason to fail.
    Scenario Outline: can write in the worktree of a repository whose folder has <what> in its name
      Given the repository's folder is called "<name>"
      When the step runs the probe "write made x"
      Then every action succeeds
      And in the worktree, "made" holds "x"
      And planted, in the worktree of an attempt that did nothing it is not so

      Examples:
        | what            | name               |
        | a blank         | my project         |
        | quotes          | it's "quoted"      |
        | other alphabets | größe-尺寸         |
        | a dollar        | $HOME              |
        | a backslash     | a\\b               |
        | a leading dash  | -rf                |
        | a colon         | a:b                |
        | a brace         | {{repo}}           |
        | a hash          | a #b               |
        | a newline       | a\nb               |
        | 200 letters     | xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx |

    Scenario: can write in the worktree of a repository that is reached by a link
      Given the repository's folder is a link to it
      When the step runs the probe "write made x"
      Then every action succeeds
      And in the worktree, "made" holds "x"
      And planted, in the worktree of an attempt that did nothing it is not so

    Scenario Outline: can write in the worktree of a factory whose folder has <what> in its name
      Given the factory's folder is called "<name>"
      When the step runs the probe "write made x"
      Then every action succeeds
      And in the worktree, "made" holds "x"
      And planted, in the worktree of an attempt that did nothing it is not so

      Examples:
        | what            | name               |
        | a blank         | my factory         |
        | quotes          | it's "quoted"      |
        | other alphabets | größe-尺寸         |
        | a dollar        | $HOME              |
        | a backslash     | a\\b               |
        | a leading dash  | -rf                |
        | a colon         | a:b                |
        | a hash          | a #b               |
        | a newline       | a\nb               |

    # A program that a step leaves must not run as the step's user when somebody else starts it. Inside, no mount heeds the bits.
    @extra @case:W14
    Scenario Outline: <bits> does not outlast the attempt
      When the step runs the shell command "cp tools/probe left; chmod <mode> left; [ -<test> left ]"
      Then the step ends with 0
      And in the worktree, "left" is a file without set-id bits
      And planted, with both bits set on it again it is not so

      Examples:
        | bits                                           | mode | test |
        | the set-user-id bit                            | 4755 | u    |
        | the set-group-id bit                           | 2755 | g    |
        | the set-user-id bit of a file that nobody may read | 4111 | u |
