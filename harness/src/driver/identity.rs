//! Who a manifest is about: its name, and whose documentation it claims by.

/// Whether a name can be what it becomes: a folder, and a word of a command.
///
/// # Errors
/// When it is none.
pub fn check(name: &str) -> Result<(), String> {
    let is_plain = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '-' | '_');
    if name.is_empty() || name.starts_with('-') || !name.chars().all(is_plain) {
        return Err(format!("name: \"{name}\" is not made of lower-case letters, digits, - and _"));
    }
    Ok(())
}

/// Whether the claims are documented by others: where ours are is a file of the checkout.
pub fn is_of_others(homepage: &str) -> bool {
    behind_scheme(homepage).is_some()
}

/// Whether something can be looked up on the web.
pub fn is_address(url: &str) -> bool {
    behind_scheme(url).is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace))
}

fn behind_scheme(url: &str) -> Option<&str> {
    url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_plain_word() {
        assert!(["box", "my-box_2", "7zip"].iter().all(|name| check(name).is_ok()));
        for wrong in ["", "../../x", "-v", "My", "a b", "a;b", "."] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn others_document_on_the_web() {
        assert!(is_of_others("https://example.org") && is_of_others("http://example.org"));
        assert!(!is_of_others("docs/os-sandbox.md") && !is_of_others("") && !is_of_others("ftp://example.org"));
        assert!(is_address("http://example.org/1") && !is_address("https://") && !is_address("https://a b"));
    }
}
