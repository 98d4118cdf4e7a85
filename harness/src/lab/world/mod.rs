//! The world: what lies behind the lab's network. One process, one thread, a DNS server and origins.
//!
//! Each origin answers with its own name, so that "who answered" is the verdict, and notes what arrived, so that "nothing
//! arrived" is a fact. Nothing is judged here.

mod api;
pub mod control;
pub mod depot;
mod dns;
mod http;
pub mod journal;
pub mod model;
mod origin;
pub mod site;
pub mod tls;
mod web_socket;
pub mod zone;

use std::io;
use std::os::unix::net::UnixStream;

use journal::Journal;
use origin::Origins;

/// Serves until the lab ends; `bound` is called once every socket is there. The engine asks through `engine`.
pub fn serve(authority: tls::Authority, engine: UnixStream, bound: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let journal = Journal::default();
        let origins = Origins { journal: journal.clone(), models: model::Models::default(), tls: authority.server()? };
        let resolver = dns::bind().await?;
        origin::bind(&origins).await?;
        bound()?;
        tokio::task::spawn_local(control::serve(engine, journal.clone(), origins));
        dns::serve(resolver, journal).await
    })
}
