//! The origins of the world: who is called answers in the manner of the address that was dialled, and notes what came.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::server::Acceptor;

use super::http;
use super::journal::{Hello, Journal};
use super::model::Models;
use super::site::{self, Manner, Site};
use crate::lab::network;

/// Where public origins answer; the last is a DNS server's, by TCP.
const PORTS: [u16; 6] = [80, 443, 8080, 8443, 22, 53];
/// Where they take datagrams: a DNS server's, QUIC's, and one that nobody uses.
const UDP_PORTS: [u16; 3] = [53, 443, 9999];

/// What the origins share.
#[derive(Clone)]
pub struct Origins {
    /// What they note.
    pub journal: Journal,
    /// Who answers for providers.
    pub models: Models,
    /// How they speak TLS.
    pub tls: Arc<ServerConfig>,
}

/// An origin at work on one connection: what it reads is noted.
pub struct Call<S> {
    /// The connection.
    pub stream: S,
    /// Who was called.
    pub site: Site,
    /// What it says of itself.
    pub token: String,
    /// Its entry.
    pub number: usize,
    /// Where it is noted.
    pub journal: Journal,
    /// Who answers for a provider.
    pub models: Models,
    /// Whether what is read is noted: not inside TLS.
    pub noted: bool,
}

/// Starts an origin at every address and port, and the sinks of datagrams.
pub async fn bind(origins: &Origins) -> io::Result<()> {
    for port in PORTS {
        let listener = TcpListener::bind((network::all_addresses(), port)).await?;
        tokio::task::spawn_local(serve(listener, origins.clone()));
    }
    for address in [network::ALLOWED, network::BLOCKED] {
        for port in UDP_PORTS {
            let socket = UdpSocket::bind((address, port)).await?;
            tokio::task::spawn_local(take(socket, origins.journal.clone()));
        }
    }
    Ok(())
}

/// A port of a scenario's own, at all addresses of the world.
///
/// # Errors
/// When there is none.
pub async fn open(origins: &Origins) -> io::Result<u16> {
    let listener = TcpListener::bind((network::all_addresses(), 0)).await?;
    let port = listener.local_addr()?.port();
    tokio::task::spawn_local(serve(listener, origins.clone()));
    Ok(port)
}

/// Answers every connection for ever.
async fn serve(listener: TcpListener, origins: Origins) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(10)).await; // the client was faster, or too many files are open
            continue;
        };
        if let Ok(to) = stream.local_addr() {
            let site = site::site(to.ip());
            let number = origins.journal.arrived(site.name, to, false);
            tokio::task::spawn_local(answer(stream, site, to, number, origins.clone()));
        }
    }
}

async fn answer(stream: TcpStream, site: Site, to: SocketAddr, number: usize, origins: Origins) {
    let _ = stream.set_nodelay(true);
    let token = site::token(&site, to.ip());
    let (journal, models, manner) = (origins.journal, origins.models, site.manner);
    // A client that goes away in the middle is its own affair.
    let secure = match manner {
        Manner::Tls | Manner::Depot => true,
        Manner::Api => begins_with_tls(&stream).await,
        _ => false,
    };
    let _ = match manner {
        _ if secure => {
            let Some(record) = first_record(&stream).await else { return };
            journal.brought(number, &record);
            let Ok(start) = LazyConfigAcceptor::new(Acceptor::default(), stream).await else { return };
            let sni = start.client_hello().server_name().map(str::to_owned);
            let digest = Sha256::digest(&record).iter().map(|byte| format!("{byte:02x}")).collect();
            journal.note(number, |arrival| arrival.hello = Some(Hello { sni, digest }));
            let Ok(stream) = start.into_stream(origins.tls).await else { return };
            http::serve(Call { stream, site, token, number, journal, models, noted: false }).await
        }
        Manner::First => {
            let mut call = Call { stream, site, token, number, journal, models, noted: true };
            let greeting = format!("220 {}\r\n", call.token);
            match call.stream.write_all(greeting.as_bytes()).await {
                Ok(()) => call.drain(false).await,
                gone => gone,
            }
        }
        Manner::Sink => Call { stream, site, token, number, journal, models, noted: true }.drain(false).await,
        Manner::Parrot => Call { stream, site, token, number, journal, models, noted: true }.drain(true).await,
        _ => http::serve(Call { stream, site, token, number, journal, models, noted: true }).await,
    };
}

impl<S: AsyncRead + AsyncWrite + Unpin> Call<S> {
    /// Reads something more behind `buffer`; false at the end.
    pub async fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool> {
        let mut bytes = [0; 16 << 10];
        let length = self.stream.read(&mut bytes).await?;
        if self.noted {
            self.journal.brought(self.number, &bytes[..length]);
        }
        buffer.extend(&bytes[..length]);
        Ok(length > 0)
    }

    /// Takes everything up to the end, and sends it back if it is to.
    async fn drain(&mut self, back: bool) -> io::Result<()> {
        let mut bytes = Vec::new();
        while self.read(&mut bytes).await? {
            if back {
                self.stream.write_all(&bytes).await?;
            }
            bytes.clear();
        }
        self.stream.shutdown().await
    }
}

/// Whether the first byte is that of a handshake record; 22, RFC 8446, section 5.1.
async fn begins_with_tls(stream: &TcpStream) -> bool {
    let mut first = [0];
    matches!(stream.peek(&mut first).await, Ok(1)) && first == [22]
}

/// The first record of a TLS client (RFC 8446, section 5.1), left where it is.
async fn first_record(stream: &TcpStream) -> Option<Vec<u8>> {
    let mut bytes = vec![0; 20 << 10];
    loop {
        let length = stream.peek(&mut bytes).await.ok()?;
        let whole = bytes.get(3..5).map(|two| 5 + usize::from(u16::from_be_bytes([two[0], two[1]])))?;
        match length {
            0 => return None,
            there if there >= 5 && there >= whole => return Some(bytes[..whole].to_vec()),
            _ => tokio::time::sleep(Duration::from_millis(2)).await, // peek(2) does not wait for more
        }
    }
}

/// Takes datagrams for ever, and answers each with its token.
async fn take(socket: UdpSocket, journal: Journal) {
    let Ok(to) = socket.local_addr() else { return };
    let site = site::site(to.ip());
    let token = site::token(&site, to.ip());
    let mut buffer = [0; 2048];
    loop {
        let Ok((length, client)) = socket.recv_from(&mut buffer).await else { continue };
        let number = journal.arrived(site.name, to, true);
        journal.brought(number, &buffer[..length]);
        let _ = socket.send_to(token.as_bytes(), client).await;
    }
}
