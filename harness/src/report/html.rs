//! The page: one file, without a script, that loads nothing.
//!
//! The bounds of the evidence are as wide as the page's size allows: it is rendered with narrower ones until it is small enough.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};

use super::Source;
use super::evidence::Bounds;
use super::model::Page;
use crate::catalogue::Catalogue;

/// What a browser opens at once, and a mail or an artifact takes.
const LARGEST: usize = 8_000_000;

const BOUNDS: [Bounds; 5] = [
    Bounds { bad: 20, good: 3, listed: 60, text: 600 },
    Bounds { bad: 10, good: 2, listed: 30, text: 600 },
    Bounds { bad: 6, good: 1, listed: 15, text: 400 },
    Bounds { bad: 3, good: 1, listed: 5, text: 300 },
    Bounds { bad: 1, good: 0, listed: 2, text: 200 },
];

/// Renders the page.
///
/// # Errors
/// When the template is broken.
pub fn page(sources: &[Source], catalogue: &Catalogue, now: &str) -> Result<String, String> {
    let mut page = String::new();
    for bounds in &BOUNDS {
        page = render(&Page::of(sources, catalogue, now, bounds))?;
        if page.len() <= LARGEST {
            break;
        }
    }
    Ok(page)
}

fn render(page: &Page) -> Result<String, String> {
    let mut engine = Environment::new();
    // Everything is text of others until the template says otherwise.
    engine.set_auto_escape_callback(|_| AutoEscape::Html);
    engine.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
    engine.add_filter("fragment", |anchor: &str| fragment(anchor));
    let mut render = || {
        engine.add_template("page.html", include_str!("page.html.j2"))?;
        engine
            .get_template("page.html")?
            .render(context! { page => Value::from(Serde(page)), css => include_str!("page.css") })
    };
    let page: String = render().map_err(|e: minijinja::Error| format!("the page's template: {e:#}"))?;
    // Lines that held nothing but a block of the template; no text of others has a line of its own.
    Ok(page
        .lines()
        .filter(|line| !line.trim().is_empty())
        .fold(String::with_capacity(page.len()), |out, line| out + line + "\n"))
}

/// An id as the fragment of an address (RFC 3986, 3.5): what may not stand there is escaped.
fn fragment(anchor: &str) -> String {
    let mut out = String::new();
    for byte in anchor.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'*' | b'+' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
