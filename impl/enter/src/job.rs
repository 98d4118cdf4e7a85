//! The job: what the stage is to execute. Encoding and decoding are pure; a malformed or oversized
//! input is an error value, it must never panic and never be executed in part.

use std::ffi::CString;
use std::os::unix::fs::MetadataExt;
use std::{fs, io};

use crate::place::{Identity, Place};

/// One step, as the stage needs it. No value holds a NUL byte: `decode` returns C strings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Job {
    /// Program and arguments; never empty after `decode`.
    pub argv: Vec<CString>,
    /// `NAME=VALUE`, the whole environment of the step.
    pub env: Vec<CString>,
    /// Working folder, absolute, as seen inside.
    pub cwd: CString,
    /// Loopback ports the stage listens on before the step exists.
    pub ports: Vec<u16>,
    /// The launcher's own mount namespace: see `mount_namespace`.
    pub outside: u64,
    /// What must be shown at its path, or the step does not start.
    pub places: Vec<Place>,
    /// Which of 0, 1 and 2 are a terminal of its own; the rest come along.
    pub terminal: [bool; 3],
}

/// The number of this process's mount namespace (namespaces(7)): that of no other one is the same.
pub fn mount_namespace() -> io::Result<u64> {
    Ok(fs::metadata("/proc/self/ns/mnt")?.ino())
}

/// Why bytes are not a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// It ends early, or a length points past its end.
    Short,
    /// Bytes follow the last field.
    Trailing,
    /// The first bytes are not this version's mark.
    Version,
    /// A NUL inside a string.
    Nul,
    /// No program.
    Empty,
}

/// Largest job in bytes (Linux limits argv and environment together to 6 MiB).
pub const MAX: usize = 8 << 20;

const MARK: &[u8; 4] = b"KSJ4";

impl Job {
    /// The job's bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = MARK.to_vec();
        strings(&mut out, &self.argv);
        strings(&mut out, &self.env);
        string(&mut out, &self.cwd);
        number(&mut out, self.ports.len());
        self.ports.iter().for_each(|p| out.extend_from_slice(&p.to_le_bytes()));
        out.extend_from_slice(&self.outside.to_le_bytes());
        number(&mut out, self.places.len());
        for Place { path, is: Identity { device, inode } } in &self.places {
            string(&mut out, path);
            [device, inode].iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes()));
        }
        out.extend(self.terminal.map(u8::from));
        out
    }

    /// The job in `bytes`, all of them.
    pub fn decode(bytes: &[u8]) -> Result<Job, Malformed> {
        let mut rest = bytes;
        if take(&mut rest, MARK.len())? != MARK {
            return Err(Malformed::Version);
        }
        let argv = take_strings(&mut rest)?;
        let env = take_strings(&mut rest)?;
        let cwd = take_string(&mut rest)?;
        let mut ports = Vec::new();
        for _ in 0..take_number(&mut rest)? {
            let b = take(&mut rest, 2)?;
            ports.push(u16::from_le_bytes([b[0], b[1]]));
        }
        let outside = take_long(&mut rest)?;
        let mut places = Vec::new();
        for _ in 0..take_number(&mut rest)? {
            let path = take_string(&mut rest)?;
            places.push(Place { path, is: Identity { device: take_long(&mut rest)?, inode: take_long(&mut rest)? } });
        }
        let terminal = take(&mut rest, 3)?;
        let terminal = [terminal[0] != 0, terminal[1] != 0, terminal[2] != 0];
        if !rest.is_empty() {
            return Err(Malformed::Trailing);
        }
        if argv.first().is_none_or(|a| a.is_empty()) {
            return Err(Malformed::Empty);
        }
        Ok(Job { argv, env, cwd, ports, outside, places, terminal })
    }
}

fn number(out: &mut Vec<u8>, n: usize) {
    out.extend_from_slice(&(n as u32).to_le_bytes());
}

fn string(out: &mut Vec<u8>, s: &CString) {
    number(out, s.as_bytes().len());
    out.extend_from_slice(s.as_bytes());
}

fn strings(out: &mut Vec<u8>, all: &[CString]) {
    number(out, all.len());
    all.iter().for_each(|s| string(out, s));
}

fn take<'a>(rest: &mut &'a [u8], n: usize) -> Result<&'a [u8], Malformed> {
    let (head, tail) = rest.split_at_checked(n).ok_or(Malformed::Short)?;
    *rest = tail;
    Ok(head)
}

fn take_number(rest: &mut &[u8]) -> Result<usize, Malformed> {
    let b = take(rest, 4)?;
    Ok(u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize)
}

fn take_long(rest: &mut &[u8]) -> Result<u64, Malformed> {
    let bytes = take(rest, 8)?.try_into().map_err(|_| Malformed::Short)?;
    Ok(u64::from_le_bytes(bytes))
}

fn take_string(rest: &mut &[u8]) -> Result<CString, Malformed> {
    let n = take_number(rest)?;
    CString::new(take(rest, n)?).map_err(|_| Malformed::Nul)
}

fn take_strings(rest: &mut &[u8]) -> Result<Vec<CString>, Malformed> {
    // The count is not trusted with an allocation: each string costs at least four bytes of input.
    (0..take_number(rest)?).map(|_| take_string(rest)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Job {
        let c = |s: &str| CString::new(s).unwrap();
        Job {
            argv: vec![c("sh"), c("-c"), c("echo \u{fc}; exit 3")],
            env: vec![c("PATH=/usr/bin"), c("EMPTY=")],
            cwd: c("/work"),
            ports: vec![3128, 18080],
            outside: 4_026_531_841,
            places: vec![Place { path: c("/data"), is: Identity { device: 1, inode: u64::MAX } }],
            terminal: [true, false, true],
        }
    }

    #[test]
    fn comes_back_as_it_was() {
        assert_eq!(Job::decode(&sample().encode()), Ok(sample()));
    }

    #[test]
    fn every_shorter_input_is_refused() {
        let bytes = sample().encode();
        for n in 0..bytes.len() {
            assert!(Job::decode(&bytes[..n]).is_err(), "{n} bytes decoded");
        }
    }

    #[test]
    fn wrong_bytes_are_refused() {
        let good = sample().encode();
        let mut trailing = good.clone();
        trailing.push(0);
        assert_eq!(Job::decode(&trailing), Err(Malformed::Trailing));
        let mut version = good.clone();
        version[3] = b'9';
        assert_eq!(Job::decode(&version), Err(Malformed::Version));
        let mut nul = good.clone();
        nul[12] = 0;
        assert_eq!(Job::decode(&nul), Err(Malformed::Nul));
        let mut huge = good;
        huge[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(Job::decode(&huge).is_err());
        assert_eq!(Job::decode(&Job::default().encode()), Err(Malformed::Empty));
    }
}
