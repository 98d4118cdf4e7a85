//! `hello [--proxy none|connect] [--sni NAME|none] [--timeout MS] HOST:PORT`: begins TLS 1.2 (RFC 5246), in which the server's
//! certificate comes in plain, and tells it, with the bytes that were sent, all in hex. It ends there: nothing is verified.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::action::Action;
use crate::json::Json;
use crate::network::bytes::hex;
use crate::network::http::{self, Connection};
use crate::network::proxy::{self, Proxy};
use crate::network::resolve::resolve;
use crate::seen::{self, Seen};
use crate::words::{Usage, Words};

const MAX: usize = 64 << 10;
const LULL: Duration = Duration::from_millis(500);

/// Handshake messages, RFC 5246, section 7.4.
const SERVER_HELLO: u8 = 2;
const CERTIFICATE: u8 = 11;

/// Says hello to a TLS server.
pub struct Hello {
    tunnel: bool,
    sni: Option<String>,
    timeout: Duration,
    target: String,
    place: (String, u16),
}

impl Hello {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let tunnel = match words.value("--proxy")?.as_ref().map(|word| word.to_string_lossy()).as_deref() {
            None | Some("none") => false,
            Some("connect") => true,
            Some(other) => return Err(Usage(format!("--proxy is none or connect, not {other:?}"))),
        };
        let sni = words.value("--sni")?.map(|name| name.to_string_lossy().into_owned());
        let timeout = Duration::from_millis(words.number("--timeout", 5_000_u64)?.max(1));
        let [target] = words.exactly(["HOST:PORT"])?;
        let target = target.to_string_lossy().into_owned();
        let place = target.rsplit_once(':').and_then(|(host, port)| Some((host.to_owned(), port.parse().ok()?)));
        let place = place.ok_or_else(|| Usage(format!("expected HOST:PORT, got {target:?}")))?;
        let sni = sni.or_else(|| Some(place.0.clone())).filter(|name| name != "none");
        Ok(Self { tunnel, sni, timeout, target, place })
    }

    fn talk(&self, sent: &mut Vec<u8>, status: &mut Option<u16>) -> Result<Vec<u8>, String> {
        let deadline = Instant::now() + self.timeout;
        let symbol = |error: io::Error| seen::errno(&error);
        let Proxy { host, port, authorization } = match (self.tunnel, self.place.clone()) {
            (true, _) => Proxy::of(proxy::OF_TUNNELS).ok_or("ENOPROXY")?,
            (false, (host, port)) => Proxy { host, port, authorization: String::new() },
        };
        let address = SocketAddr::new(resolve(&host, deadline)?, port);
        let stream = TcpStream::connect_timeout(&address, http::left(deadline).map_err(symbol)?).map_err(symbol)?;
        let mut connection = Connection::new(stream, deadline);
        if self.tunnel {
            let target = &self.target;
            connection
                .send(format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{authorization}\r\n").as_bytes())
                .map_err(symbol)?;
            *status = http::status(&connection.head().map_err(symbol)?);
            if !status.is_some_and(|status| (200..300).contains(&status)) {
                return Err(status.map_or("ENOREPLY".to_owned(), |status| format!("EPROXY{status}")));
            }
        }
        *sent = client_hello(self.sni.as_deref());
        connection.send(sent).map_err(symbol)?;
        Ok(connection.until_lull(LULL, MAX, &mut false))
    }
}

impl Action for Hello {
    fn target(&self) -> String {
        self.target.clone()
    }

    fn run(&self) -> Seen {
        let (mut sent, mut status) = (Vec::new(), None);
        let result = self.talk(&mut sent, &mut status);
        let answer = result.as_deref().unwrap_or_default();
        let messages = handshake(answer);
        let certificate = messages.iter().find(|(kind, _)| *kind == CERTIFICATE).and_then(|(_, body)| first(body));
        let alert = (answer.first() == Some(&21)).then(|| answer.get(6).copied()).flatten();
        let detail = Json::object([
            ("status", status.map_or(Json::Null, Json::count)),
            ("sent", Json::from(hex(&sent))),
            ("bytes", Json::count(answer.len())),
            ("server", Json::Bool(messages.iter().any(|(kind, _)| *kind == SERVER_HELLO))),
            ("alert", alert.map_or(Json::Null, Json::count)),
            ("certificate", certificate.map_or(Json::Null, |der| Json::from(hex(der)))),
        ]);
        let errno = match result {
            Err(errno) => Some(errno),
            Ok(answer) if answer.is_empty() => Some("ENOREPLY".to_owned()),
            Ok(_) => certificate.is_none().then(|| "ENOCERT".to_owned()),
        };
        Seen { errno, detail }
    }
}

/// A ClientHello of TLS 1.2 in one record: two suites with ECDSA, one with RSA, and the extensions that they need.
fn client_hello(sni: Option<&str>) -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend((0..32).map(|at: u8| at.wrapping_mul(7) ^ std::process::id() as u8)); // nobody relies on it being random
    body.push(0); // no session
    body.extend(sized(&[0xc0, 0x2b, 0xc0, 0x2c, 0xc0, 0x2f]));
    body.extend([1, 0]); // no compression
    let mut extensions = Vec::new();
    if let Some(name) = sni {
        let entry = [&[0][..], &sized(name.as_bytes())].concat(); // RFC 6066, section 3
        extensions.extend(extension(0, &sized(&entry)));
    }
    extensions.extend(extension(10, &sized(&[0, 0x1d, 0, 0x17]))); // supported_groups: x25519, secp256r1
    extensions.extend(extension(11, &[1, 0])); // ec_point_formats: uncompressed
    extensions.extend(extension(13, &sized(&[4, 3, 5, 3, 8, 4, 4, 1]))); // signature_algorithms
    extensions.extend(extension(23, &[])); // extended_master_secret
    body.extend(sized(&extensions));
    let mut message = vec![1, 0];
    message.extend(sized(&body));
    [&[22, 3, 1][..], &sized(&message)].concat()
}

fn extension(kind: u8, data: &[u8]) -> Vec<u8> {
    [&[0, kind][..], &sized(data)].concat()
}

/// Two bytes of length before the data.
fn sized(data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap_or(u16::MAX).to_be_bytes();
    [&length[..], data].concat()
}

/// The handshake messages in a stream of plain records, however they are cut: kind and body.
fn handshake(mut stream: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut bytes = Vec::new();
    while let [22, _, _, high, low, rest @ ..] = stream {
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let Some(fragment) = rest.get(..length) else { break };
        bytes.extend(fragment);
        stream = &rest[length..];
    }
    let mut messages = Vec::new();
    let mut rest = &bytes[..];
    while let [kind, a, b, c, after @ ..] = rest {
        let length = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
        let Some(body) = after.get(..length) else { break };
        messages.push((*kind, body.to_vec()));
        rest = &after[length..];
    }
    messages
}

/// The first certificate of a Certificate message: three bytes of length for all, three for each.
fn first(body: &[u8]) -> Option<&[u8]> {
    let length = body.get(3..6)?.iter().fold(0_usize, |length, byte| length << 8 | usize::from(*byte));
    body.get(6..6 + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hello_is_one_record_of_one_message() {
        let hello = client_hello(Some("a.example"));
        let messages = handshake(&hello);
        assert_eq!(messages.len(), 1);
        assert_eq!(hello.len(), 5 + 4 + messages[0].1.len());
        assert!(hello.windows(9).any(|w| w == b"a.example"));
        assert!(client_hello(None).len() + 18 == hello.len());
    }

    #[test]
    fn messages_may_be_cut_anywhere() {
        let certificate = [&[11, 0, 0, 9, 0, 0, 6, 0, 0, 3][..], b"DER"].concat();
        let (one, other) = certificate.split_at(5);
        let stream = [&[22, 3, 3, 0, 5][..], one, &[22, 3, 3, 0, 8], other].concat();
        let messages = handshake(&stream);
        assert_eq!((messages[0].0, first(&messages[0].1)), (11, Some(&b"DER"[..])));
        for length in 0..stream.len() {
            assert!(handshake(&stream[..length]).is_empty(), "{length} bytes");
        }
    }
}
