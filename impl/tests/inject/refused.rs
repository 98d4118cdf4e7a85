//! A key that cannot be used is a typed refusal before the step, and the same one whoever hosts the proxy: the host
//! reads the key.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use kusaw::store::{Secret, Store};
use zeroize::Zeroizing;

use super::{HOSTS, KEY, OK, Serve, factory, keep, provider};

/// What is done to the data folder, and the reason, a part of the detail and of the fix.
type Case = (fn(&Path), &'static str, &'static str, &'static str);

const SET: &str = "kusaw config set P_KEY --secret";

fn instead(data: &Path, value: &str) {
    Store::at(data).set("P_KEY", &Secret::new(Zeroizing::new(value.into()))).unwrap();
}

const CASES: [Case; 9] = [
    (|data| fs::remove_file(data.join("store/P_KEY.age")).unwrap(), "no-secret", "no secret P_KEY", SET),
    (|data| fs::write(data.join("store/P_KEY.age"), "junk").unwrap(), "secret-store", "store/P_KEY.age", SET),
    (|data| fs::write(data.join("store/P_KEY.age"), "").unwrap(), "secret-store", "store/P_KEY.age", SET),
    (
        |data| fs::set_permissions(data.join("keys/store.key"), fs::Permissions::from_mode(0o640)).unwrap(),
        "secret-store",
        "keys/store.key: mode 640",
        "chmod",
    ),
    (|data| fs::remove_file(data.join("keys/store.key")).unwrap(), "secret-store", "keys/store.key", "store and keys"),
    (
        |data| fs::write(data.join("keys/store.key"), "AGE-SECRET-KEY-1\n").unwrap(),
        "secret-store",
        "keys/store.key",
        "store and keys",
    ),
    (|data| instead(data, "sk-canary-4f9b2c7d\r\nx-more: 1"), "secret-store", "cannot stand in a header", SET),
    (|data| instead(data, "sk-canary-4f9b2c7d\u{7f}"), "secret-store", "cannot stand in a header", SET),
    (|data| instead(data, ""), "secret-store", "cannot stand in a header", SET),
];

#[test]
fn whoever_hosts_the_reason_is_that_of_the_key() {
    for (n, (spoil, reason, detail, fix)) in CASES.into_iter().enumerate() {
        for host in HOSTS {
            let factory = factory(9, "echo ran");
            keep(&factory);
            spoil(&factory.home().join(".local/share/kusaw"));
            let _serve = host.start(&factory);
            let output = factory.command().args(["run", "s", "--attempt", "a"]).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            let what = format!("case {n}, {host:?}: {said}");
            assert_eq!((output.status.code(), &output.stdout[..]), (Some(125), &b""[..]), "{what}");
            assert_eq!(factory.outcome()["reason"], reason, "{what}");
            assert!(said.contains(detail) && said.contains(fix) && !said.contains(KEY), "{what}");
            factory.assert_no_temp();
        }
    }
}

/// With another home `serve` has another store: what is there is what counts, and `run` never reads a value.
#[test]
fn the_host_reads_the_key() {
    let (port, heads) = provider(OK);
    let factory = factory(port, "curl -s $P_URL/x");
    keep(&factory);
    let data = tempfile::tempdir().unwrap();
    let serving = || {
        let mut command = factory.command();
        command.env("XDG_DATA_HOME", data.path());
        Serve::by(command)
    };
    let serve = serving();
    let output = factory.command().args(["run", "s", "--attempt", "a"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(125) && said.contains("no secret P_KEY") && said.contains(SET), "{said}");
    assert_eq!(factory.outcome()["reason"], "no-secret", "{said}");
    instead(&data.path().join("kusaw"), "sk-of-serve");
    // Nothing of it is open to `run`: it could not have read this one.
    fs::write(factory.home().join(".local/share/kusaw/store/P_KEY.age"), "junk").unwrap();
    let output = factory.command().args(["run", "s", "--attempt", "b"]).output().unwrap();
    assert_eq!(output.stdout, b"hello", "{output:?}");
    assert!(heads.recv().unwrap().contains("\r\nauthorization: bearer sk-of-serve\r\n"));
    drop(serve);
}
