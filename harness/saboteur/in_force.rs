//! Which fault is in force: its name, written into a copy of the program after the build. So no variable and no file says
//! it that a scenario could see, and it reaches the stage too, which starts with an empty environment.

/// What the name is found by; the name follows, filled up with zeros. Only the static below holds these bytes.
const MARK: &[u8; 30] = b"kusaw: the fault in force is: ";

/// The mark, and room for a name.
static IN_FORCE: [u8; 128] = room();

const fn room() -> [u8; 128] {
    let mut room = [0; 128];
    let mut at = 0;
    while at < MARK.len() {
        room[at] = MARK[at];
        at += 1;
    }
    room
}

/// Whether the fault of this name is in force. Allocates nothing, so that it may be asked between fork and exec.
#[must_use]
#[inline(never)]
pub fn is(name: &str) -> bool {
    let named = &std::hint::black_box(&IN_FORCE)[const { MARK.len() }..];
    named.starts_with(name.as_bytes()) && named.get(name.len()) == Some(&0)
}
