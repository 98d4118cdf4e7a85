//! W1: programs that ignore HTTP_PROXY and HTTPS_PROXY. In allowlist mode they reach nothing; what helps stands beside them.
//! What a step's setup commands run is outside of the sandbox, and no affair of this.

use crate::settings::Step;

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

/// One that a step runs.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// As the step calls it.
    pub program: String,
    /// What it is.
    pub kind: &'static Ignoring,
}

/// Those that a step runs by its `run:`, each once: its program, what that starts in its own arguments (env(1), timeout(1)), and
/// the commands of a `sh -c`. What these run in turn, nobody can know.
pub fn run_by(step: &Step) -> Vec<Found> {
    let argv: Vec<&str> = step.run.iter().flatten().map(String::as_str).collect();
    let mut programs: Vec<&str> = program(&argv).into_iter().collect();
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_string();
    if let Some(at) = argv.iter().position(|word| SHELLS.contains(&name(word).as_str())) {
        let script = argv[at..].windows(2).find(|pair| pair[0].starts_with('-') && pair[0].ends_with('c'));
        let commands =
            script.into_iter().flat_map(|pair| pair[1].split([';', '&', '|', '(', ')', '{', '}', '`', '\n']));
        programs.extend(commands.filter_map(|command| program(&command.split_whitespace().collect::<Vec<_>>())));
    }
    let mut found: Vec<Found> = Vec::new();
    for (program, kind) in programs.into_iter().filter_map(|program| Some((program, kind_of(program)?))) {
        if !found.iter().any(|other| other.program == program) {
            found.push(Found { program: program.into(), kind });
        }
    }
    found
}

const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh"];

/// Words that only start what comes behind them, with their options, numbers and variables.
const STARTERS: &[&str] = &[
    "env", "exec", "command", "nohup", "nice", "setsid", "time", "timeout", "stdbuf", "xargs", "if", "then", "else",
    "elif", "while", "until", "do", "!",
];

/// The program that a command comes to.
fn program<'a>(words: &[&'a str]) -> Option<&'a str> {
    let is_starter = |word: &str| STARTERS.contains(&word.rsplit('/').next().unwrap_or(word));
    let mut started = false;
    words.iter().copied().find(|word| {
        let is_variable = word.split_once('=').is_some_and(|(name, _)| !name.contains('/'));
        let is_operand = started && (word.starts_with('-') || word.starts_with(|c: char| c.is_ascii_digit()));
        started |= is_starter(word);
        !is_starter(word) && !is_variable && !is_operand
    })
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

    #[test]
    fn what_a_step_runs_is_found_where_it_stands_as_a_command() {
        let found = |run: &[&str]| {
            let run = Some(run.iter().map(|word| word.to_string()).collect());
            run_by(&Step { run, ..Step::default() }).into_iter().map(|one| one.program).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(found(&["/usr/bin/ssh", "host"]), "/usr/bin/ssh");
        assert_eq!(found(&["env", "A=1", "timeout", "-k", "5", "10", "nc", "host"]), "nc");
        assert_eq!(
            found(&["sh", "-c", "cd x && ./gradlew test; A=1 ssh host 'ping x' | tee log; ssh other"]),
            "./gradlew ssh"
        );
        assert_eq!(found(&["bash", "-euc", "if ! dig x\nthen exec psql; fi"]), "dig psql");
        assert_eq!(found(&["sh", "-c", "echo ssh; git log --host java; cat /etc/ssh/host"]), "");
        assert_eq!(found(&["make", "ssh"]), "");
    }
}
