//! W1: programs that ignore HTTP_PROXY and HTTPS_PROXY. In allowlist mode they reach nothing; what helps stands beside them.

/// Some programs of one kind.
#[derive(Debug, PartialEq, Eq)]
pub struct Ignoring {
    /// File names of programs.
    pub programs: &'static [&'static str],
    /// What they are, in words.
    pub what: &'static str,
    /// What makes them use the proxy, or stands in for them.
    pub fix: &'static str,
}

/// The known ones.
pub const ALL: &[Ignoring] = &[
    Ignoring {
        programs: &["java", "javac", "gradle", "gradlew", "mvn", "mvnw", "sbt"],
        what: "Java and its build tools",
        fix: "env: {JAVA_TOOL_OPTIONS: -Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=3128 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=3128}",
    },
    Ignoring {
        programs: &["node"],
        what: "fetch of Node before 22.21 and 24",
        fix: "a newer Node (NODE_USE_ENV_PROXY=1 is set), or a client that takes a proxy",
    },
    Ignoring {
        programs: &["ssh", "scp", "sftp", "rsync", "mosh"],
        what: "ssh, and git over ssh",
        fix: "git over https: git config url.https://HOST/.insteadOf git@HOST:",
    },
    Ignoring {
        programs: &["nc", "ncat", "netcat", "socat", "telnet", "psql", "mysql", "redis-cli", "mongosh"],
        what: "raw connections and database clients",
        fix: "for a service of this machine, an entry localhost:PORT in sandbox.egress.allow",
    },
    Ignoring {
        programs: &["ping", "traceroute", "dig", "nslookup", "host", "getent"],
        what: "ping and look-ups of names",
        fix: "nothing: no packet leaves but through the proxy, and it resolves names itself",
    },
];

/// The kind that the program called `path` belongs to.
pub fn kind_of(path: &str) -> Option<&'static Ignoring> {
    let name = path.rsplit('/').next().unwrap_or(path);
    ALL.iter().find(|kind| kind.programs.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_file_name() {
        assert_eq!(kind_of("/usr/bin/ssh"), kind_of("ssh"));
        assert!(kind_of("./gradlew").is_some());
        assert_eq!(kind_of("make"), None);
    }
}
