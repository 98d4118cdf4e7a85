//! A commit's bytes, as far as signing changes them: gitformat-signature(5), "COMMIT SIGNATURES".

use std::collections::HashMap;

/// Headers that hold a signature, in repositories of either format.
const SIGNATURES: [&[u8]; 2] = [b"gpgsig ", b"gpgsig-sha256 "];

/// The header for a signature in a repository of this format.
pub fn header(format: &str) -> &'static str {
    if format == "sha256" { "gpgsig-sha256" } else { "gpgsig" }
}

/// Without any signature, and with those parents replaced that were made anew.
pub fn unsigned(commit: &[u8], made: &HashMap<String, String>) -> Vec<u8> {
    let (headers, message) = commit.split_at(end_of_headers(commit));
    let mut bytes = Vec::with_capacity(commit.len());
    let mut is_signature = false;
    for line in headers.split_inclusive(|byte| *byte == b'\n') {
        // What begins with a blank goes on with the header above.
        is_signature =
            if line.starts_with(b" ") { is_signature } else { SIGNATURES.iter().any(|name| line.starts_with(name)) };
        if is_signature {
            continue;
        }
        let parent = line.strip_prefix(b"parent ").and_then(|id| str::from_utf8(id.trim_ascii_end()).ok());
        // git takes an id in either case.
        match parent.and_then(|id| made.get(&id.to_ascii_lowercase())) {
            Some(id) => bytes.extend(format!("parent {id}\n").bytes()),
            None => bytes.extend(line),
        }
    }
    bytes.extend(message);
    bytes
}

/// With a signature of all of it, as its last header.
pub fn signed(payload: &[u8], header: &str, signature: &[u8]) -> Vec<u8> {
    let (headers, message) = payload.split_at(end_of_headers(payload));
    let mut bytes = [headers, header.as_bytes()].concat();
    for line in signature.split_inclusive(|byte| *byte == b'\n') {
        bytes.push(b' ');
        bytes.extend(line);
    }
    bytes.extend(message);
    bytes
}

/// Where the empty line begins.
fn end_of_headers(commit: &[u8]) -> usize {
    commit.windows(2).position(|two| two == b"\n\n").map_or(commit.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &[u8] = b"tree t\nparent One\nparent two\nauthor a\ncommitter c\ngpgsig -----BEGIN\n x\n -----END\nmergetag object o\n \
        parent one\nencoding latin1\ngpgsig-sha256 y\n z\n\nparent one\ngpgsig in words\n";

    #[test]
    fn signatures_go_and_parents_are_replaced_in_headers_alone() {
        let made = HashMap::from([("one".to_string(), "ONE".to_string())]);
        let bytes = unsigned(COMMIT, &made);
        let wanted = "tree t\nparent ONE\nparent two\nauthor a\ncommitter c\nmergetag object o\n parent one\nencoding latin1\n\n\
            parent one\ngpgsig in words\n";
        assert_eq!(String::from_utf8(bytes).unwrap(), wanted);
    }

    #[test]
    fn a_signature_is_the_last_header_and_taken_out_again() {
        let payload = unsigned(COMMIT, &HashMap::new());
        let bytes = signed(&payload, header("sha1"), b"-----BEGIN\nx\n-----END\n");
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(text.contains("encoding latin1\ngpgsig -----BEGIN\n x\n -----END\n\nparent one\n"), "{text}");
        assert_eq!(unsigned(&bytes, &HashMap::new()), payload);
        assert_eq!(header("sha256"), "gpgsig-sha256");
        assert_eq!(unsigned(b"tree t\n", &HashMap::new()), b"tree t\n");
    }
}
