//! The names of the variables that a sandboxed step can have besides its own `env:`: the documented list, in one place. What sets
//! them and what keeps others from setting them both read it here.

/// Passed through from the caller when set; those that begin with `LC_` too.
pub const FROM_CALLER: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "TERM",
    "COLORTERM",
    "TZ",
    "USER",
    "LOGNAME",
    "SHELL",
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
];

/// Set for every step, or where it has a repository or an allowlist.
pub const OWN: &[&str] =
    &["PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "GIT_CONFIG_SYSTEM", "NODE_USE_ENV_PROXY"];

/// The user's own proxy settings: left alone in open mode, replaced in allowlist mode.
pub const PROXY: &[&str] = &["HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"];

/// Where no proxy is asked.
pub const NO_PROXY: &[&str] = &["NO_PROXY", "no_proxy"];

/// Passed through in open mode only.
pub const OPEN_ONLY: &[&str] = &["ALL_PROXY", "all_proxy"];

/// What programs take for how they start, from whatever is in them: the loader (ld.so(8)), shells (bash(1)), git (git(1)) and
/// the interpreters that agents run in.
const OF_THE_START: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "IFS",
    "ZDOTDIR",
    "GLIBC_TUNABLES",
    "GCONV_PATH",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PYTHONHOME",
    "PERL5OPT",
    "PERL5LIB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
];

/// The same, by how their names begin.
const OF_THE_START_ALL: &[&str] = &["LD_", "DYLD_", "GIT_"];

/// Whether a variable of this name changes how programs start: no address and no placeholder can stand in it.
pub fn is_of_the_start(name: &str) -> bool {
    OF_THE_START.contains(&name) || OF_THE_START_ALL.iter().any(|begin| name.starts_with(begin))
}

/// Whether the list has this name: nothing else may set it for a purpose of its own.
pub fn is_listed(name: &str) -> bool {
    let listed = [FROM_CALLER, OWN, PROXY, NO_PROXY, OPEN_ONLY];
    name.starts_with("LC_") || listed.iter().any(|names| names.contains(&name))
}
