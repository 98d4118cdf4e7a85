//! The environment of every launch, and the record of the backend's starts.

use std::path::{Path, PathBuf};

use crate::lab::{HOME, Lab, SUITE, UID, USER};

/// What every user has.
pub fn plain() -> Vec<(String, String)> {
    [
        ("PATH", Lab::search_path()),
        ("HOME", HOME.to_owned()),
        ("USER", USER.to_owned()),
        ("LOGNAME", USER.to_owned()),
        ("SHELL", "/bin/sh".to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        ("TERM", "dumb".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

/// The environment of every launch: a user's, with the pointers to agents that must not arrive inside.
pub fn of_user() -> Vec<(String, String)> {
    let runtime = format!("/run/user/{UID}");
    let pointers = [
        ("XDG_RUNTIME_DIR", runtime.clone()),
        ("SSH_AUTH_SOCK", format!("{runtime}/ssh-agent")),
        ("GPG_AGENT_INFO", format!("{runtime}/gnupg/S.gpg-agent:0:1")),
        ("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={runtime}/bus")),
        ("DOCKER_HOST", format!("unix://{runtime}/docker.sock")),
        ("DISPLAY", ":0".to_owned()),
        ("TMUX", format!("/tmp/tmux-{UID}/default,1,0")),
        ("VSCODE_IPC_HOOK_CLI", format!("{runtime}/vscode-ipc-1.sock")),
        ("WAYLAND_DISPLAY", "wayland-0".to_owned()),
        ("XAUTHORITY", format!("{HOME}/.Xauthority")),
        ("WSL_INTEROP", crate::lab::windows::INTEROP.to_owned()),
        ("WSL_DISTRO_NAME", "Lab".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", format!("{}0000cafe0000cafe", crate::lab::home::TOKEN)),
        ("CALLERS_OWN", "kept".to_owned()),
    ];
    let pointers = pointers.map(|(name, value)| (name.to_owned(), value));
    plain().into_iter().chain(pointers).collect()
}

/// Has programs searched in a folder before all others.
pub fn first_on_path(environment: &mut [(String, String)], folder: &str) {
    set(environment, "PATH", &format!("{folder}:{}", Lab::search_path()));
}

/// Gives a variable that is there another value.
pub fn set(environment: &mut [(String, String)], name: &str, to: &str) {
    environment.iter_mut().filter(|(own, _)| own == name).for_each(|(_, value)| to.clone_into(value));
}

/// Where the starts of the backend in a scenario are recorded.
pub fn starts(nonce: &str) -> PathBuf {
    Path::new(SUITE).join(format!("starts-{nonce}"))
}

/// The script that covers the backend: it notes the start and becomes the real one.
pub fn recorder(nonce: &str) -> String {
    format!("echo started >>{}\nexec {SUITE}/backend \"$@\"", starts(nonce).display())
}
