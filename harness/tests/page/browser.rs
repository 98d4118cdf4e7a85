//! A headless Chromium, spoken to by the DevTools protocol over two pipes: messages of JSON, each ended by a zero byte.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// The browser, with one page open.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    session: String,
    last: u64,
    events: Vec<Value>,
}

impl Browser {
    /// Starts it, with an empty page.
    ///
    /// # Panics
    /// With `blocked` where there is no Chromium: a test that cannot be run has not passed.
    pub fn start(profile: &Path) -> Self {
        let program = found().expect("blocked: chromium is not on PATH; `ci/setup chromium` installs it");
        let _ = std::fs::remove_dir_all(profile);
        // The protocol is on descriptors 3 and 4. Its own sandbox cannot be made by root; the page is our own.
        let script = "exec \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>&1";
        let flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--remote-debugging-pipe",
        ];
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh"]).arg(program).args(flags);
        command.arg(format!("--user-data-dir={}", profile.display())).arg("about:blank");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut browser = Self { child, to, from, session: String::new(), last: 0, events: Vec::new() };
        let target = browser.ask("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        browser.session = browser.ask("Target.attachToTarget", attach)["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Network", "Accessibility"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Asks for something, and waits for the answer.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let message = self.read();
            if message["id"] == json!(self.last) {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    /// Opens an address and waits until it is there. A fragment alone would be no new page: it goes by an empty one.
    pub fn open(&mut self, url: &str) {
        for url in ["about:blank", url] {
            self.events.clear();
            self.ask("Page.navigate", json!({"url": url}));
            while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
                let event = self.read();
                self.events.push(event);
            }
        }
    }

    /// The value of an expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let answer = self.ask("Runtime.evaluate", json!({"expression": expression, "returnByValue": true}));
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// The size of the window, in CSS pixels.
    pub fn resize(&mut self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500});
        self.ask("Emulation.setDeviceMetricsOverride", size);
    }

    /// `screen` or `print`, `light` or `dark`.
    pub fn medium(&mut self, media: &str, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.ask("Emulation.setEmulatedMedia", json!({"media": media, "features": features}));
    }

    /// Presses a key.
    pub fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            self.ask("Input.dispatchKeyEvent", event);
        }
    }

    /// The addresses that were asked for since the page was opened.
    pub fn requests(&self) -> Vec<String> {
        let requests = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        requests.filter_map(|event| event["params"]["request"]["url"].as_str().map(str::to_owned)).collect()
    }

    fn read(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).unwrap();
        assert_eq!(bytes.pop(), Some(0), "the browser is gone");
        serde_json::from_slice(&bytes).unwrap()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn found() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names
        .iter()
        .flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)))
        .find(|p| p.is_file())
}
