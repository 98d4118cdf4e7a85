//! The origin that all proxies reach: on the loopback of the host, in the bench's own process.

use std::io;
use std::path::Path;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;

use crate::order::{Origin, Service};
use crate::provider;

const CHUNK: usize = 256 << 10;

/// Of an answer's body.
const BODY: usize = 1 << 10;

/// Answers as long as the runtime lives; who is to trust it finds its authority in `roots`.
pub fn start(roots: &Path) -> io::Result<(Runtime, Origin)> {
    let tls = provider::tls(roots)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let listen = |service| runtime.block_on(listen(service, tls.clone()));
    use Service::{Echo, Plain, Secure, Sink, Source, Web};
    let origin = Origin([listen(Echo)?, listen(Source)?, listen(Sink)?, listen(Web)?, listen(Plain)?, listen(Secure)?]);
    Ok((runtime, origin))
}

async fn listen(service: Service, tls: TlsAcceptor) -> io::Result<std::net::SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        loop {
            // What a client breaks off is its own loss; it notices.
            if let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, service, tls.clone()));
            }
        }
    });
    Ok(address)
}

async fn serve(mut stream: TcpStream, service: Service, tls: TlsAcceptor) -> io::Result<()> {
    stream.set_nodelay(true)?;
    match service {
        Service::Echo => loop {
            let mut bytes = [0; 64];
            let n = stream.read(&mut bytes).await?;
            if n == 0 {
                return Ok(());
            }
            stream.write_all(&bytes[..n]).await?;
        },
        Service::Source => {
            let bytes = vec![7; CHUNK];
            loop {
                let mut left = stream.read_u64().await?;
                while left > 0 {
                    let n = left.min(CHUNK as u64);
                    stream.write_all(&bytes[..n as usize]).await?;
                    left -= n;
                }
            }
        }
        Service::Sink => {
            let mut bytes = vec![0; CHUNK];
            loop {
                let mut left = stream.read_u64().await?;
                while left > 0 {
                    let n = stream.read(&mut bytes).await? as u64;
                    if n == 0 {
                        return Ok(());
                    }
                    left = left.saturating_sub(n);
                }
                stream.write_all(&[1]).await?;
            }
        }
        Service::Web => web(stream).await,
        Service::Plain => provider::answer(stream, &page()).await,
        Service::Secure => provider::answer(tls.accept(stream).await?, &page()).await,
    }
}

async fn web(mut stream: TcpStream) -> io::Result<()> {
    let answer = page();
    let mut request = Vec::new();
    loop {
        if stream.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
        if request.ends_with(b"\r\n\r\n") {
            request.clear();
            stream.write_all(&answer).await?;
        }
    }
}

/// A whole answer.
fn page() -> Vec<u8> {
    let mut answer =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {BODY}\r\n\r\n").into_bytes();
    answer.resize(answer.len() + BODY, b'.');
    answer
}
