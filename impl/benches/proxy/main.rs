//! What the proxy costs, as ratios in one run: the same clients and the same origin directly, by kusaw's proxy from inside a
//! sandbox, by squid, tinyproxy and srt's; and a provider whose key kusaw injects, beside nginx.
//!
//! Started by `make bench`; ARGS goes to all benches (`--gate --write --quick`). With the word `client` it is the client.

mod client;
mod event;
#[path = "../ground/mod.rs"]
mod ground;
mod order;
mod origin;
mod others;
mod page;
mod provider;
mod proxies;
#[path = "../report/mod.rs"]
mod report;
mod rounds;
mod running;
mod targets;
mod way;

use std::io;
use std::path::Path;
use std::process::Stdio;

use ground::Ground;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use page::Page;
use report::{Asked, Part};
use rounds::Sizes;

const SIZES: Sizes = Sizes {
    rounds: 5,
    bytes: 256 << 20,
    millis: 600,
    pings: 5_000,
    idle: [1_000, 9_000],
    names: [1_000, 10_000, 100_000],
};

const LONG: Sizes = Sizes { bytes: 1 << 30, millis: 2_000, ..SIZES };

const QUICK: Sizes =
    Sizes { rounds: 1, bytes: 64 << 20, millis: 150, pings: 500, idle: [500, 1_000], names: [100, 1_000, 10_000] };

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, origin] = &arguments[..]
        && word == "client"
    {
        if let Err(e) = client::obey(origin) {
            eprintln!("bench: client: {e}");
            std::process::exit(2);
        }
        return;
    }
    report::run(bench)
}

fn bench(kusaw: &Path, asked: Asked) -> io::Result<Part> {
    let sizes = match asked {
        Asked { quick: true, .. } => QUICK,
        Asked { all: true, .. } => LONG,
        _ => SIZES,
    };
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?; // the origin's end of each tunnel; who is started has it too
    let ground = Ground::make(kusaw)?;
    let client = proxies::install_client(&ground)?;
    let (_runtime, origin) = origin::start(&proxies::roots(&ground))?;
    let proxies = proxies::all(&ground, &origin)?;
    let rows = rounds::measure(&ground, &origin, proxies, &sizes)?;
    let mut version = ground.command(client.with_file_name("kusaw"));
    let facts = report::facts(&ground, ("kusaw", version.arg("--version").stdout(Stdio::piped())))?;
    Ok(Page { rows, sizes, facts }.part())
}
