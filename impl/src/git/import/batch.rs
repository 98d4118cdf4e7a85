//! Objects and their sizes out of one `git cat-file`, in the order in which they were asked for, and one in memory at a time.

use super::code::{Code, Fault};
use super::lines::Lines;
use super::objects::Quarantine;
use super::run::{self, Watch};

/// Takes an object, by its number among those asked for; nothing for one that is not there.
pub type Reader<'a> = &'a mut dyn FnMut(usize, Option<&[u8]>) -> Result<(), Fault>;

/// Sizes in bytes; nothing for what is not there.
///
/// # Errors
/// As git says them.
pub fn sizes(quarantine: &Quarantine, names: &[&[u8]], watch: &Watch) -> Result<Vec<Option<u64>>, Fault> {
    let mut sizes = Vec::with_capacity(names.len());
    if names.is_empty() {
        return Ok(sizes);
    }
    let mut lines = Lines::default();
    let git = quarantine.git().command(["cat-file", "--batch-check=%(objectsize)"]);
    let git = git.map_err(|said| Fault::new(Code::Failed, said))?;
    run::stream(git, &asked(names), Code::ObjectsMissing, "cat-file", watch, &mut |bytes| {
        // "NAME missing".
        lines.feed(bytes, &mut |line| {
            sizes.push(line.parse().ok());
            Ok(())
        })
    })?;
    if sizes.len() == names.len() { Ok(sizes) } else { Err(odd()) }
}

/// Gives each object to `take`, with its number; nothing for what is not there.
///
/// # Errors
/// As git says them, and those of `take`; when one is larger than `most` bytes.
pub fn each(quarantine: &Quarantine, names: &[&[u8]], most: usize, watch: &Watch, take: Reader) -> Result<(), Fault> {
    if names.is_empty() {
        return Ok(());
    }
    let git = quarantine.git().command(["cat-file", "--batch=%(objectsize)"]);
    let git = git.map_err(|said| Fault::new(Code::Failed, said))?;
    let (mut number, mut parts) = (0, Parts::default());
    run::stream(git, &asked(names), Code::ObjectsMissing, "cat-file", watch, &mut |bytes| {
        parts.feed(bytes, most, &mut |part| {
            number += 1;
            take(number - 1, part)
        })
    })?;
    if number == names.len() && parts.rest.is_empty() { Ok(()) } else { Err(odd()) }
}

/// A path in a name has no line feed: it has passed the policy.
fn asked(names: &[&[u8]]) -> Vec<u8> {
    names.iter().flat_map(|name| [name, &b"\n"[..]]).flatten().copied().collect()
}

fn odd() -> Fault {
    Fault::new(Code::Failed, "cat-file says what it does not say")
}

/// git-cat-file(1), "BATCH OUTPUT": a line with the size, the bytes, a line feed; or "NAME missing".
#[derive(Default)]
struct Parts {
    rest: Vec<u8>,
}

impl Parts {
    fn feed(
        &mut self,
        bytes: &[u8],
        most: usize,
        take: &mut impl FnMut(Option<&[u8]>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.rest.extend(bytes);
        let mut at = 0;
        while let Some(line) = self.rest[at..].iter().position(|byte| *byte == b'\n') {
            let start = at + line + 1;
            let size = str::from_utf8(&self.rest[at..at + line]).ok().and_then(|size| size.parse::<usize>().ok());
            let Some(size) = size else {
                take(None)?;
                at = start;
                continue;
            };
            if size > most {
                return Err(Fault::new(Code::TooLarge, format!("an object of {size} bytes; {most} are allowed")));
            }
            if self.rest.len() <= start + size {
                break;
            }
            take(Some(&self.rest[start..start + size]))?;
            at = start + size + 1;
        }
        self.rest.drain(..at);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_whole_however_they_come() {
        let said = b"3\na\nb\nx missing\n0\n\n2\n12\n";
        for size in 1..said.len() {
            let (mut parts, mut found) = (Parts::default(), Vec::new());
            for piece in said.chunks(size) {
                parts
                    .feed(piece, 3, &mut |part| {
                        found.push(part.map(<[u8]>::to_vec));
                        Ok(())
                    })
                    .unwrap();
            }
            assert_eq!(found, [Some(b"a\nb".to_vec()), None, Some(Vec::new()), Some(b"12".to_vec())]);
            assert!(parts.rest.is_empty());
        }
        assert_eq!(Parts::default().feed(b"4\nabcd", 3, &mut |_| Ok(())).unwrap_err().code, Code::TooLarge);
    }
}
