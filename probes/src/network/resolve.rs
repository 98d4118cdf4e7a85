//! A name to an address: literals, /etc/hosts, then a DNS question for A over UDP to the first nameserver of
//! /etc/resolv.conf, asked once; a name that has no A is asked for AAAA. Own code because a static glibc loads its resolver at
//! run time, from wherever it happens to run, and because a probe should show one packet as one
//! packet: no search list, no retry, no cache.

use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Looks a name up; the error is a symbol in the manner of getaddrinfo(3): `EAI_NONAME` (there is
/// none), `EAI_NODATA` (it has no address), `EAI_AGAIN` (no usable answer), `ENORESOLVER` (nobody to ask).
pub fn resolve(name: &str, deadline: Instant) -> Result<IpAddr, &'static str> {
    let name = name.strip_suffix('.').unwrap_or(name);
    if let Ok(literal) = name.trim_start_matches('[').trim_end_matches(']').parse() {
        return Ok(literal);
    }
    let hosts = fs::read_to_string("/etc/hosts").unwrap_or_default();
    if let Some(address) = in_hosts(&hosts, name) {
        return Ok(address);
    }
    let conf = fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let server = nameserver(&conf).ok_or("ENORESOLVER")?;
    let deadline = deadline.min(Instant::now() + PATIENCE);
    let asked = |kind| ask(server, name, kind, deadline).map_err(|_| "EAI_AGAIN")?;
    asked(A).or_else(|symbol| if symbol == NO_DATA { asked(AAAA) } else { Err(symbol) })
}

/// The first line of a hosts file that has the name; IPv4 before IPv6.
fn in_hosts(hosts: &str, name: &str) -> Option<IpAddr> {
    let addresses = hosts.lines().filter_map(|line| {
        let mut words = line.split('#').next()?.split_whitespace();
        let address = words.next()?.parse::<IpAddr>().ok()?;
        words.any(|word| word.eq_ignore_ascii_case(name)).then_some(address)
    });
    addresses.min_by_key(IpAddr::is_ipv6)
}

fn nameserver(conf: &str) -> Option<SocketAddr> {
    conf.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next()? == "nameserver").then_some(())?;
        Some(SocketAddr::new(words.next()?.parse().ok()?, 53))
    })
}

type Answer = Result<IpAddr, &'static str>;

/// Types of records, RFC 1035 and RFC 3596.
const A: u16 = 1;
const AAAA: u16 = 28;

/// The name is there, and has no record of this type.
const NO_DATA: &str = "EAI_NODATA";

fn ask(server: SocketAddr, name: &str, kind: u16, deadline: Instant) -> io::Result<Answer> {
    let id = ident();
    let Some(question) = question(id, name, kind) else {
        return Ok(Err("EAI_NONAME"));
    };
    let any: SocketAddr = if server.is_ipv4() { ([0; 4], 0).into() } else { ([0_u16; 8], 0).into() };
    let socket = UdpSocket::bind(any)?;
    socket.connect(server)?;
    socket.send(&question)?;
    let mut packet = [0; 4096];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        socket.set_read_timeout(Some(left))?;
        let length = socket.recv(&mut packet)?;
        if let Some(answer) = answer(&packet[..length], id, kind) {
            return Ok(answer);
        }
    }
}

fn ident() -> u16 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.subsec_nanos() >> 4) as u16 ^ std::process::id() as u16
}

/// RFC 1035 section 4: header with "recursion desired", one question. None where no name can be so.
fn question(id: u16, name: &str, kind: u16) -> Option<Vec<u8>> {
    let mut packet = Vec::with_capacity(name.len() + 18);
    packet.extend(id.to_be_bytes());
    packet.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in name.split('.') {
        let length = u8::try_from(label.len()).ok().filter(|length| (1..=63).contains(length))?;
        packet.push(length);
        packet.extend(label.as_bytes());
    }
    let [high, low] = kind.to_be_bytes();
    (name.len() <= 253).then(|| packet.extend([0, high, low, 0, 1]))?;
    Some(packet)
}

/// The first record of this type in a packet; None where it is no answer to this question.
fn answer(packet: &[u8], id: u16, wanted: u16) -> Option<Answer> {
    let word = |at: usize| Some(u16::from_be_bytes(packet.get(at..at + 2)?.try_into().ok()?));
    if word(0)? != id || packet.get(2)? & 0x80 == 0 {
        return None;
    }
    match packet.get(3)? & 0x0f {
        0 => {}
        3 => return Some(Err("EAI_NONAME")),
        _ => return Some(Err("EAI_AGAIN")),
    }
    let (questions, answers) = (word(4)?, word(6)?);
    let mut at = 12;
    for _ in 0..questions {
        at = after_name(packet, at)? + 4;
    }
    for _ in 0..answers {
        at = after_name(packet, at)?;
        let (kind, class, length) = (word(at)?, word(at + 2)?, usize::from(word(at + 8)?));
        let data = packet.get(at + 10..at + 10 + length)?;
        let address = match wanted {
            A => <[u8; 4]>::try_from(data).map(IpAddr::from),
            _ => <[u8; 16]>::try_from(data).map(IpAddr::from),
        };
        if let (true, 1, Ok(address)) = (kind == wanted, class, address) {
            return Some(Ok(address));
        }
        at += 10 + length;
    }
    Some(Err(NO_DATA))
}

/// Where a name ends: at its root label, or behind a compression pointer.
fn after_name(packet: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *packet.get(at)? {
            0 => return Some(at + 1),
            length if length >= 0xc0 => return Some(at + 2),
            length => at += 1 + usize::from(length),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const CNAME_AND_A: &[u8] = b"\x12\x34\x81\x80\x00\x01\x00\x02\x00\x00\x00\x00\x01a\x01b\x00\x00\x01\x00\x01\
        \xc0\x0c\x00\x05\x00\x01\x00\x00\x00\x05\x00\x04\x01c\xc0\x0e\
        \xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x05\x00\x04\xcb\x00\x71\x07";

    #[test]
    fn an_a_record_behind_a_cname_is_found() {
        assert_eq!(answer(CNAME_AND_A, 0x1234, A), Some(Ok(IpAddr::from([203, 0, 113, 7]))));
        assert_eq!(answer(CNAME_AND_A, 0x1234, AAAA), Some(Err(NO_DATA)));
        assert_eq!(answer(CNAME_AND_A, 0x1235, A), None);
    }

    #[test]
    fn a_broken_packet_is_no_answer() {
        for length in 0..CNAME_AND_A.len() {
            assert_eq!(answer(&CNAME_AND_A[..length], 0x1234, A), None, "{length} bytes");
        }
    }

    #[test]
    fn the_answer_code_is_kept() {
        for (code, symbol) in [(2, "EAI_AGAIN"), (3, "EAI_NONAME"), (5, "EAI_AGAIN")] {
            let mut packet = CNAME_AND_A.to_vec();
            packet[3] = 0x80 | code;
            assert_eq!(answer(&packet, 0x1234, A), Some(Err(symbol)));
        }
    }

    #[test]
    fn a_question_has_labels() {
        let packet = question(7, "ab.c", A).unwrap();
        assert_eq!(&packet[12..], b"\x02ab\x01c\x00\x00\x01\x00\x01");
        assert!(question(7, "a..b", A).is_none() && question(7, "", A).is_none());
        assert!(question(7, &"x".repeat(64), A).is_none() && question(7, &"x.".repeat(130), A).is_none());
    }

    #[test]
    fn hosts_and_nameserver_are_read() {
        let hosts = "::1 localhost # me\n127.0.0.1\tlocalhost loop\n#10.0.0.1 off\n";
        assert_eq!(in_hosts(hosts, "LOCALHOST"), Some(Ipv4Addr::LOCALHOST.into()));
        assert_eq!(in_hosts(hosts, "me"), None);
        assert_eq!(in_hosts(hosts, "off"), None);
        let conf = "# nameserver 1.1.1.1\nsearch x\nnameserver 192.0.2.53\nnameserver 192.0.2.54\n";
        assert_eq!(nameserver(conf), Some(([192, 0, 2, 53], 53).into()));
        assert_eq!(nameserver("search x\n"), None);
    }
}
