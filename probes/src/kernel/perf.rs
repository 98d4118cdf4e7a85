//! `perf [PID]`: counts the time of PID, or of the probe itself, outside the kernel (perf_event_open(2)). The counter
//! is gone at once.

#![allow(unsafe_code)]

use crate::action::Action;
use crate::descriptor;
use crate::process::pid::Pid;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// Of linux/perf_event.h: PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, PERF_FLAG_FD_CLOEXEC.
const SOFTWARE: u32 = 1;
const CPU_CLOCK: u64 = 0;
const CLOEXEC: u64 = 8;
/// The bits `exclude_kernel` and `exclude_hv`: what an ordinary user may count.
const OUTSIDE_THE_KERNEL: u64 = 1 << 5 | 1 << 6;

/// Counts.
pub struct Perf {
    pid: Pid,
}

impl Perf {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        Ok(Self { pid: Pid::or_own(words.at_most_one("PID")?)? })
    }
}

impl Action for Perf {
    fn target(&self) -> String {
        self.pid.to_string()
    }

    fn run(&self) -> Seen {
        let attributes = Attributes {
            kind: SOFTWARE,
            size: size_of::<Attributes>() as u32,
            config: CPU_CLOCK,
            sampling: [0; 3],
            flags: OUTSIDE_THE_KERNEL,
            rest: [0; 2],
        };
        let (any_cpu, no_group) = (-1, -1);
        let (call, pid) = (libc::SYS_perf_event_open, self.pid.number());
        // SAFETY: the kernel reads as many bytes as the attributes say they have; the answer is a new descriptor.
        Seen::of(unsafe {
            descriptor::made(libc::syscall(call, &raw const attributes, pid, any_cpu, no_group, CLOEXEC))
        })
    }
}

/// The first version of struct perf_event_attr (PERF_ATTR_SIZE_VER0, 64 bytes).
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sampling: [u64; 3],
    flags: u64,
    rest: [u64; 2],
}
