//! Bytes of a tunnel, both ways, unchanged. A buffer is only held while bytes are there, so that a
//! thousand idle tunnels cost little; half-closes are passed on; a tunnel without bytes ends some day.

use std::cell::RefCell;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;

/// Without a byte either way.
const IDLE: Duration = Duration::from_secs(30 * 60);

const BUFFER: usize = 64 << 10;

/// Buffers kept for the next use.
const SPARE: usize = 32;

thread_local! {
    static BUFFERS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Relays until both sides have ended, or one has failed.
pub async fn relay(client: TcpStream, upstream: TcpStream) {
    let (client_in, client_out) = client.into_split();
    let (upstream_in, upstream_out) = upstream.into_split();
    let moved = AtomicU64::new(0);
    let up = one_way(client_in, upstream_out, &moved);
    let down = one_way(upstream_in, client_out, &moved);
    let _ = tokio::try_join!(up, down);
}

async fn one_way(from: OwnedReadHalf, mut to: OwnedWriteHalf, moved: &AtomicU64) -> io::Result<()> {
    loop {
        let before = moved.load(Ordering::Relaxed);
        match timeout(IDLE, from.readable()).await {
            Ok(ready) => ready?,
            Err(_) if moved.load(Ordering::Relaxed) != before => continue,
            Err(_) => return Err(io::ErrorKind::TimedOut.into()),
        }
        let mut buffer = take();
        match from.try_read(&mut buffer) {
            Ok(0) => {
                give(buffer);
                return to.shutdown().await;
            }
            Ok(n) => {
                moved.fetch_add(n as u64, Ordering::Relaxed);
                let written = to.write_all(&buffer[..n]).await;
                give(buffer);
                written?;
            }
            Err(e) => {
                give(buffer);
                if e.kind() != io::ErrorKind::WouldBlock {
                    return Err(e);
                }
            }
        }
    }
}

fn take() -> Vec<u8> {
    BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_else(|| vec![0; BUFFER])
}

fn give(buffer: Vec<u8>) {
    BUFFERS.with_borrow_mut(|spare| {
        if spare.len() < SPARE {
            spare.push(buffer);
        }
    });
}
