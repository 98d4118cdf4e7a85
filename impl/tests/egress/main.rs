//! The proxy over real sockets. The outside world stands behind the one seam the proxy has, its network: names have the
//! answers a test gives them, and every dialled address leads to one origin that remembers what it got.
#![allow(missing_docs, clippy::unwrap_used)]

mod accepted;
mod hostile;
mod life;
mod plain;
mod rows;
mod share;
mod tunnel;
mod world;
