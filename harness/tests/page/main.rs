//! The page in a browser, headless Chromium: `make page`. It needs Chromium, so `make test` does not run it.

#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests, which clippy does not see as tests

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

mod browser;
#[path = "../report/fixture.rs"]
mod fixture;

use browser::Browser;

/// A browser without JavaScript, as the page needs none, and the address of the page.
fn opened(name: &str, fragment: &str) -> (Browser, String) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page").join(name);
    fixture::all().write(&folder).unwrap();
    let mut browser = Browser::start(&folder.join("profile"));
    browser.ask("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    browser.resize(1280, 800);
    let url = format!("file://{}", PathBuf::from(&folder).join("index.html").display());
    browser.open(&format!("{url}{fragment}"));
    (browser, url)
}

/// Whether an element is rendered, and in the window.
fn is_seen(browser: &mut Browser, id: &str) -> bool {
    let script = format!(
        "(() => {{ const e = document.getElementById({id:?}); const b = e.getBoundingClientRect(); \
         return e.checkVisibility({{contentVisibilityAuto: true}}) && b.height > 0 && b.bottom > 0 && b.top < innerHeight; }})()"
    );
    browser.value(&script) == Value::Bool(true)
}

fn is_rendered(browser: &mut Browser, selector: &str) -> bool {
    browser.value(&format!("document.querySelector({selector:?}).checkVisibility()")) == Value::Bool(true)
}

#[test]
fn a_deep_link_opens_its_cell_and_no_other() {
    let (mut browser, url) = opened("deep", "#FS-07/peer");
    assert!(is_seen(&mut browser, "FS-07/peer"));
    assert!(is_seen(&mut browser, "at-FS-07"), "its row stays in sight");
    assert!(!is_seen(&mut browser, "FS-07/own") && !is_seen(&mut browser, "FS-06/peer"));
    browser.open(&format!("{url}#FS-06/peer/cannot-read-~"));
    assert!(is_seen(&mut browser, "FS-06/peer/cannot-read-~"), "a case in it");
    browser.open(&format!("{url}#FS-07"));
    assert!(is_seen(&mut browser, "FS-07"));
    assert!(is_rendered(&mut browser, "#FS-07 + .ev .each"), "the verdicts of all on it");
    browser.open(&url);
    assert!(!is_rendered(&mut browser, "#FS-07 + .ev"), "nothing is open without one");
}

#[test]
fn the_page_itself_is_never_wider_than_a_telephone() {
    for fragment in ["", "#FS-07", "#FS-07/peer/cannot-read-~-.ssh-id", "#about/peer"] {
        let (mut browser, url) = opened("narrow", fragment);
        browser.resize(360, 740);
        browser.open(&format!("{url}{fragment}"));
        let width = browser.value("document.documentElement.scrollWidth").as_u64().unwrap();
        assert!(width <= 360, "{fragment}: {width} px");
        assert!(is_rendered(&mut browser, "#FS-07 td a i"), "the name of the implementation stands in its cell");
    }
}

#[test]
fn a_filter_needs_no_script() {
    let (mut browser, _) = opened("filter", "");
    for (filter, gone, stays) in [
        ("f-v-inconclusive", "#FS-07", "#CLI-07"),
        ("f-v-all", "#nothing", "#FS-07"),
        ("f-k-must", "#FS-06", "#FS-11"),
        ("f-i-own", "#CLI-01 .i-own", "#CLI-01 .i-peer"),
    ] {
        browser.value(&format!("document.getElementById({filter:?}).click()"));
        assert!(is_rendered(&mut browser, stays), "{filter}: {stays}");
        assert!(gone == "#nothing" || !is_rendered(&mut browser, gone), "{filter}: {gone}");
    }
    browser.value("document.getElementById('f-k-cli').click()");
    assert!(is_rendered(&mut browser, "#CLI"), "it has extras");
    browser.value("document.getElementById('f-k-extra').click()");
    assert!(!is_rendered(&mut browser, "#CLI") && is_rendered(&mut browser, "#FS"), "a heading over nothing");
    browser.value("document.querySelector('button[type=reset]').click()");
    assert!(is_rendered(&mut browser, "#FS-06") && is_rendered(&mut browser, "#CLI-01 .i-own"));
}

#[test]
fn the_keyboard_comes_first_to_the_way_past_the_head_and_sees_where_it_is() {
    let (mut browser, _) = opened("keyboard", "");
    let mut stops = Vec::new();
    for _ in 0..12 {
        browser.press("Tab", 9);
        let stop = browser.value(
            "(() => { const e = document.activeElement; const s = getComputedStyle(e); \
             return [e.className || e.id || e.getAttribute('href') || e.tagName, s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2]; })()",
        );
        assert_eq!(stop[1], Value::Bool(true), "the focus on {} is not seen", stop[0]);
        stops.push(stop[0].as_str().unwrap().to_owned());
    }
    assert_eq!(stops[0], "skip");
    assert!(stops.contains(&"#about/own".to_owned()) && stops.contains(&"f-v-all".to_owned()), "{stops:?}");
}

/// WCAG 2.2, 1.4.3: 4.5:1 for every text that is rendered, in every cell, light and dark.
#[test]
fn text_has_contrast_in_light_and_dark() {
    const LOW: &str = "(() => {
        const parse = c => { const m = c.match(/[\\d.]+/g).map(Number); return [m[0], m[1], m[2], m[3] ?? 1]; };
        const lum = c => { const f = v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
            return 0.2126 * f(c[0]) + 0.7152 * f(c[1]) + 0.0722 * f(c[2]); };
        const back = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] === 1) return c; } return [255, 255, 255, 1]; };
        let low = [], looked = 0;
        for (const e of document.body.querySelectorAll('*')) {
            if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility()) continue;
            looked++;
            const [a, b] = [lum(parse(getComputedStyle(e).color)), lum(back(e))].sort((x, y) => y - x);
            const ratio = (a + 0.05) / (b + 0.05);
            if (ratio < 4.5) low.push(e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 30) + ' ' + ratio.toFixed(2));
        }
        return [looked, low];
    })()";
    let (mut browser, url) = opened("contrast", "#FS-07/peer");
    let mut pages = Vec::new();
    for scheme in ["light", "dark"] {
        browser.medium("screen", scheme);
        browser.open(&format!("{url}#FS-07/peer"));
        let seen = browser.value(LOW);
        assert!(seen[0].as_u64().unwrap() > 150, "{seen}");
        assert_eq!(seen[1], json!([]), "{scheme}");
        pages.push(browser.value("getComputedStyle(document.body).backgroundColor"));
    }
    assert_ne!(pages[0], pages[1], "dark is another page");
}

#[test]
fn print_unfolds_what_does_not_hold() {
    let (mut browser, url) = opened("print", "");
    browser.medium("print", "light");
    browser.open(&url);
    assert!(!is_rendered(&mut browser, ".filter") && !is_rendered(&mut browser, "nav"));
    for (id, unfolded) in [("FS-07/peer", true), ("FS-07/peer/cannot-read-~-.ssh-id", true), ("FS-07/own", false)] {
        let height = browser.value(&format!("document.getElementById({id:?}).getBoundingClientRect().height"));
        assert_eq!(height.as_f64().unwrap() > 10.0, unfolded, "{id}");
    }
    let pdf = browser.ask("Page.printToPDF", json!({"printBackground": true}));
    let pdf = pdf["data"].as_str().unwrap();
    assert!(pdf.starts_with("JVBERi0") && pdf.len() > 20_000, "{} bytes", pdf.len());
}

/// What a screen reader is told: role and name of each node.
fn tree(browser: &mut Browser) -> Vec<(String, String)> {
    let tree = browser.ask("Accessibility.getFullAXTree", json!({}));
    let nodes = tree["nodes"].as_array().unwrap().iter().filter(|n| n["ignored"] != json!(true));
    let text = |node: &Value, key: &str| node[key]["value"].as_str().unwrap_or_default().to_owned();
    nodes.map(|node| (text(node, "role"), text(node, "name"))).collect()
}

#[test]
fn a_screen_reader_gets_names_headers_and_landmarks() {
    let (mut browser, url) = opened("tree", "#FS-07/peer");
    for width in [1280, 360] {
        browser.resize(width, 800);
        browser.open(&format!("{url}#FS-07/peer"));
        let nodes = tree(&mut browser);
        let named =
            |role: &str| nodes.iter().filter(|(r, _)| r == role).map(|(_, name)| name.as_str()).collect::<Vec<_>>();
        for role in ["main", "banner", "contentinfo", "navigation", "rowheader", "cell", "heading"] {
            assert!(!named(role).is_empty(), "no {role} at {width} px");
        }
        for role in ["link", "checkbox", "radio", "button", "columnheader", "rowheader", "table", "heading"] {
            assert!(named(role).iter().all(|name| !name.trim().is_empty()), "a {role} without a name at {width} px");
        }
        assert!(named("table").iter().any(|name| name.starts_with("How each implementation did")), "{width} px");
        assert_eq!(named("table").len(), 3, "the overview and two chapters at {width} px");
        assert!(named("link").contains(&"peer, FS-07: fails: 0 of 1 hold"), "{:?}", named("link"));
        // On a narrow screen each cell says itself what it is of.
        assert_eq!(named("columnheader").contains(&"peer"), width == 1280);
        assert!(named("rowheader").contains(&"peer") && named("cell").iter().any(|name| name.contains("fails")));
    }
}

/// With JavaScript, where a hole would be used.
#[test]
fn a_hostile_record_neither_runs_nor_loads_anything() {
    let (mut browser, url) = opened("hostile", "");
    browser.ask("Emulation.setScriptExecutionDisabled", json!({"value": false}));
    browser.open(&url);
    let title = browser.value("document.title");
    assert!(title.as_str().unwrap().starts_with("Sandbox conformance"), "{title}");
    assert_eq!(browser.value("document.querySelectorAll('script, img, iframe, object, body style').length"), json!(0));
    assert!(browser.value("document.body.textContent.includes(\"document.title='owned'\")").as_bool().unwrap());
    let requests = browser.requests();
    assert_eq!(requests, [url], "the page alone is loaded");
}
