//! The seal of a line: what only this copy of the probe can put there. Whoever has it run a command knows the command and may
//! print what a probe would; a harness that gave each of its runs a copy with another key sees that nobody ran this one.
//!
//! It is no cryptography: who takes the key out of the program can seal. It tells who did not run it, and who changed a line.

use std::hint::black_box;

/// The harness writes a random key over the digits of the copy that its worktrees hold.
static KEY: [u8; 32] = *b"kusaw-probe-key:0000000000000000";

/// FNV-1a of 64 bits over key, line and key, in hexadecimal.
pub fn of(line: &str) -> String {
    let key = black_box(&KEY); // not what the compiler knows, but what stands in the program
    let bytes = key[16..].iter().chain(line.as_bytes()).chain(&key[16..]);
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}

/// The line of an object with its seal as the last member.
pub fn sealed(object: &str) -> String {
    let open = object.strip_suffix('}').unwrap_or(object);
    format!("{open},\"seal\":\"{}\"}}", of(object))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_is_of_one_line() {
        assert_eq!(of("{\"a\":1}"), of("{\"a\":1}"));
        assert_ne!(of("{\"a\":1}"), of("{\"a\":2}"));
        assert_eq!(sealed("{\"a\":1}"), format!("{{\"a\":1,\"seal\":\"{}\"}}", of("{\"a\":1}")));
    }
}
