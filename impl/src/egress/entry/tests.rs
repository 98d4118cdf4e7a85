use super::*;
use crate::egress::policy::Policy;
use proptest::prelude::*;

proptest! {
    #[test]
    fn nothing_panics_and_what_is_read_is_read_again_as_the_same(text in "\\PC{0,40}|[a-zA-Z0-9.*:\\[\\]-]{0,40}") {
        if let Ok(entry) = Entry::parse(&text) {
            prop_assert_eq!(Entry::parse(&entry.to_string()), Ok(entry));
        }
        let _ = warnings(&text);
    }

    #[test]
    fn a_suffix_never_matches_its_apex(name in "[a-z0-9_-]{1,10}(\\.[a-z]{1,10}){0,3}") {
        if let Ok(below) = Entry::parse(&format!("*.{name}")) {
            let policy = Policy::new(&[below]);
            let allows = |before: &str| policy.route(&Host::parse(&format!("{before}{name}")).unwrap(), 443).is_ok();
            prop_assert_eq!((allows(""), allows("x"), allows("x.")), (false, false, true));
        }
    }
}

#[test]
fn what_opens_more_than_it_seems_is_told() {
    let told = |text: &str| warnings(text).iter().map(Warning::to_string).collect::<Vec<_>>().join("; ");
    assert_eq!(told("*.com"), "covers every name under com");
    assert!(told("localhost").contains("write localhost:PORT"));
    assert!(told("169.254.169.254:80").contains("metadata"));
    assert!(told("metadata.google.internal").contains("metadata"));
    assert!(told("bücher.example").contains("xn--bcher-kva.example"));
    for fine in ["*.example.com", "localhost:5432", "1.2.3.4", "example.com", "", "*"] {
        assert_eq!(told(fine), "", "{fine}");
    }
}

#[test]
fn entries_are_read_to_the_letter() {
    let name = |n: &str| Hosts::Exactly(Host::Name(n.into()));
    assert_eq!(Entry::parse("Example.COM."), Ok(Entry { hosts: name("example.com"), port: None }));
    assert_eq!(Entry::parse("localhost:5432"), Ok(Entry { hosts: name("localhost"), port: Some(5432) }));
    let below = Hosts::Below("example.com".into());
    assert_eq!(Entry::parse("*.example.com:8443"), Ok(Entry { hosts: below, port: Some(8443) }));
    assert_eq!(Entry::parse("BÜCHER.example").unwrap().to_string(), "xn--bcher-kva.example");
    assert_eq!(Entry::parse("*.straße.de.:443").unwrap().to_string(), "*.xn--strae-oqa.de:443", "not strasse.de");
    for fine in ["1.2.3.4", "[::1]:8080", "[::1]", "*.com", "10.0.0.5:5432", "*.a.example:8443"] {
        assert_eq!(Entry::parse(fine).unwrap().to_string(), fine);
    }
}

#[test]
fn an_entry_covers_what_it_allows() {
    let covers = |own: &str, other: &str| Entry::parse(own).unwrap().covers(&Entry::parse(other).unwrap());
    for (own, other) in [
        ("a.example", "A.example"),
        ("a.example", "a.example:443"),
        ("a.example:443", "a.example"),
        ("*.example", "a.example"),
        ("*.example", "*.a.example"),
        ("*.example", "*.example"),
    ] {
        assert!(covers(own, other), "{own} {other}");
    }
    for (own, other) in [
        ("a.example:443", "a.example:80"),
        ("*.a.example", "a.example"),
        ("*.a.example", "xa.example"),
        ("*.a.example", "*.example"),
        ("a.example", "*.a.example"),
    ] {
        assert!(!covers(own, other), "{own} {other}");
    }
}

#[test]
fn what_is_no_entry_is_an_error() {
    for (text, why) in [
        ("", BadEntry::Host),
        ("*", BadEntry::Star),
        ("*.", BadEntry::Star),
        ("a.*.b", BadEntry::Star),
        ("*foo.com", BadEntry::Star),
        ("https://x", BadEntry::Url),
        ("x/path", BadEntry::Url),
        ("u:p@x", BadEntry::Url),
        ("host:", BadEntry::Port),
        (":443", BadEntry::Host),
        ("host:0", BadEntry::Port),
        ("host:0443", BadEntry::Port),
        ("host:65536", BadEntry::Port),
        ("10.0.0.0/8", BadEntry::Range),
        ("::1", BadEntry::Brackets),
        ("[fe80::1%lo]", BadEntry::Host),
        ("127.1", BadEntry::Host),
        ("*.localhost", BadEntry::Star),
        ("*.2.3.4", BadEntry::Star),
        ("*.4", BadEntry::Star),
        ("*.1.2.3.4", BadEntry::Star),
        ("exa\u{ad}mple.com", BadEntry::Unicode),
        ("\u{24db}ocalhost", BadEntry::Unicode),
        ("１２７.0.0.1", BadEntry::Unicode),
        ("a\u{3002}b", BadEntry::Unicode),
        ("\u{ad}.example", BadEntry::Unicode),
        ("a..b", BadEntry::Host),
        (" a", BadEntry::Host),
        ("[::1]x", BadEntry::Host),
        ("*.*.a", BadEntry::Star),
    ] {
        assert_eq!(Entry::parse(text), Err(why), "{text:?}");
    }
}
