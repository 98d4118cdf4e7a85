//! The environment a sandboxed step sees: a documented list and nothing else. Pure: the caller's
//! variables come in as a lookup, so that no other of them can slip through.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::egress::grant::PROXY_PORT;
use crate::process::path;
use crate::reach::{Connect, Reach};
use crate::variables::{FROM_CALLER, NO_PROXY, OPEN_ONLY, PROXY};

/// Searched when the caller has no PATH.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The environment of a step with this reach; `caller` are kusaw's own variables, `step` those of the settings.
pub fn inside(reach: &Reach, caller: &[(OsString, OsString)], step: &[(String, String)]) -> Vec<(OsString, OsString)> {
    let mut env: Vec<(OsString, OsString)> = Vec::new();
    let mut set = |name: &str, value: &OsStr| {
        env.retain(|(n, _)| n != name);
        env.push((name.into(), value.into()));
    };
    let from_caller = |name: &str| caller.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_os_str());
    set("PATH", &absolute_entries(from_caller("PATH").unwrap_or(OsStr::new(DEFAULT_PATH))));
    for (name, value) in caller {
        let name = name.to_str().unwrap_or("");
        if FROM_CALLER.contains(&name) || name.starts_with("LC_") {
            set(name, value);
        }
    }
    set("HOME", reach.home.as_os_str());
    let folder = |p: &Path| p.as_os_str().to_os_string();
    set("TMPDIR", &folder(&reach.temp.tmpdir()));
    set("XDG_CACHE_HOME", &folder(&reach.temp.cache()));
    set("XDG_RUNTIME_DIR", &folder(&reach.temp.runtime()));
    if !reach.instead.is_empty() {
        set("GIT_CONFIG_SYSTEM", reach.temp.git_settings().as_os_str());
    }
    match reach.connect {
        Connect::Anywhere => {
            for name in PROXY.iter().chain(NO_PROXY).chain(OPEN_ONLY) {
                from_caller(name).into_iter().for_each(|value| set(name, value));
            }
        }
        Connect::Allowed(_) => {
            let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
            PROXY.iter().for_each(|name| set(name, OsStr::new(&proxy)));
            NO_PROXY.iter().for_each(|name| set(name, OsStr::new("localhost,127.0.0.1,::1")));
            set("NODE_USE_ENV_PROXY", OsStr::new("1"));
        }
    }
    step.iter().for_each(|(name, value)| set(name, OsStr::new(value)));
    env
}

/// PATH without empty and relative entries, which would search the worktree.
fn absolute_entries(path: &OsStr) -> OsString {
    std::env::join_paths(path::folders(path)).unwrap_or_else(|_| DEFAULT_PATH.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress::grant::Grant;
    use crate::reach::{Shown, Temp};

    fn shown(connect: Connect) -> String {
        let reach =
            Reach { temp: Temp { root: "/tmp/kusaw-x".into() }, home: "/home/dev".into(), connect, ..Reach::default() };
        let pair = |n: &str, v: &str| (OsString::from(n), OsString::from(v));
        let caller = [
            pair("PATH", "/usr/bin::.:bin:/bin"),
            pair("LC_ALL", "C.UTF-8"),
            pair("SSH_AUTH_SOCK", "/run/agent"),
            pair("ANTHROPIC_API_KEY", "secret"),
            pair("WSL_INTEROP", "/run/WSL/1"),
            pair("HTTP_PROXY", "http://corp:8080"),
            pair("HOME", "/elsewhere"),
            pair("TERM", "xterm"),
        ];
        let env = inside(&reach, &caller, &[("CI".into(), "1".into()), ("TERM".into(), "dumb".into())]);
        env.iter().map(|(n, v)| format!("{}={}\n", n.display(), v.display())).collect()
    }

    #[test]
    fn open_mode_leaves_the_users_proxy_alone() {
        insta::assert_snapshot!(shown(Connect::Anywhere), @r"
        PATH=/usr/bin:/bin
        LC_ALL=C.UTF-8
        HOME=/home/dev
        TMPDIR=/tmp/kusaw-x-tmp
        XDG_CACHE_HOME=/tmp/kusaw-x-cache
        XDG_RUNTIME_DIR=/tmp/kusaw-x-run
        HTTP_PROXY=http://corp:8080
        CI=1
        TERM=dumb
        ");
    }

    #[test]
    fn allowlist_mode_names_the_proxy_in_both_cases() {
        insta::assert_snapshot!(shown(Connect::Allowed(Grant::default())), @r"
        PATH=/usr/bin:/bin
        LC_ALL=C.UTF-8
        HOME=/home/dev
        TMPDIR=/tmp/kusaw-x-tmp
        XDG_CACHE_HOME=/tmp/kusaw-x-cache
        XDG_RUNTIME_DIR=/tmp/kusaw-x-run
        HTTPS_PROXY=http://127.0.0.1:3128
        HTTP_PROXY=http://127.0.0.1:3128
        https_proxy=http://127.0.0.1:3128
        http_proxy=http://127.0.0.1:3128
        NO_PROXY=localhost,127.0.0.1,::1
        no_proxy=localhost,127.0.0.1,::1
        NODE_USE_ENV_PROXY=1
        CI=1
        TERM=dumb
        ");
    }

    /// What is set is in the list, and all of the list can be set.
    #[test]
    fn nothing_is_set_that_is_not_listed_and_nothing_listed_is_forgotten() {
        use crate::variables::{OWN, is_listed};
        use std::collections::BTreeSet;
        let known = [FROM_CALLER, OWN, PROXY, NO_PROXY, OPEN_ONLY].concat();
        let caller: Vec<_> = known.iter().chain(&["LC_ALL", "OTHER"]).map(|name| (name.into(), "x".into())).collect();
        let mut set = BTreeSet::new();
        for connect in [Connect::Anywhere, Connect::Allowed(Grant::default())] {
            let git = Shown { from: "/a".into(), to: "/b".into(), write: true };
            let reach = Reach { connect, instead: vec![git], ..Reach::default() };
            set.extend(inside(&reach, &caller, &[]).into_iter().map(|(name, _)| name.into_string().unwrap()));
        }
        assert!(set.iter().all(|name| is_listed(name)), "{set:?}");
        assert!(known.iter().all(|name| set.contains(*name)), "{set:?}");
    }
}
