//! An agent's arguments where kusaw wraps it: its own sandbox is off, whatever the user's arguments say of it, and all else stays
//! as it is written and in its order. Pure, but for the file that an argument may name.

use serde_json::{Map, Value, json};

/// How an agent's own sandbox is turned off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnSandbox {
    /// This option takes settings as JSON, or the name of a file of them; the last one counts.
    Settings(&'static str),
    /// This option with this value; the last one counts.
    Option(&'static str, &'static str),
}

/// What is wrong with an argument.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Wrong(pub String);

/// The arguments with the own sandbox turned off. `read` is the text of a file that an option names.
pub fn wrapped<E: From<Wrong>>(
    own: OwnSandbox,
    args: &[String],
    read: impl FnOnce(&str) -> Result<String, E>,
) -> Result<Vec<String>, E> {
    let (OwnSandbox::Settings(name) | OwnSandbox::Option(name, _)) = own;
    let (values, others) = taken(name, args)?;
    let value = match own {
        OwnSandbox::Option(_, off) => off.into(),
        OwnSandbox::Settings(_) => {
            let last = values.last().map(|last| if is_inline(last) { Ok(last.to_string()) } else { read(last) });
            let settings = last.transpose()?.map_or_else(|| Ok(Map::new()), |text| object(name, &text))?;
            off(settings)
        }
    };
    Ok([name.to_string(), value].into_iter().chain(others.into_iter().map(str::to_string)).collect())
}

/// Whether arguments can be used at all, as far as it can be seen without looking at a file.
pub fn check(own: OwnSandbox, args: &[String]) -> Result<(), Wrong> {
    wrapped(own, args, |_| Ok::<_, Wrong>("{}".into())).map(drop)
}

/// The values of an option, and what is left of the arguments. Behind `--` there is no option.
fn taken<'a>(name: &str, args: &'a [String]) -> Result<(Vec<&'a str>, Vec<&'a str>), Wrong> {
    let (mut values, mut others) = (Vec::new(), Vec::new());
    let mut ahead = args.iter().map(String::as_str);
    while let Some(word) = ahead.next() {
        if word == "--" {
            others.push(word);
            others.extend(ahead.by_ref());
        } else if word == name {
            values.push(ahead.next().ok_or_else(|| Wrong(format!("{name} has no value")))?);
        } else if let Some(value) = word.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
            values.push(value);
        } else {
            others.push(word);
        }
    }
    Ok((values, others))
}

/// As Claude Code tells the two apart.
fn is_inline(value: &str) -> bool {
    value.trim().starts_with('{') && value.trim().ends_with('}')
}

fn object(name: &str, text: &str) -> Result<Map<String, Value>, Wrong> {
    match serde_json::from_str(text) {
        Ok(Value::Object(settings)) => Ok(settings),
        Ok(_) => Err(Wrong(format!("what {name} gives is no JSON object"))),
        Err(e) => Err(Wrong(format!("what {name} gives is no JSON: {e}"))),
    }
}

fn off(mut settings: Map<String, Value>) -> String {
    let sandbox = settings.entry("sandbox").or_insert(Value::Null);
    match sandbox {
        Value::Object(sandbox) => drop(sandbox.insert("enabled".into(), false.into())),
        other => *other = json!({"enabled": false}),
    }
    Value::Object(settings).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAUDE: OwnSandbox = OwnSandbox::Settings("--settings");
    const CURSOR: OwnSandbox = OwnSandbox::Option("--sandbox", "disabled");

    fn of(own: OwnSandbox, args: &[&str]) -> Result<Vec<String>, String> {
        let args: Vec<String> = args.iter().map(|arg| arg.to_string()).collect();
        let read = |path: &str| match path {
            "f.json" => Ok(r#"{"env":{"A":"b"},"sandbox":true}"#.to_string()),
            other => Err(Wrong(format!("{other} is not there"))),
        };
        wrapped(own, &args, read).map_err(|e| e.to_string())
    }

    #[test]
    fn there_is_one_setting_and_all_else_is_as_written() {
        let off = r#"{"sandbox":{"enabled":false}}"#;
        for (args, expected) in [
            (&[][..], vec![off]),
            (&["--model", "x", "", "--settingsx", "a b"], vec![off, "--model", "x", "", "--settingsx", "a b"]),
            (
                &["--settings", "{\"sandbox\":{\"enabled\":true,\"a\":[1]}}"],
                vec![r#"{"sandbox":{"a":[1],"enabled":false}}"#],
            ),
            (
                &["-x", "--settings={\"model\":\"m\"}", "-y"],
                vec![r#"{"model":"m","sandbox":{"enabled":false}}"#, "-x", "-y"],
            ),
            (
                &["--settings", "{\"a\":1}", "z", "--settings=f.json"],
                vec![r#"{"env":{"A":"b"},"sandbox":{"enabled":false}}"#, "z"],
            ),
            (&["--", "--settings", "x"], vec![off, "--", "--settings", "x"]),
        ] {
            assert_eq!(of(CLAUDE, args).unwrap(), [&["--settings"], expected.as_slice()].concat(), "{args:?}");
        }
        let cursor = of(CURSOR, &["--sandbox", "enabled", "--force", "--sandbox=enabled", "--sandboxes"]).unwrap();
        assert_eq!(cursor, ["--sandbox", "disabled", "--force", "--sandboxes"]);
    }

    #[test]
    fn what_cannot_be_used_is_told() {
        for (args, why) in [
            (&["--settings"][..], "no value"),
            (&["--settings", "{x}"], "no JSON"),
            (&["--settings", "{\"a\":1}", "--settings=nowhere"], "nowhere is not there"),
        ] {
            assert!(of(CLAUDE, args).unwrap_err().contains(why), "{args:?}");
        }
        assert!(of(CURSOR, &["--sandbox"]).unwrap_err().contains("no value"));
        assert!(check(CLAUDE, &["--settings".into(), "nowhere".into()]).is_ok());
    }
}
