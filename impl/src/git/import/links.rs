//! Symbolic links: what each one that a commit makes says by itself, and where all of a tip's lead to, taken together.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{Code, Fault};
use super::lines::Lines;
use super::objects::Quarantine;
use super::refs::Wanted;
use super::run::{self, Watch};
use super::{at, batch, changes, escape, policy};
use crate::git::record::Record;

/// Longest target, in bytes: PATH_MAX, path_resolution(7).
const LONGEST: u64 = 4095;

/// Links that new commits make, and those of one tip; their paths and targets together, in bytes.
const MOST: usize = 200_000;
const BYTES: usize = 64 << 20;

/// Those that new commits make or change.
#[derive(Debug, Default)]
pub struct Links {
    /// By the object that says where they lead: path and commit.
    made: BTreeMap<String, Vec<(Vec<u8>, String)>>,
    count: usize,
    bytes: usize,
    touched: bool,
}

/// Where the links of a tree lead, by path; not known for one that cannot be read.
type Targets = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

impl Links {
    /// Notes what a change has to do with links.
    ///
    /// # Errors
    /// When there are too many.
    pub fn note(&mut self, change: &changes::Change) -> Result<(), Fault> {
        self.touched |= change.touches_link;
        if change.mode != changes::LINK {
            return Ok(());
        }
        self.count += 1;
        self.bytes += change.path.len();
        self.made.entry(change.id.into()).or_default().push((change.path.into(), change.commit.into()));
        is_few(self.count, self.bytes)
    }

    /// Whether none of them, and no link that was there, leads out of the tree by what the step has done.
    ///
    /// # Errors
    /// When one does.
    pub fn check(&self, quarantine: &Quarantine, wanted: &Wanted, record: &Record, watch: &Watch) -> Result<(), Fault> {
        self.each_by_itself(quarantine, watch)?;
        if !self.touched {
            return Ok(());
        }
        let made: BTreeSet<&[u8]> = self.made.values().flatten().map(|(path, _)| &path[..]).collect();
        let mut base = None;
        for tip in wanted.tips().collect::<BTreeSet<&str>>() {
            let links = targets(quarantine, tip, watch)?;
            for path in outside(&links, watch)? {
                let base = match &mut base {
                    Some(base) => base,
                    none => none.insert(targets(quarantine, &record.base, watch)?),
                };
                // What leads outside already, or came with others' commits, is not the step's doing.
                let was_inside = base.contains_key(path) && !policy::leads_outside(path, base);
                if was_inside || made.contains(path) {
                    let target = links.get(path).and_then(Option::as_deref).unwrap_or_default();
                    let said = format!("{} -> {}, through another link", at(path, tip), escape(target));
                    return Err(Fault::new(Code::LinkOutside, said));
                }
            }
        }
        Ok(())
    }

    fn each_by_itself(&self, quarantine: &Quarantine, watch: &Watch) -> Result<(), Fault> {
        let ids: Vec<&String> = self.made.keys().collect();
        let made: Vec<&Vec<(Vec<u8>, String)>> = self.made.values().collect();
        each_target(quarantine, &ids, watch, &mut |number, target| {
            for (path, commit) in made[number] {
                let target = target.ok_or_else(|| {
                    Fault::new(Code::LinkOutside, format!("{}: its target is longer than paths go", at(path, commit)))
                })?;
                policy::link(path, target)
                    .map_err(|code| Fault::new(code, format!("{} -> {}", at(path, commit), escape(target))))?;
            }
            Ok(())
        })
    }
}

/// Those of a tree that lead out of it.
fn outside<'a>(links: &'a Targets, watch: &Watch) -> Result<Vec<&'a [u8]>, Fault> {
    let mut outside = Vec::new();
    for path in links.keys() {
        watch.look()?;
        outside.extend(policy::leads_outside(path, links).then_some(&path[..]));
    }
    Ok(outside)
}

fn targets(quarantine: &Quarantine, tip: &str, watch: &Watch) -> Result<Targets, Fault> {
    let git = quarantine.git().command(["ls-tree", "-r", "-z", "--full-tree", tip]);
    let git = git.map_err(|said| Fault::new(Code::Failed, said))?;
    let (mut parts, mut bytes, mut count) = (Lines::ending(0), 0, 0);
    let mut found: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    run::stream(git, b"", Code::ObjectsMissing, "ls-tree", watch, &mut |said| {
        parts.feed_bytes(said, &mut |part| {
            // "MODE KIND ID\tPATH"
            let Some(tab) = part.iter().position(|byte| *byte == b'\t').filter(|_| part.starts_with(changes::LINK))
            else {
                return Ok(());
            };
            let id = String::from_utf8_lossy(&part[..tab]).rsplit(' ').next().unwrap_or_default().to_string();
            count += 1;
            bytes += part.len() - tab;
            found.entry(id).or_default().push(part[tab + 1..].to_vec());
            is_few(count, bytes)
        })
    })?;
    let ids: Vec<&String> = found.keys().collect();
    let paths: Vec<&Vec<Vec<u8>>> = found.values().collect();
    let mut targets = Targets::new();
    each_target(quarantine, &ids, watch, &mut |number, target| {
        bytes += paths[number].len() * target.map_or(0, <[u8]>::len);
        targets.extend(paths[number].iter().map(|path| (path.clone(), target.map(<[u8]>::to_vec))));
        is_few(0, bytes)
    })?;
    Ok(targets)
}

/// What the objects hold; nothing for those that are longer than a target can be, which are not read, or are not there.
fn each_target(quarantine: &Quarantine, ids: &[&String], watch: &Watch, take: batch::Reader) -> Result<(), Fault> {
    let asked: Vec<&[u8]> = ids.iter().map(|id| id.as_bytes()).collect();
    let sizes = batch::sizes(quarantine, &asked, watch)?;
    let is_short = |number: &usize| sizes[*number].is_some_and(|size| size <= LONGEST);
    let (short, long): (Vec<usize>, Vec<usize>) = (0..ids.len()).partition(is_short);
    long.into_iter().try_for_each(|number| take(number, None))?;
    let asked: Vec<&[u8]> = short.iter().map(|number| asked[*number]).collect();
    batch::each(quarantine, &asked, LONGEST as usize, watch, &mut |number, target| take(short[number], target))
}

fn is_few(count: usize, bytes: usize) -> Result<(), Fault> {
    if count > MOST || bytes > BYTES {
        return Err(Fault::new(Code::TooMany, format!("more than {MOST} links, or {BYTES} bytes of them")));
    }
    Ok(())
}
