//! The outside: what lies behind the lab's network. One process, one thread, a DNS server and HTTP origins.
//!
//! Each origin answers with its own name, so that "who answered" is the verdict. Nothing is judged here.

mod dns;
mod origin;

use std::io;

/// Serves until the lab ends.
pub fn serve() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let dns = dns::serve();
        let origins = origin::serve();
        tokio::try_join!(dns, origins).map(|_| ())
    })
}

pub use origin::token;
