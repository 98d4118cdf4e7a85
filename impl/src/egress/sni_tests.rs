use super::*;
use proptest::prelude::*;

/// A ClientHello as one handshake message, with these server names.
fn message(names: &[&str]) -> Vec<u8> {
    let vector = |bytes: &[u8]| [&(bytes.len() as u16).to_be_bytes(), bytes].concat();
    let extension = |name: &&str| {
        let list = vector(&[&[0][..], &vector(name.as_bytes())].concat());
        [&[0, 0][..], &vector(&list)].concat()
    };
    let extensions: Vec<u8> = names.iter().flat_map(extension).collect();
    let body = [&[3, 3][..], &[9; 32], &[0], &[0, 2, 0x13, 1], &[1, 0], &vector(&extensions)].concat();
    [&[1, 0][..], &(body.len() as u16).to_be_bytes(), &body].concat()
}

fn records(message: &[u8], size: usize) -> Vec<u8> {
    let record = |part: &[u8]| [&[22, 3, 1][..], &(part.len() as u16).to_be_bytes(), part].concat();
    message.chunks(size).flat_map(record).collect()
}

fn told(bytes: &[u8]) -> String {
    match read(bytes, &mut Vec::new()) {
        Hello::Name(name) => String::from_utf8_lossy(name).into_owned(),
        other => format!("{other:?}"),
    }
}

#[test]
fn a_name_is_read_from_one_record_or_four_and_from_no_more() {
    let message = message(&["a.example"]);
    for parts in 1..=4 {
        let bytes = records(&message, message.len().div_ceil(parts));
        assert_eq!(told(&bytes), "a.example", "{parts} records");
        for cut in 0..bytes.len() {
            assert_eq!(told(&bytes[..cut]), "NeedMore", "{cut} of {} bytes", bytes.len());
        }
    }
    assert_eq!(told(&records(&message, message.len().div_ceil(5))), "Unreadable");
    assert_eq!(told(&records(&message, 1)), "Unreadable");
}

#[test]
fn what_does_not_add_up_is_unreadable() {
    assert_eq!(told(&records(&message(&[]), 999)), "NoName");
    assert_eq!(told(&records(&message(&["a", "b"]), 999)), "Unreadable", "two names");
    assert_eq!(told(&records(&message(&[""]), 999)), "Unreadable", "an empty one");
    assert_eq!(told(&[22, 3, 1, 0, 4, 2, 0, 0, 0]), "Unreadable", "a ServerHello");
    assert_eq!(told(&[22, 3, 1, 0, 0]), "Unreadable", "an empty record");
    assert_eq!(told(&[22, 3, 1, 0xff, 0xff]), "Unreadable", "a record that is too long");
    assert_eq!(told(&[22, 3, 1, 0, 9, 1, 0xff, 0, 0]), "Unreadable", "a message that is too long");
    let mut mixed = records(&message(&["a"]), 20);
    mixed[25] = 21;
    assert_eq!(told(&mixed), "Unreadable", "an alert in between");
}

#[test]
fn other_protocols_are_not_looked_into() {
    for bytes in [&b"SSH-2.0"[..], b"GET / HTTP/1.1", b"\x80\x2e\x01\x03", b"\x17\x01\x03", b"\x14ab"] {
        assert_eq!(told(bytes), "NotTls");
    }
    // A server may pass over these, and take the ClientHello behind them.
    for bytes in [&b"\x15\x03\x01\x00\x02\x01\x00"[..], b"\x14\x03\x03", b"\x17\x03\x03", b"\x16\x09\x01\x00\x05"] {
        assert_eq!(told(bytes), "Unreadable", "{bytes:?}");
    }
    assert_eq!((told(b""), told(&[22]), told(&[22, 3])), ("NeedMore".into(), "NeedMore".into(), "NeedMore".into()));
}

proptest! {
    #[test]
    fn nothing_panics_and_more_bytes_never_take_a_verdict_back(
        tail in proptest::collection::vec(any::<u8>(), 0..300),
        damage in any::<(u16, u8)>(),
    ) {
        let mut bytes = [records(&message(&["a.example"]), 40), tail].concat();
        let at = usize::from(damage.0) % bytes.len();
        bytes[at] = damage.1;
        let mut verdict = "NeedMore".to_string();
        for end in 0..=bytes.len() {
            let now = told(&bytes[..end]);
            prop_assert!(verdict == "NeedMore" || now == verdict, "{} became {}", verdict, now);
            verdict = now;
        }
    }
}
