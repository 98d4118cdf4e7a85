Feature: Namespaces inside the sandbox
  A program in the sandbox may make a user namespace of its own and has all capabilities there, as browsers and build tools
  do. It can then mount and unmount, but nothing that was hidden or read-only becomes anything else by it. Each control lays
  a cover of its own, bare, and takes it off by the same act; where a user cannot do the act bare, by another.

  @NS-11
  Rule: Hidden things stay hidden and read-only things read-only from a nested user namespace

    Background:
      Given a sandboxed step

    Scenario Outline: <what> does not show the keys
      When the step runs the probe "userns + <act> + read ~/.ssh/id_ed25519"
      Then no secret arrives
      And bare, the probe "userns + <cover> + <act> + read ~/.ssh/id_ed25519" succeeds and gets the secret

      Examples:
        | what                       | act                    | cover                |
        | unmounting the home        | umount ~               | mount --tmpfs ~      |
        | unmounting the home lazily | umount ~ --detach      | mount --tmpfs ~      |
        | unmounting /home           | umount /home --detach  | mount --tmpfs /home  |

    Scenario Outline: <what> does not show the keys in another place
      When the step runs the probe "userns + mkdir seen-{nonce} + <act> seen-{nonce} + read seen-{nonce}<below>/.ssh/id_ed25519"
      Then no secret arrives
      And bare, the probe "userns + mkdir seen-{nonce} + <act> seen-{nonce} + read seen-{nonce}<below>/.ssh/id_ed25519" succeeds and gets the secret

      Examples:
        | what                     | act            | below     |
        | binding the home         | mount --bind ~ |           |
        | binding the root         | mount --bind / | /home/dev |
        | cloning the home's mount | open-tree ~    |           |
        | cloning all mounts       | open-tree /    | /home/dev |

    Scenario Outline: <what> does not show the keys below a new root
      When the step runs the probe "userns + mkdir root-{nonce} + mount --bind / root-{nonce} + <act> + read /home/dev/.ssh/id_ed25519"
      Then no secret arrives
      And bare, the probe "userns + mkdir root-{nonce} + mount --bind / root-{nonce} + <act> + read /home/dev/.ssh/id_ed25519" succeeds and gets the secret

      Examples:
        | what       | act                                      |
        | pivot_root | pivot-root root-{nonce} root-{nonce}/tmp |
        | chroot     | chroot root-{nonce}                      |

    Scenario: changing the root to that of pid 1 does not show the keys
      When the step runs the probe "userns + chroot /proc/1/root + read /home/dev/.ssh/id_ed25519"
      Then no secret arrives
      And bare, the probe "userns + chroot /proc/self/root + read /home/dev/.ssh/id_ed25519" succeeds and gets the secret

    Scenario Outline: <what> does not make <place> writable
      When the step runs the probe "userns + <act> <place> + write <place>/written-{nonce} x"
      Then "<place>/written-{nonce}" is not there afterwards
      And bare, the probe "userns + mount --bind <place> <place> + remount <place> --ro + <act> <place> + write <place>/written-{nonce} x" succeeds and writes "<place>/written-{nonce}"

      Examples:
        | what          | act           | place            |
        | remounting    | remount       | /usr/local/games |
        | mount_setattr | mount-setattr | /usr/local/games |
        | remounting    | remount       | /etc/data        |
        | mount_setattr | mount-setattr | /etc/data        |
        | remounting    | remount       | /srv/data        |

    Scenario Outline: unmounting does not make <place> the host's
      When the step runs the probe "userns + umount --detach <place> + write <place>/written-{nonce} x"
      Then "<place>/written-{nonce}" is not there afterwards
      And bare, the probe "userns + mount --tmpfs <place> + umount --detach <place> + write <place>/written-{nonce} x" succeeds and writes "<place>/written-{nonce}"

      Examples:
        | place            |
        | /srv/data        |
        | /tmp             |
        | /dev/shm         |
        | /usr/local/games |

    Scenario Outline: <what> does not make a folder writable that may be read
      Given the user has the secrets
        | {library}/shelf/book |
      And "{library}/shelf" may be read
      When the step runs the probe "userns + <act> + write <at>/written-{nonce} x"
      Then "{library}/shelf/written-{nonce}" is not there afterwards
      And bare, the probe "userns + mount --bind {library}/shelf {library}/shelf + remount {library}/shelf --ro + <act> + write <at>/written-{nonce} x" succeeds and writes "{library}/shelf/written-{nonce}"

      Examples:
        | what                 | act                                                                               | at              |
        | remounting           | remount {library}/shelf                                                           | {library}/shelf |
        | mount_setattr        | mount-setattr {library}/shelf                                                     | {library}/shelf |
        | unmounting           | umount {library}/shelf --detach                                                   | {library}/shelf |
        | binding it elsewhere | mkdir b-{nonce} + mount --bind {library}/shelf b-{nonce} + remount b-{nonce}      | b-{nonce}       |
        | cloning its mount    | mkdir t-{nonce} + open-tree {library}/shelf t-{nonce} + mount-setattr t-{nonce}   | t-{nonce}       |

    Scenario Outline: without a namespace of its own, <what> does not show the keys
      When the step runs the probe "<act> + read ~/.ssh/id_ed25519"
      Then no secret arrives
      And bare, the probe "userns + mount --tmpfs ~ + umount ~ --detach + read ~/.ssh/id_ed25519" succeeds and gets the secret

      Examples:
        | what           | act                    |
        | umount         | umount ~ --detach      |
        | binding        | mount --bind / ~       |
        | open_tree      | open-tree / ~          |
        | pivot_root     | pivot-root / /tmp      |
        | chroot         | chroot /proc/1/root    |

    Scenario Outline: without a namespace of its own, <what> does not make <place> writable
      When the step runs the probe "<act> <place> + write <place>/written-{nonce} x"
      Then "<place>/written-{nonce}" is not there afterwards
      And bare, the probe "userns + mount --bind <place> <place> + remount <place> --ro + remount <place> + write <place>/written-{nonce} x" succeeds and writes "<place>/written-{nonce}"

      Examples:
        | what          | act             | place            |
        | remounting    | remount         | /usr/local/games |
        | mount_setattr | mount-setattr   | /usr/local/games |
        | unmounting    | umount --detach | /usr/local/games |
        | remounting    | remount         | /etc/data        |
        | mount_setattr | mount-setattr   | /etc/data        |

    Scenario: with network allowlist a nested namespace shows nothing either
      Given the network is allowlist
      When the step runs the probe "userns + umount ~ --detach + read ~/.ssh/id_ed25519"
      Then no secret arrives
      And bare, the probe "userns + mount --tmpfs ~ + umount ~ --detach + read ~/.ssh/id_ed25519" succeeds and gets the secret

    Scenario: with network allowlist a nested namespace makes nothing writable either
      Given the network is allowlist
      When the step runs the probe "userns + remount /usr/local/games + write /usr/local/games/written-{nonce} x"
      Then "/usr/local/games/written-{nonce}" is not there afterwards
      And bare, the probe "userns + mount --bind /usr/local/games /usr/local/games + remount /usr/local/games --ro + remount /usr/local/games + write /usr/local/games/written-{nonce} x" succeeds and writes "/usr/local/games/written-{nonce}"

    @needs:factory
    Scenario: an agent sees nothing from one either
      Given the step is run by the provider "claude-code" with the prompt "tools/probe userns + umount ~ --detach + read ~/.ssh/id_ed25519"
      When the step is run
      Then no secret arrives
      And bare, the probe "userns + mount --tmpfs ~ + umount ~ --detach + read ~/.ssh/id_ed25519" succeeds and gets the secret

    # Chromium, bazel and other sandboxes are built on it
    @extra
    Scenario: a sandbox can be made inside, with namespaces and mounts of its own
      When the step runs the probe "userns + unshare pid ipc uts + mkdir own-{nonce} + mount --tmpfs own-{nonce} + write own-{nonce}/file x"
      Then every action succeeds
      And bare, the same probe succeeds
