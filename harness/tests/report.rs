//! The report: what its page is made of, that nothing of others comes through unescaped, and that a broken record or driver
//! spoils nothing. How it looks and works in a browser is tested by `make page`.

#![allow(clippy::unwrap_used)] // helpers of tests, which clippy does not see as tests

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kusaw_conformance::record::{Record, ScenarioLine};
use kusaw_conformance::report::Report;
use kusaw_conformance::verdict::Verdict;
use regex::Regex;

#[path = "report/fixture.rs"]
mod fixture;

/// A driver whose program is missing is not one that keeps none of its promises.
#[test]
fn a_blocked_driver_is_not_run_rather_than_0_of_its_claims() {
    let mut record = fixture::peer();
    for line in &mut record.scenarios {
        *line = ScenarioLine { findings: Vec::new(), controls: Vec::new(), launches: Vec::new(), ..line.clone() };
        (line.verdict, line.why) = (Verdict::Blocked, "peer is not on PATH".into());
    }
    let Report { html, markdown } =
        Report::of(&[fixture::source("peer", record)], &fixture::catalogue(), "now").unwrap();
    assert!(
        markdown.contains("| peer 1.2.3 | not run |") && markdown.contains("Not run: peer is not on PATH."),
        "{markdown}"
    );
    assert!(html.contains("Not run: peer is not on PATH.") && !html.contains("0</strong> of"));
}

fn captures(pattern: &str, text: &str) -> Vec<String> {
    Regex::new(pattern).unwrap().captures_iter(text).map(|c| c[1].to_owned()).collect()
}

/// What a browser makes of a fragment: its escapes undone.
fn unescaped(fragment: &str) -> String {
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&#x2f;", "/"), ("&amp;", "&")];
    let text = entities.iter().fold(fragment.to_owned(), |text, (entity, c)| text.replace(entity, c));
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = (*first == b'%').then(|| std::str::from_utf8(&after[..2]).unwrap());
        bytes.push(code.map_or(*first, |code| u8::from_str_radix(code, 16).unwrap()));
        rest = &after[if code.is_some() { 2 } else { 0 }..];
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn ids_are_unique_and_every_link_leads_somewhere() {
    let page = fixture::all().html;
    let ids = captures(r#"\sid="([^"]*)""#, &page);
    let unique: BTreeSet<String> = ids.iter().map(|id| unescaped(&id.replace('%', "%25"))).collect();
    assert_eq!(ids.len(), unique.len(), "an id stands there twice");
    assert!(unique.iter().all(|id| !id.contains(char::is_whitespace)), "a blank in an id");
    for wanted in ["FS-07", "FS-07/peer", "FS-07/peer/cannot-read-~-.ssh-id", "FS", "about/own"] {
        assert!(unique.contains(wanted), "there is no #{wanted}");
    }
    let links = captures(r##"href="#([^"]*)""##, &page);
    assert!(links.len() > 50);
    for link in links {
        assert!(unique.contains(&unescaped(&link)), "#{link} leads nowhere");
    }
}

#[test]
fn headings_are_in_order_and_tables_say_what_they_are() {
    let page = fixture::all().html;
    let levels: Vec<u32> = captures(r"<h([1-6])[ >]", &page).iter().map(|level| level.parse().unwrap()).collect();
    assert_eq!(levels.first(), Some(&1));
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "a level is left out: {levels:?}");
    assert_eq!(page.matches("<table").count(), page.matches("<caption").count());
    assert!(captures("<th( [^>]*)>", &page).iter().all(|attributes| attributes.contains("scope=")));
    assert!(!page.contains("<th>"));
    // Where a table is laid out as something else, its parts are still what they are: each that is heard has its role.
    for (part, roles) in [
        ("table", "table"),
        ("thead", "rowgroup"),
        ("tbody", "rowgroup"),
        ("tr", "row"),
        ("th", "columnheader rowheader"),
        ("td", "cell"),
    ] {
        for attributes in captures(&format!("<{part}( [^>]*|)>"), &page) {
            let role = captures(r#"role="(\w+)""#, &attributes).concat();
            let is_heard = !attributes.contains("aria-hidden");
            assert!(!is_heard || roles.split(' ').any(|known| known == role), "<{part}{attributes}>");
        }
    }
    for landmark in ["<html lang=", "<header>", "<main>", "<nav aria-label=", "<footer>", "class=\"skip\""] {
        assert!(page.contains(landmark), "{landmark} is missing");
    }
}

#[test]
fn a_chapter_says_which_kinds_it_has() {
    let page = fixture::all().html;
    for (chapter, kinds) in [("FS", ["limit", "must"]), ("CLI", ["cli", "extra"])] {
        let classes = captures(&format!(r#"<section class="([^"]*)" aria-labelledby="{chapter}">"#), &page).concat();
        let told: Vec<&str> = classes.split(' ').filter_map(|class| class.strip_prefix("has-")).collect();
        assert_eq!(told, kinds, "{chapter}");
    }
    for kind in ["must", "cli", "limit", "interpretation", "contract", "extra"] {
        assert!(page.contains(&format!("body:has(#f-k-{kind}:checked) .has-{kind} {{ display: block; }}")), "{kind}");
    }
}

#[test]
fn nothing_is_loaded_and_nothing_is_executed() {
    let page = fixture::all().html;
    for outside in ["src=", "<script", "<img", "<iframe", "<object", "@import", "url(", " onerror", " onclick"] {
        let places = page.match_indices(outside).map(|(at, _)| page[at..].chars().take(60).collect::<String>());
        // In text, a quotation mark that follows is escaped; in a tag it is not.
        let real: Vec<String> = places.filter(|place| !place.contains("&") || outside.starts_with('<')).collect();
        assert!(real.is_empty(), "{real:?}");
    }
    assert_eq!(captures("<link ([^>]*)>", &page), [r#"rel="icon" href="data:,""#]);
    assert!(page.contains("default-src 'none'") && page.contains("form-action 'none'"));
}

#[test]
fn text_of_others_stays_text() {
    let Report { html, markdown } = fixture::all();
    for raw in ["<script>document", "<img src=x", "\u{202e}", "\u{200b}", "\u{1b}"] {
        assert!(!html.contains(raw), "{raw:?} is in the page");
        assert!(!markdown.contains(raw), "{raw:?} is in the Markdown");
    }
    assert!(html.contains("&lt;script&gt;document.title"), "it is shown, escaped");
    assert!(html.contains("\\u{202e}gpj.exe"), "a turn of the reading order is made visible");
    assert!(html.contains("{{ page }}"), "what looks like a template is none");
    // A cell of the Markdown cannot end its row: every row has as many as its head.
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let tables: Vec<&str> = markdown.lines().filter(|line| line.starts_with('|')).collect();
    let matrix = tables.iter().filter(|line| line.contains("**"));
    assert!(matrix.clone().count() == 5 && matrix.clone().all(|line| cells(line) == 6), "{tables:#?}");
}

#[test]
fn the_first_screen_has_what_was_not_proven() {
    let page = fixture::all().html;
    let (head, _) = page.split_once("id=\"matrix\"").unwrap();
    for word in [
        "fails",
        "inconclusive",
        "blocked",
        "moot",
        "legacy_tiocsti",
        "landlock_abi",
        "uid in the lab",
        "sha256 of probe",
    ] {
        assert!(head.contains(word), "{word} is not in the head");
    }
    let score = |name: &str| {
        let row =
            head.split_once(&format!("#about/{name}\"")).unwrap().1.split_once("</td>\n<td class=\"barred").unwrap().0;
        captures(r"<strong>(\d+</strong> of \d+ \w+)", row).concat().replace("</strong>", "")
    };
    assert_eq!((score("own"), score("peer")), ("3 of 3 musts".to_owned(), "0 of 3 it".to_owned()));
}

#[test]
fn what_others_print_without_end_is_cut() {
    let mut record = fixture::peer();
    let line = ScenarioLine { launches: Vec::new(), ..record.scenarios[2].clone() };
    for scenario in &mut record.scenarios {
        scenario.why = "w".repeat(10_000_000);
        scenario.launches[0].stderr = "e".repeat(10_000_000);
        scenario.launches[0].argv = vec!["a".repeat(10_000_000)];
    }
    record.scenarios.extend((0..40_000).map(|n| {
        let mut line = line.clone();
        (line.why, line.case) = (format!("{n}"), format!("case-{n}"));
        line
    }));
    let page = Report::of(&[fixture::source("peer", record)], &fixture::catalogue(), "now").unwrap().html;
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    let told = captures(r"and (\d+) more like these", &page);
    assert!(told.iter().any(|n| n.parse::<usize>().unwrap() > 39_000), "what is left out is counted: {told:?}");
}

#[test]
fn what_is_beyond_or_short_of_the_claims_is_said() {
    let Report { html, markdown } = fixture::all();
    for words in [
        "Holds beyond its claims: FS-11.",
        "Not claimed, and does not hold: CLI-01.",
        "- ✗ FS-07 fails: the secret arrived",
        "- ▽ FS-06 expected-failure: listing is documented",
        "In its best plain configuration.",
        "<https://example.org/peer>",
    ] {
        assert!(markdown.contains(words), "{words} is not in\n{markdown}");
    }
    assert!(html.contains("You can deny broad regions (README)"), "its own words");
    assert!(html.contains("The real home,~&#x2f;.ssh"), "the documentation's words");
    assert!(!markdown.contains("build"), "the kernel's build names a machine");
}

/// A record as the text of its file.
fn text(record: &Record) -> String {
    let line = |value: serde_json::Result<String>| format!("{}\n", value.unwrap());
    let scenarios = record.scenarios.iter().map(|s| line(serde_json::to_string(s)));
    let (run, end) = (line(serde_json::to_string(&record.run)), line(serde_json::to_string(&record.end)));
    std::iter::once(run).chain(scenarios).chain([end]).collect()
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn conformance(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_conformance")).args(arguments).output().unwrap()
}

#[test]
fn a_broken_record_spoils_nothing_but_itself() {
    let folder = folder("broken");
    let whole = text(&fixture::peer());
    let records = [
        ("whole", whole.clone()),
        ("cut", whole[..whole.len() / 2].to_owned()),
        ("unended", whole[..whole.rfind("{\"end\"").unwrap()].to_owned()),
        ("later", whole.replacen("\"record\":1", "\"record\":9", 1)),
        ("empty", String::new()),
    ];
    let mut arguments = vec!["report".to_owned(), "--out".into(), folder.display().to_string()];
    for (name, text) in &records {
        std::fs::create_dir(folder.join(name)).unwrap();
        std::fs::write(folder.join(name).join("run.ndjson"), text).unwrap();
        arguments.push(folder.join(name).display().to_string());
    }
    arguments.push(folder.join("absent").display().to_string());
    let output = conformance(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(3));
    let page = std::fs::read_to_string(folder.join("index.html")).unwrap();
    assert!(page.contains("id=\"FS-07&#x2f;peer\"") || page.contains("id=\"FS-07/peer\""));
    for (name, reason) in [
        ("cut", "cut off"),
        ("unended", "no last line"),
        ("later", "version 9"),
        ("empty", "empty"),
        ("absent", "No such file"),
    ] {
        let notice = page.split_once(&format!("<strong>{name}: no record.</strong>")).unwrap().1;
        let notice = notice.split_once("</p>").unwrap().0;
        assert!(notice.contains(reason), "{name}: {notice}");
        assert!(!notice.contains("report&#x2f;broken"), "where a record lies on this machine is nobody's business");
    }
}

/// A driver that does not exist, one that is killed at the bound, and one that runs; nobody else's, so too few peers.
#[test]
fn a_driver_that_breaks_or_hangs_does_not_stop_the_others() {
    let folder = folder("matrix");
    let out = folder.display().to_string();
    std::fs::create_dir(folder.join("none")).unwrap();
    std::fs::write(folder.join("none/mine"), "not of a run").unwrap();
    let output =
        conformance(&["matrix", "--driver", "nobody", "--driver", "none", "--out", &out, "--", "--id", "FS-07"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("no record: its run left none") && said.contains("known drivers"), "{said}");
    assert!(said.contains("0 of 1 musts hold") && said.contains("0 peers were run"), "{said}");
    let markdown = std::fs::read_to_string(folder.join("matrix.md")).unwrap();
    assert!(markdown.contains("**nobody: no record.**") && markdown.contains("| none |"), "{markdown}");
    assert!(folder.join("index.html").is_file() && folder.join("none/run.ndjson").is_file());

    let output = conformance(&["matrix", "--driver", "none", "--bound", "0", "--peers", "0", "--out", &out]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("did not end within 0 s and was killed"),
        "a record from before does not stand for it: {said}"
    );
    assert_eq!(output.status.code(), Some(3));
    assert!(folder.join("none/mine").is_file(), "what is not of a run is not taken away");
    for name in ["", "..", "/"] {
        let output = conformance(&["matrix", "--driver", name, "--out", &out]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains("names no driver"), "{name:?}: {said}");
    }
    assert!(folder.join("index.html").is_file());
}

/// One whose manifest declares what does not fail, and one that takes longer than it may.
#[test]
fn what_breaks_a_run_breaks_the_matrix() {
    let folder = folder("broken-run");
    let manifest = folder.join("declared.yaml");
    let text = "name: declared\nlike: none\nclaims: [FS-01]\nexpect: [{id: FS-01, why: never seen}]\n";
    std::fs::write(&manifest, text).unwrap();
    let (manifest, out) = (manifest.display().to_string(), folder.display().to_string());
    let matrix = |drivers: &[&str], more: &[&str]| {
        let drivers = drivers.iter().flat_map(|driver| ["--driver", *driver]);
        let case = ["--", "--id", "FS-01/can-write-a-file"];
        let arguments = ["matrix", "--peers", "0", "--out", &out].into_iter().chain(drivers);
        let output = conformance(&arguments.chain(more.iter().copied()).chain(case).collect::<Vec<_>>());
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = matrix(&[&manifest, "none"], &[]);
    assert!(code == Some(1) && said.contains(&format!("ended with exit code 1: {manifest}; ")), "{code:?}: {said}");
    assert!(folder.join("matrix.md").is_file(), "the report is written first");
    let (code, said) = matrix(&["none"], &["--at-most", "0"]);
    assert!(code == Some(3) && said.contains("none: its scenarios took ") && said.contains("0 are the most"), "{said}");
    assert_eq!(matrix(&["none"], &[]).0, Some(0));
}
