//! Drivers: how an implementation is asked, as data.
//!
//! A manifest says how to launch it and where to look afterwards. Nothing here knows any implementation.

pub mod commands;
pub mod expectation;
pub mod identity;
mod like;
pub mod manifest;
pub mod observe;
pub mod part;
pub mod template;

pub use manifest::{Kind, Manifest, Network};
pub use template::Templates;
