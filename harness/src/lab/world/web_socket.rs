//! A WebSocket that sends back what it gets (RFC 6455): frames of up to 125 bytes, each one message.

use std::io;

use ring::digest;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::http::Request;
use super::origin::Call;

/// RFC 6455, section 1.3.
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// The opcode that ends it.
const CLOSE: u8 = 8;

/// Changes to the protocol, says its token, and echoes until the other side ends it.
pub async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    call: &mut Call<S>,
    request: &Request,
    buffer: &mut Vec<u8>,
) -> io::Result<()> {
    let accept = accept(request.header("sec-websocket-key").unwrap_or_default());
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    call.stream.write_all(head.as_bytes()).await?;
    let token = call.token.clone();
    call.stream.write_all(&frame(0x81, token.as_bytes())).await?;
    loop {
        while let Some((first, payload, length)) = unmasked(buffer) {
            buffer.drain(..length);
            call.stream.write_all(&frame(first, &payload)).await?;
            if first & 0x0f == CLOSE {
                return Ok(());
            }
        }
        if !call.read(buffer).await? {
            return Ok(());
        }
    }
}

fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len().min(125)).unwrap_or_default();
    [&[first, length], &payload[..length.into()]].concat()
}

/// The first byte of the first frame, its payload, and its length with all; none where it is not whole yet.
fn unmasked(buffer: &[u8]) -> Option<(u8, Vec<u8>, usize)> {
    let (first, length) = (*buffer.first()?, usize::from(*buffer.get(1)? & 0x7f));
    let mask = buffer.get(2..6)?;
    let payload = buffer.get(6..6 + length)?;
    Some((first, payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect(), 6 + length))
}

fn accept(key: &str) -> String {
    base64(digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, format!("{key}{GUID}").as_bytes()).as_ref())
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let word = three.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        let letter = |place: usize| char::from(LETTERS[(word >> (18 - 6 * place)) as usize % 64]);
        text.extend((0..4).map(|place| if place <= three.len() { letter(place) } else { '=' }));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_to_a_key_is_the_rfcs() {
        assert_eq!(accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="); // RFC 6455, section 1.3
    }

    #[test]
    fn a_frame_is_unmasked() {
        let hello = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]; // RFC 6455, section 5.7
        assert_eq!(unmasked(&hello), Some((0x81, b"Hello".to_vec(), 11)));
        assert_eq!(unmasked(&hello[..10]), None);
        assert_eq!(frame(0x81, b"Hello"), b"\x81\x05Hello");
    }
}
