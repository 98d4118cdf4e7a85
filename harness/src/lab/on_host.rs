//! A service on our own host, at all its addresses: what an allowed name that leads to loopback, or to the host itself, would
//! reach. It answers with its own name and notes who was called.

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::network;

/// The service, until this is dropped.
#[derive(Debug)]
pub struct OnHost {
    seen: Arc<Mutex<Vec<IpAddr>>>,
    task: JoinHandle<()>,
}

impl OnHost {
    /// Listens, in the runtime of the caller.
    ///
    /// # Errors
    /// When somebody has the port.
    pub async fn listen(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((network::all_addresses(), port)).await?;
        let seen: Arc<Mutex<Vec<IpAddr>>> = Arc::default();
        let journal = seen.clone();
        let task = tokio::task::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else {
                    tokio::time::sleep(Duration::from_millis(10)).await; // too many files are open
                    continue;
                };
                if let Ok(to) = stream.local_addr() {
                    let to = to.ip().to_canonical();
                    journal.lock().unwrap_or_else(PoisonError::into_inner).push(to);
                    tokio::task::spawn(answer(stream, to));
                }
            }
        });
        Ok(Self { seen, task })
    }

    /// The addresses at which it was called, in order. Whoever has connected before is among them: this takes them in first.
    pub async fn arrivals(&self) -> Vec<IpAddr> {
        for _ in 0..32 {
            tokio::task::yield_now().await; // the runtime looks at its sockets once in each turn
        }
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for OnHost {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Answers one request, whatever it is; a client that goes away is its own affair.
async fn answer(mut stream: TcpStream, to: IpAddr) {
    let body = format!("kusaw-origin:host:{to}");
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
    if stream.read(&mut [0; 4096]).await.is_ok() && stream.write_all(answer.as_bytes()).await.is_ok() {
        let _ = stream.shutdown().await;
    }
}
