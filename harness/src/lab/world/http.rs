//! Just enough of HTTP/1.1 for an origin that sees raw bytes: it takes what a lenient server would, notes every head as it
//! came, and answers in its manner.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::origin::Call;
use super::site::Manner;
use super::web_socket;
use super::{api, depot};

/// The largest head and body that an origin takes, in bytes.
const MOST: usize = 4 << 20;
/// Between two events of a stream.
const PAUSE: Duration = Duration::from_millis(40);

/// A request as it came.
pub struct Request {
    /// The head, with its blank line.
    pub head: String,
    /// The body, decoded where it was chunked.
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (own, value) = line.split_once(':')?;
            own.trim().eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// Its method.
    pub fn method(&self) -> &str {
        self.word(0)
    }

    /// Its target, as it came.
    pub fn path(&self) -> &str {
        self.word(1)
    }

    fn word(&self, at: usize) -> &str {
        self.head.split_whitespace().nth(at).unwrap_or_default()
    }
}

/// Answers the requests of a connection, one after the other, as long as it is kept.
pub async fn serve<S: AsyncRead + AsyncWrite + Unpin>(mut call: Call<S>) -> io::Result<()> {
    let mut buffer = Vec::new();
    while let Some(request) = next(&mut call, &mut buffer).await? {
        call.journal.note(call.number, |arrival| arrival.requests.push(request.head.clone()));
        if !answer(&mut call, &request, &mut buffer).await? {
            break;
        }
    }
    call.stream.shutdown().await
}

/// Takes one request from the connection; none at its end.
async fn next<S: AsyncRead + AsyncWrite + Unpin>(
    call: &mut Call<S>,
    buffer: &mut Vec<u8>,
) -> io::Result<Option<Request>> {
    let end = loop {
        if let Some(at) = find(buffer, b"\r\n\r\n") {
            break at + 4;
        }
        if buffer.len() > MOST || !call.read(buffer).await? {
            return Ok(None);
        }
    };
    let head: Vec<u8> = buffer.drain(..end).collect();
    let mut request = Request { head: String::from_utf8_lossy(&head).into_owned(), body: Vec::new() };
    if request.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        call.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    if request.header("transfer-encoding").is_some_and(|value| value.to_ascii_lowercase().ends_with("chunked")) {
        request.body = chunks(call, buffer).await?;
    } else if let Some(length) = request.header("content-length").and_then(|value| value.parse::<usize>().ok()) {
        while buffer.len() < length.min(MOST) && call.read(buffer).await? {}
        request.body = buffer.drain(..length.min(buffer.len())).collect();
    }
    Ok(Some(request))
}

async fn chunks<S: AsyncRead + AsyncWrite + Unpin>(call: &mut Call<S>, buffer: &mut Vec<u8>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        while find(buffer, b"\r\n").is_none() {
            if !call.read(buffer).await? {
                return Ok(body);
            }
        }
        let end = find(buffer, b"\r\n").unwrap_or_default();
        let line: Vec<u8> = buffer.drain(..end + 2).collect();
        let digits = String::from_utf8_lossy(&line[..end]).split(';').next().unwrap_or_default().trim().to_owned();
        let length = usize::from_str_radix(&digits, 16).unwrap_or(0).min(MOST);
        while buffer.len() < length + 2 {
            if !call.read(buffer).await? {
                return Ok(body);
            }
        }
        body.extend(buffer.drain(..length));
        buffer.drain(..2);
        if length == 0 || body.len() > MOST {
            return Ok(body);
        }
    }
}

/// Answers a request; whether the connection is kept.
async fn answer<S: AsyncRead + AsyncWrite + Unpin>(
    call: &mut Call<S>,
    request: &Request,
    buffer: &mut Vec<u8>,
) -> io::Result<bool> {
    let keeps = |value: &str| !value.eq_ignore_ascii_case("close");
    let kept = request.word(2) == "HTTP/1.1" && request.header("connection").is_none_or(keeps);
    let token = call.token.clone();
    match call.site.manner {
        Manner::Echo | Manner::Tls => {
            let mut body = format!("{token}\n{}", request.head).into_bytes();
            body.extend(&request.body);
            plain(call, request, "200 OK", "", &body, kept).await?;
        }
        Manner::Redirect => {
            let status = if request.word(1) == "/307" { "307 Temporary Redirect" } else { "302 Found" };
            let to = format!("Location: http://s{}.evil.test/\r\n", call.site.scenario.unwrap_or_default());
            plain(call, request, status, &to, token.as_bytes(), kept).await?;
        }
        Manner::Events => {
            events(call, &token).await?;
            return Ok(kept);
        }
        Manner::WebSocket if request.header("upgrade").is_some_and(|v| v.eq_ignore_ascii_case("websocket")) => {
            web_socket::serve(call, request, buffer).await?;
            return Ok(false);
        }
        Manner::Switch => {
            let head =
                format!("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: lab\r\n\r\n{token}");
            call.stream.write_all(head.as_bytes()).await?;
            while call.read(buffer).await? {}
            return Ok(false);
        }
        Manner::Interim => {
            let interim = "HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n".repeat(64);
            for _ in 0..256 {
                call.stream.write_all(interim.as_bytes()).await?;
            }
            return Ok(false);
        }
        Manner::Api => return api::answer(call, request, kept).await,
        Manner::Depot => {
            let (status, more, body) = depot::answer(call.site.scenario.unwrap_or_default(), request).await?;
            plain(call, request, &status, &more, &body, kept).await?;
        }
        _ => plain(call, request, "200 OK", "", token.as_bytes(), kept).await?,
    }
    Ok(kept)
}

/// Answers with a body; `more` = header lines.
pub async fn plain<S: AsyncRead + AsyncWrite + Unpin>(
    call: &mut Call<S>,
    request: &Request,
    status: &str,
    more: &str,
    body: &[u8],
    kept: bool,
) -> io::Result<()> {
    let connection = if kept { "" } else { "Connection: close\r\n" };
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{more}{connection}\r\n", body.len());
    let mut bytes = head.into_bytes();
    if request.word(0) != "HEAD" {
        bytes.extend(body);
    }
    call.stream.write_all(&bytes).await
}

async fn events<S: AsyncRead + AsyncWrite + Unpin>(call: &mut Call<S>, token: &str) -> io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    call.stream.write_all(head.as_bytes()).await?;
    for n in 1..=3 {
        let event = format!("data: {n} {token}\n\n");
        call.stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).await?;
        tokio::time::sleep(PAUSE).await;
    }
    call.stream.write_all(b"0\r\n\r\n").await
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
