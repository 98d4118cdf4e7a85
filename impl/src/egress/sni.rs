//! The server name of a TLS ClientHello, read from the bytes a client has sent so far. Pure, bounded, and strict: bytes that
//! begin like TLS and are then no plain ClientHello are said to be unreadable, so that nobody hides a name by oddness.
#![forbid(unsafe_code)]

/// Records a ClientHello may be spread over.
const RECORDS: usize = 4;

/// Bytes that are looked at, at most.
pub const MOST: usize = 16 << 10;

/// What the first bytes of a tunnel are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hello<'a> {
    /// No TLS: none of our business.
    NotTls,
    /// The beginning of a ClientHello.
    NeedMore,
    /// A ClientHello for this name, as the client wrote it.
    Name(&'a [u8]),
    /// A ClientHello without a name.
    NoName,
    /// The beginning of TLS, but not of a ClientHello that can be read.
    Unreadable,
}

/// Reads `bytes`, the client's first. `scratch` holds what was spread over records and is the reader's own.
pub fn read<'a>(bytes: &'a [u8], scratch: &'a mut Vec<u8>) -> Hello<'a> {
    // Record: type 22 (handshake), major version 3 (RFC 8446 5.1). A server may pass over an alert or a change of ciphers
    // before the ClientHello, and over an odd version: what could begin so is not taken for another protocol.
    match bytes {
        [] | [20 | 21 | 23] => return Hello::NeedMore,
        [20 | 21 | 23, 3, ..] => return Hello::Unreadable,
        [22, ..] => {}
        _ => return Hello::NotTls,
    }
    scratch.clear();
    let mut rest = bytes;
    for _ in 0..RECORDS {
        let Some((header, after)) = rest.split_at_checked(5) else { break };
        let length = usize::from(u16::from_be_bytes([header[3], header[4]]));
        if header[0] != 22 || header[1] != 3 || length == 0 || length > MOST {
            return Hello::Unreadable;
        }
        let here = &after[..length.min(after.len())];
        scratch.extend_from_slice(here);
        if let Some(hello) = whole(scratch) {
            return match hello {
                Ok(range) => name(&scratch[range]).unwrap_or(Hello::Unreadable),
                Err(Odd) => Hello::Unreadable,
            };
        }
        if here.len() < length {
            return if bytes.len() >= MOST { Hello::Unreadable } else { Hello::NeedMore };
        }
        rest = &after[length..];
    }
    let spent = records(bytes) >= RECORDS;
    if spent || bytes.len() >= MOST { Hello::Unreadable } else { Hello::NeedMore }
}

/// Not a ClientHello.
struct Odd;

/// Where the ClientHello's body lies in the handshake bytes, once all of it is there.
fn whole(handshake: &[u8]) -> Option<Result<std::ops::Range<usize>, Odd>> {
    if *handshake.first()? != 1 {
        return Some(Err(Odd));
    }
    let length = handshake.get(1..4)?.iter().fold(0, |n, b| n << 8 | usize::from(*b));
    if length > MOST {
        return Some(Err(Odd));
    }
    (handshake.len() >= 4 + length).then_some(Ok(4..4 + length))
}

/// Whole records in `bytes`.
fn records(mut bytes: &[u8]) -> usize {
    let mut count = 0;
    while let Some((header, after)) = bytes.split_at_checked(5) {
        let length = usize::from(u16::from_be_bytes([header[3], header[4]]));
        let Some(rest) = after.get(length..) else { break };
        (count, bytes) = (count + 1, rest);
    }
    count
}

/// The name in a ClientHello's body; `None` = it does not add up.
fn name(body: &[u8]) -> Option<Hello<'_>> {
    // Version, random, session id, cipher suites, compression methods (RFC 8446 4.1.2).
    let mut body = Bytes(body.get(34..)?);
    body.vector(1)?;
    body.vector(2)?;
    body.vector(1)?;
    if body.0.is_empty() {
        return Some(Hello::NoName);
    }
    let mut extensions = Bytes(body.vector(2)?);
    let mut found = None;
    while !extensions.0.is_empty() {
        let kind = extensions.number(2)?;
        let data = extensions.vector(2)?;
        // server_name (RFC 6066 3): once, with one host name.
        if kind == 0 && found.replace(data).is_some() {
            return None;
        }
    }
    let Some(found) = found else { return Some(Hello::NoName) };
    let mut names = Bytes(Bytes(found).vector(2)?);
    let host_name = names.number(1)? == 0;
    let name = names.vector(2)?;
    (host_name && names.0.is_empty() && !name.is_empty()).then_some(Hello::Name(name))
}

/// Bytes not yet read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn number(&mut self, width: usize) -> Option<usize> {
        let (number, rest) = self.0.split_at_checked(width)?;
        self.0 = rest;
        Some(number.iter().fold(0, |n, b| n << 8 | usize::from(*b)))
    }

    fn vector(&mut self, width: usize) -> Option<&'a [u8]> {
        let length = self.number(width)?;
        let (vector, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(vector)
    }
}

#[cfg(test)]
#[path = "sni_tests.rs"]
mod tests;
