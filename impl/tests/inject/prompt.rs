//! A secret that is typed.

use kusaw::store::Store;
use nix::sys::termios::LocalFlags;

use super::KEY;
use super::factory::{Factory, tty::Tty};

fn prompt() -> (Factory, Tty) {
    let factory = Factory::new("");
    let mut command = factory.command();
    command.args(["config", "set", "K", "--secret"]);
    let mut tty = Tty::open(24, 80);
    assert!(tty.modes().local_flags.contains(LocalFlags::ECHO));
    tty.run(&command);
    tty.until("K: ");
    assert!(!tty.modes().local_flags.contains(LocalFlags::ECHO));
    (factory, tty)
}

fn store(factory: &Factory) -> Store {
    Store::at(&factory.home().join(".local/share/kusaw"))
}

#[test]
fn what_is_typed_is_kept_and_never_shown() {
    let (factory, mut tty) = prompt();
    tty.type_in(&format!("{KEY}\n"));
    let (code, shown) = tty.end();
    assert!(code == Some(0) && !shown.contains(KEY), "{shown}");
    assert_eq!(store(&factory).get("K").unwrap().expose(), KEY.as_bytes());
    assert!(tty.modes().local_flags.contains(LocalFlags::ECHO));
}

#[test]
fn whoever_thinks_again_has_a_terminal_that_shows_what_is_typed() {
    for (keys, signal) in [("\x03", 2), ("half\x03", 2), ("\x1c", 3)] {
        let (factory, mut tty) = prompt();
        tty.type_in(keys);
        let (code, shown) = tty.end();
        assert_eq!(code, Some(128 + signal), "{shown}");
        assert!(tty.modes().local_flags.contains(LocalFlags::ECHO), "{keys:?}: {shown}");
        assert!(!store(&factory).has("K") && !shown.contains("half"), "{shown}");
    }
}
