//! What is shown where, besides the system, in the order of mounting. Every place is shown as declared: an outer one never
//! hides or weakens an inner one.

use std::path::{Path, PathBuf};

use super::plan::Host;
use crate::reach::{Reach, Shown};

/// What is shown at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// As what.
    pub how: How,
    /// On the host.
    pub from: PathBuf,
    /// Inside.
    pub to: PathBuf,
}

/// As what something is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Read-only.
    Read,
    /// Writable.
    Write,
    /// Nothing is to be seen but what is shown below it.
    Cover,
}

/// The places besides the system, outer ones before inner ones: a mount hides what was mounted below its place earlier. Of two
/// at one place the later counts.
pub fn places(reach: &Reach, host: &Host) -> Vec<Place> {
    let same = |how, path: &PathBuf| Place { how, from: path.clone(), to: path.clone() };
    let shown = || reach.read.iter().chain(&reach.write);
    let mut places = vec![Place { how: How::Write, from: reach.temp.slash_tmp(), to: "/tmp".into() }];
    if !reach.home_is_open {
        places.push(Place { how: How::Write, from: reach.temp.home(), to: reach.home.clone() });
    }
    places.extend(reach.read.iter().map(|path| same(How::Read, path)));
    places.extend(reach.write.iter().map(|path| same(How::Write, path)));
    let instead = reach.instead.iter().cloned();
    places.extend(instead.map(|Shown { from, to, .. }| Place { how: How::Write, from, to }));
    let is_named = |place: &&PathBuf| shown().any(|path| place.starts_with(path));
    let hidden = reach.hide.iter().chain(host.hidden.iter().filter(|place| !is_named(place)));
    let covers = hidden.map(|place| {
        let holds = places.iter().any(|inner| inner.to != *place && inner.to.starts_with(place));
        let over = if host.files.contains(place) { Path::new("/dev/null") } else { &host.empty };
        Place { how: if holds { How::Cover } else { How::Read }, from: over.into(), to: place.clone() }
    });
    let covers: Vec<Place> = covers.collect();
    places.extend(covers);
    places.sort_by_key(|place| place.to.components().count());
    places
}
