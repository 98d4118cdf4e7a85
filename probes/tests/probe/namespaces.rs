//! The namespaces of a process, and entering others.

use std::fs;

use serde_json::json;

use crate::one;
use crate::victim::{Victim, nobody};

#[test]
fn the_numbers_are_those_of_the_links() {
    let victim = Victim::new("VICTIM", "x", None);
    for words in ["namespaces".to_owned(), format!("namespaces {}", victim.pid())] {
        let seen = one(&words);
        assert_eq!(seen["ok"], true, "{seen}");
        let numbers = seen["detail"].as_object().unwrap();
        assert_eq!(numbers.len(), 7);
        for (kind, number) in numbers {
            let link = fs::read_link(format!("/proc/self/ns/{kind}")).unwrap();
            assert_eq!(link.to_str().unwrap(), format!("{kind}:[{number}]"));
        }
    }
    let seen = one(&format!("namespaces {}", nobody()));
    assert_eq!((&seen["errno"], &seen["detail"]["pid"]), (&json!("ENOENT"), &json!("ENOENT")));
}
