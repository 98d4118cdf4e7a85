//! The world: what lies behind the lab's network. One process, one thread, a DNS server and HTTP origins.
//!
//! Each origin answers with its own name, so that "who answered" is the verdict. Nothing is judged here.

mod dns;
mod origin;

use std::io;

/// Serves until the lab ends; `bound` is called once every socket is there.
pub fn serve(bound: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let resolver = dns::bind().await?;
        for (listener, address) in origin::bind().await? {
            tokio::task::spawn(origin::serve(listener, address));
        }
        bound()?;
        dns::serve(resolver).await
    })
}
