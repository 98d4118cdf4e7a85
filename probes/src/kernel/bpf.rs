//! `bpf`: makes a map for BPF programs, of one number (bpf(2)). It is gone at once.

#![allow(unsafe_code)]

use crate::action::Action;
use crate::descriptor;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// BPF_MAP_CREATE and BPF_MAP_TYPE_ARRAY of linux/bpf.h.
const MAP_CREATE: i32 = 0;
const ARRAY: u32 = 2;

/// Makes a map.
pub struct Bpf;

impl Bpf {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [] = words.exactly([])?;
        Ok(Self)
    }
}

impl Action for Bpf {
    fn target(&self) -> String {
        String::new()
    }

    fn run(&self) -> Seen {
        // The kind, the sizes of a key and of a value, the number of entries; the rest of union bpf_attr may be left
        // out.
        let attributes: [u32; 4] = [ARRAY, 4, 4, 1];
        let size = size_of_val(&attributes);
        // SAFETY: the kernel reads as many bytes as it is told, which is all of them; the answer is a new descriptor.
        Seen::of(unsafe { descriptor::made(libc::syscall(libc::SYS_bpf, MAP_CREATE, &raw const attributes, size)) })
    }
}
