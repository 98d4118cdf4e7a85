//! The seal of a probe's line. A launcher knows the command that it is to run, so it could print a report without running the
//! probe. The copy of the probe in the lab has a key of this run in it, and each of its lines a seal that is made with it; a
//! line without one is not the probe's.
//!
//! It is no cryptography: whoever takes the key out of the program can seal. So it tells who did not run the probe, and who
//! changed or made up a line; a launcher that runs the probe elsewhere is caught by what the controls show of the place.

use std::io::{self, Read};

/// What stands in the probe before its key.
const MARK: &[u8] = b"kusaw-probe-key:";
/// The key of a probe that nobody gave one.
const NONE: [u8; 16] = *b"0000000000000000";

/// The key of a run's probe.
#[derive(Clone, Debug)]
pub struct Key([u8; 16]);

impl Key {
    /// A key of its own.
    ///
    /// # Errors
    /// When the kernel gives no random bytes.
    pub fn random() -> io::Result<Self> {
        let mut key = [0; 16];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut key)?;
        Ok(Self(key))
    }

    /// Writes the key into a copy of the probe.
    ///
    /// # Errors
    /// When the program has no place for one, or several.
    pub fn put(&self, program: &mut [u8]) -> io::Result<()> {
        let place = place(program)?;
        program[place..place + NONE.len()].copy_from_slice(&self.0);
        Ok(())
    }

    /// Whether a line is sealed with this key.
    pub fn is_on(&self, line: &str) -> bool {
        let parts = line.strip_suffix("\"}").and_then(|line| line.rsplit_once(",\"seal\":\""));
        parts.is_some_and(|(open, seal)| seal == self.of(&format!("{open}}}")))
    }

    /// FNV-1a of 64 bits over key, line and key, in hexadecimal, as the probe has it.
    fn of(&self, line: &str) -> String {
        let bytes = self.0.iter().chain(line.as_bytes()).chain(&self.0);
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        format!("{:016x}", bytes.fold(0xcbf2_9ce4_8422_2325, step))
    }

    /// The line of an object with its seal.
    #[cfg(test)]
    pub fn sealed(&self, object: &str) -> String {
        format!("{},\"seal\":\"{}\"}}", object.strip_suffix('}').unwrap(), self.of(object))
    }
}

/// The program without its key: what was built, whichever run it is of.
///
/// # Errors
/// As [`Key::put`].
pub fn without_key(program: &mut [u8]) -> io::Result<()> {
    Key(NONE).put(program)
}

fn place(program: &[u8]) -> io::Result<usize> {
    let ends = program.windows(MARK.len()).zip(MARK.len()..);
    let mut found = ends.filter(|(window, _)| *window == MARK).map(|(_, end)| end);
    match (found.next(), found.next()) {
        (Some(place), None) if place + NONE.len() <= program.len() => Ok(place),
        _ => Err(io::Error::other(
            "this kusaw-probe has no place for a key; build it anew: `cargo build -p kusaw-probe`",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_line_itself_is_sealed_and_only_with_the_key() {
        let (key, other) = (Key(*b"0123456789abcdef"), Key(NONE));
        let line = key.sealed(r#"{"probe":1,"end":true}"#);
        assert!(key.is_on(&line) && !other.is_on(&line));
        assert!(!key.is_on(&line.replace("true", "false")));
        assert!(!key.is_on(r#"{"probe":1,"end":true}"#) && !key.is_on(r#"{"probe":1,"end":true,"seal":""}"#));
    }

    #[test]
    fn the_key_goes_where_the_mark_is() {
        let mut program = b"elf kusaw-probe-key:0000000000000000 end".to_vec();
        Key(*b"0123456789abcdef").put(&mut program).unwrap();
        assert_eq!(program, b"elf kusaw-probe-key:0123456789abcdef end");
        without_key(&mut program).unwrap();
        assert_eq!(program, b"elf kusaw-probe-key:0000000000000000 end");
        for wrong in
            [&b"elf"[..], b"kusaw-probe-key:000", b"kusaw-probe-key:0000000000000000kusaw-probe-key:0000000000000000"]
        {
            assert!(without_key(&mut wrong.to_vec()).is_err());
        }
    }
}
