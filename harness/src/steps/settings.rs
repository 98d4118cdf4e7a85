//! Settings files that are spoilt, by the words of the features.

use crate::plan::Spoilt;

/// What "the settings file is ..." means; `good` is the file as it should be.
///
/// # Errors
/// When the words mean nothing.
pub fn spoilt(what: &str, good: &str) -> Result<Spoilt, String> {
    let bytes = match what {
        "not there" => return Ok(Spoilt::Missing),
        "a folder" => return Ok(Spoilt::Folder),
        "not readable" => return Ok(Spoilt::Unreadable),
        "empty" => Vec::new(),
        "not UTF-8" => [good.as_bytes(), b"# \xff\xfe\n"].concat(),
        "10 MB long" => [good.as_bytes(), &b"# ten million bytes\n".repeat(500_000)].concat(),
        "cut off in the middle" => good.as_bytes()[..good.len() / 2].to_vec(),
        "100000 nested brackets" => known_key(good, &"[".repeat(100_000)).into_bytes(),
        "700 nested blocks" => {
            let blocks: String = (0..700).map(|depth| format!("{}k:\n", " ".repeat(depth + 4))).collect();
            known_key(good, &format!("\n{blocks}")).into_bytes()
        }
        "an alias bomb" => bomb(good).into_bytes(),
        "two documents" => format!("{good}---\n{good}").into_bytes(),
        "right but for a step that is there twice" => {
            format!("{good}  probe:\n    sandbox: off\n    run: [/bin/true]\n").into_bytes()
        }
        "right but for a tab as indentation" => good.replacen("  ", "\t", 1).into_bytes(),
        "right but for an unknown key at the top" => format!("{good}sandbx: {{mode: off}}\n").into_bytes(),
        "right but for an unknown key of the step" => {
            good.replacen("  probe:\n", "  probe:\n    sandbx: off\n", 1).into_bytes()
        }
        "right but for an unknown key of the repo" => {
            good.replacen("  demo:\n", "  demo:\n    sandbx: off\n", 1).into_bytes()
        }
        "right but for a step that both runs and prompts" => {
            good.replacen("  probe:\n", "  probe:\n    provider: claude-code\n    prompt: x\n", 1).into_bytes()
        }
        "right but for a repo that is there twice" => {
            good.replacen("[\"demo\"]", "[\"demo\", \"demo\"]", 1).into_bytes()
        }
        "right but for a variable that is no name" => {
            good.replacen("  probe:\n", "  probe:\n    env: {\"A=B\": x}\n", 1).into_bytes()
        }
        "right but for a merge key" => good.replacen("sandbox:\n", "sandbox:\n  <<: {network: open}\n", 1).into_bytes(),
        "right but for a repo nobody knows" => good.replacen("[\"demo\"]", "[\"demo\", nobody]", 1).into_bytes(),
        other => return Err(format!("nobody knows a settings file that is {other}")),
    };
    if bytes == good.as_bytes() {
        return Err(format!("\"{what}\" changed nothing in the settings file"));
    }
    Ok(Spoilt::Bytes(bytes))
}

/// The good file with a value below a key that exists, so that it is not refused as unknown before it is read.
fn known_key(good: &str, value: &str) -> String {
    good.replacen("sandbox:\n", &format!("sandbox:\n  allow_read: {value}\n"), 1)
}

/// Nine levels of ten aliases each: a billion values in a few hundred bytes.
fn bomb(good: &str) -> String {
    let mut levels = vec!["&a0 [v, v, v, v, v, v, v, v, v, v]".to_owned()];
    for level in 1..=9 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        levels.push(format!("&a{level} [{aliases}]"));
    }
    known_key(good, &format!("[{}]", levels.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_nothing_is_an_error() {
        assert!(spoilt("right but for a repo nobody knows", "x: 1\n").is_err());
        assert!(spoilt("an alias bomb", "x: 1\n").is_err());
        assert!(matches!(spoilt("empty", "x: 1\n"), Ok(Spoilt::Bytes(b)) if b.is_empty()));
    }
}
