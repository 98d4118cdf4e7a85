//! A service on the localhost of the lab's host, as a developer has one: a server and a database at their ports, on all
//! addresses of both families, by TCP and UDP. It says its name as the world's origins do, and must end with its scenario.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::JoinSet;

use super::network;

/// Two services, until this is dropped.
#[derive(Debug)]
pub struct Local {
    /// The port of the one.
    pub port: u16,
    /// And of the other.
    pub other: u16,
    _at_work: JoinSet<()>,
}

/// Ports that nobody was lucky with: somebody has one of the family, or of the protocol.
const TRIES: usize = 20;

impl Local {
    /// Starts them in the runtime of the caller.
    ///
    /// # Errors
    /// When no port is free.
    pub async fn start() -> io::Result<Self> {
        let mut at_work = JoinSet::new();
        let port = serve(&mut at_work, "local").await?;
        let other = serve(&mut at_work, "other").await?;
        Ok(Self { port, other, _at_work: at_work })
    }
}

async fn serve(at_work: &mut JoinSet<()>, name: &'static str) -> io::Result<u16> {
    let mut failed = io::Error::other("no port");
    for _ in 0..TRIES {
        match bind().await {
            Ok((listener, socket)) => {
                let port = listener.local_addr()?.port();
                let token = format!("kusaw-origin:{name}:{port}");
                at_work.spawn(answer_connections(listener, token.clone()));
                at_work.spawn(answer_datagrams(socket, token));
                return Ok(port);
            }
            Err(e) => failed = e,
        }
    }
    Err(failed)
}

/// Where there is IPv6, a socket on all its addresses takes IPv4 too: ipv6(7).
async fn bind() -> io::Result<(TcpListener, UdpSocket)> {
    let listener = TcpListener::bind((network::all_addresses(), 0)).await?;
    let socket = UdpSocket::bind(SocketAddr::new(network::all_addresses(), listener.local_addr()?.port())).await?;
    Ok((listener, socket))
}

async fn answer_connections(listener: TcpListener, token: String) {
    loop {
        match listener.accept().await {
            // A client that goes away is its own affair.
            Ok((stream, _)) => drop(tokio::task::spawn(answer(stream, token.clone()))),
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
        }
    }
}

/// A whole request is read first: a socket that is closed with unread bytes resets the connection, and the answer with it.
async fn answer(mut stream: TcpStream, token: String) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        if stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let length = token.len();
    let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{token}");
    stream.write_all(reply.as_bytes()).await?;
    stream.shutdown().await
}

async fn answer_datagrams(socket: UdpSocket, token: String) {
    let mut buffer = [0; 2048];
    loop {
        if let Ok((_, client)) = socket.recv_from(&mut buffer).await {
            let _ = socket.send_to(token.as_bytes(), client).await;
        }
    }
}
