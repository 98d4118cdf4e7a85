//! What is measured: no proxy at all, kusaw's, and others; then what adds a key to the requests to a provider: kusaw, and nginx.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::ground::Ground;
use crate::order::{By, Origin, Service};
use crate::others::{nginx, squid, srt, tinyproxy};
use crate::rounds::Turn;
use crate::running::Running;
use crate::way::PROVIDER;

pub const DIRECT: &str = "direct";
pub const KUSAW: &str = "**kusaw**";
pub const SQUID: &str = "squid";
pub const TINYPROXY: &str = "tinyproxy";
pub const SRT: &str = "srt's proxy";
pub const INJECTING: &str = "**kusaw**, injecting";
pub const NGINX: &str = "nginx";

/// One row of the tables.
pub struct Proxy {
    pub name: &'static str,
    /// Its version; of what is not here, how it comes here.
    pub note: String,
    /// Connections that one attempt may have at a time, where there is such a limit: more are shared out to several.
    pub each: Option<usize>,
    /// Adds a key to requests to the provider, and does nothing else.
    pub injects: bool,
    pub program: Program,
}

pub enum Program {
    Absent,
    Direct,
    Kusaw,
    Other(Box<Serve>),
}

/// What makes the command that serves on a port.
pub type Serve = dyn Fn(&Ground, u16) -> io::Result<Command>;

/// kusaw's limit is 512 an attempt.
const EACH: usize = 500;

/// Nobody's.
pub const KEY: &str = "bench-key-of-nobody";

/// What the step finds in its place is a placeholder.
const KEY_NAME: &str = "PROVIDER_KEY";

/// All rows, in order.
pub fn all(ground: &Ground, origin: &Origin) -> io::Result<Vec<Proxy>> {
    let row = |name, program| Proxy { name, note: String::new(), each: None, injects: false, program };
    Ok(vec![
        row(DIRECT, Program::Direct),
        Proxy { each: Some(EACH), ..row(KUSAW, Program::Kusaw) },
        squid(ground)?,
        tinyproxy(ground)?,
        srt(ground)?,
        Proxy { injects: true, ..row(INJECTING, Program::Kusaw) },
        nginx(ground, origin)?,
    ])
}

impl Proxy {
    pub fn is_here(&self) -> bool {
        !matches!(self.program, Program::Absent)
    }

    /// Refuses and forwards: there is a proxy.
    pub fn is_proxy(&self) -> bool {
        !self.injects && !matches!(self.program, Program::Absent | Program::Direct)
    }

    pub fn takes(&self, turn: Turn) -> bool {
        match turn {
            Turn::Refused => self.is_proxy(),
            Turn::Post => self.injects,
            Turn::Hear(By::Injection) => self.injects || matches!(self.program, Program::Direct),
            _ => !self.injects,
        }
    }

    /// Neither kusaw's nor none.
    pub fn is_other(&self) -> bool {
        matches!(self.program, Program::Absent | Program::Other(_))
    }

    /// Starts it, with a client.
    pub fn start(&self, ground: &Ground, origin: &Origin) -> io::Result<Running> {
        let told = serde_json::to_string(origin)?;
        let program = ground.home.join("bin/bench");
        let mut client = ground.command(&program);
        client.args(["client", &told]);
        match &self.program {
            Program::Absent => Err(io::Error::other(self.note.clone())),
            Program::Direct => Running::direct(client),
            Program::Kusaw => {
                let (factory, egress) = match self.injects {
                    false => ("proxy", "allow: [127.0.0.1]".to_owned()),
                    true => ("inject", inject(origin)),
                };
                let mut run = ground.kusaw(factory, &settings(&program, &told, &egress))?;
                ground.hand_over()?;
                if self.injects {
                    keep_key(ground)?;
                    run.env("SSL_CERT_FILE", roots(ground));
                }
                Running::step(run)
            }
            Program::Other(serve) => {
                // Free when it was asked for, which is as good as it gets from outside.
                let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
                let variable = if self.injects { PROVIDER } else { "HTTPS_PROXY" };
                client.env(variable, format!("http://127.0.0.1:{port}"));
                Running::behind(serve(ground, port)?, port, client)
            }
        }
    }
}

/// The step is the client.
fn settings(program: &Path, told: &str, egress: &str) -> String {
    let program = program.display();
    format!(
        "sandbox: {{mode: required, network: allowlist, allow_read: [{program}], egress: {{{egress}}}}}\n\
         steps: {{s: {{run: [{program}, client, '{told}']}}}}\n"
    )
}

fn inject(origin: &Origin) -> String {
    let provider = origin.of(Service::Secure);
    format!(
        "inject: [{{name: provider, upstream: 'https://{provider}', base_url_env: {PROVIDER}, key_env: {KEY_NAME}}}]"
    )
}

/// In the user's store.
fn keep_key(ground: &Ground) -> io::Result<()> {
    let mut set = ground.command(ground.home.join("bin/kusaw"));
    let mut set = set.args(["config", "set", KEY_NAME, "--secret"]).stdin(Stdio::piped()).spawn()?;
    set.stdin.take().into_iter().try_for_each(|mut stdin| writeln!(stdin, "{KEY}"))?;
    let status = set.wait()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("kusaw config set: {status}"))) }
}

/// Where the certificate of the provider's authority is.
pub fn roots(ground: &Ground) -> PathBuf {
    ground.home.join("roots.pem")
}

/// Where the bench's own program is put, so that the user can start it.
pub fn install_client(ground: &Ground) -> io::Result<PathBuf> {
    let program = ground.home.join("bin/bench");
    fs::copy("/proc/self/exe", &program)?; // with its mode
    Ok(program)
}
