//! What is measured: no proxy at all, kusaw's, and others, each with as little to do as it can be told: no cache, no log.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::ground::{Ground, on_path};
use crate::order::Origin;
use crate::running::Running;

pub const DIRECT: &str = "direct";
pub const KUSAW: &str = "**kusaw**";
pub const SQUID: &str = "squid";
pub const TINYPROXY: &str = "tinyproxy";
pub const SRT: &str = "srt's proxy";

/// One row of the tables.
pub struct Proxy {
    pub name: &'static str,
    /// Its version; of what is not here, how it comes here.
    pub note: String,
    /// Connections that one attempt may have at a time, where there is such a limit: more are shared out to several.
    pub each: Option<usize>,
    program: Program,
}

enum Program {
    Absent,
    Direct,
    Kusaw,
    Other(Box<Serve>),
}

/// What makes the command that serves on a port.
type Serve = dyn Fn(&Ground, u16) -> io::Result<Command>;

/// kusaw's limit is 512 an attempt.
const EACH: usize = 500;

/// Files that a server may have open: more than the largest number of tunnels takes.
const FILES: usize = 20_000;

/// All rows, in order.
pub fn all(ground: &Ground) -> io::Result<Vec<Proxy>> {
    let row = |name, program| Proxy { name, note: String::new(), each: None, program };
    Ok(vec![
        row(DIRECT, Program::Direct),
        Proxy { each: Some(EACH), ..row(KUSAW, Program::Kusaw) },
        squid(ground)?,
        tinyproxy(ground)?,
        srt(ground)?,
    ])
}

impl Proxy {
    pub fn is_here(&self) -> bool {
        !matches!(self.program, Program::Absent)
    }

    /// Refuses and forwards: there is a proxy.
    pub fn is_proxy(&self) -> bool {
        !matches!(self.program, Program::Absent | Program::Direct)
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
                let run = ground.kusaw("proxy", &settings(&program, &told))?;
                ground.hand_over()?;
                Running::step(run)
            }
            Program::Other(serve) => {
                // Free when it was asked for, which is as good as it gets from outside.
                let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
                client.env("HTTPS_PROXY", format!("http://127.0.0.1:{port}"));
                Running::behind(serve(ground, port)?, port, client)
            }
        }
    }
}

/// The step is the client, and the origin's address is all that it may reach.
fn settings(program: &Path, told: &str) -> String {
    let program = program.display();
    format!(
        "sandbox: {{mode: required, network: allowlist, allow_read: [{program}], egress: {{allow: [127.0.0.1]}}}}\n\
         steps: {{s: {{run: [{program}, client, '{told}']}}}}\n"
    )
}

fn absent(name: &'static str) -> Proxy {
    let by = name.split('\'').next().unwrap_or(name);
    Proxy { name, note: format!("not installed (ci/bench-peers {by})"), each: None, program: Program::Absent }
}

fn squid(ground: &Ground) -> io::Result<Proxy> {
    // Unpacked by ci/bench-peers, or the system's.
    let root = ground.peer("squid");
    let program = root.as_ref().map(|root| root.join("usr/sbin/squid")).or_else(|| on_path("squid"));
    let Some(program) = program else { return Ok(absent(SQUID)) };
    let libraries = root.as_ref().map(|root| libraries(root)).unwrap_or_default();
    let moved = root.map(|root| moved(&root)).unwrap_or_default();
    let squid = move |ground: &Ground| {
        let mut command = ground.command(&program);
        command.env("LD_LIBRARY_PATH", &libraries);
        command
    };
    let note = version(squid(ground).arg("-v"));
    let serve = move |ground: &Ground, port: u16| {
        let config = format!(
            "http_port 127.0.0.1:{port}\nacl blocked dstdomain .blocked.example\nhttp_access deny blocked\n\
             http_access allow all\ncache deny all\naccess_log none\ncache_log /dev/null\npid_filename none\n\
             pinger_enable off\nmax_filedescriptors {FILES}\n{moved}"
        );
        let file = ground.tmp.join(format!("squid-{port}.conf"));
        fs::write(&file, config)?;
        let mut command = squid(ground);
        command.arg("-N").arg("-f").arg(file);
        Ok(command)
    };
    Ok(Proxy { name: SQUID, note, each: None, program: Program::Other(Box::new(serve)) })
}

/// Where it finds its own files when it was unpacked and not installed.
fn moved(root: &Path) -> String {
    let root = root.join("usr");
    let root = root.display();
    format!(
        "mime_table {root}/share/squid/mime.conf\nicon_directory {root}/share/squid/icons\n\
         error_directory {root}/share/squid-langpack/en\nunlinkd_program {root}/lib/squid/unlinkd\n"
    )
}

/// The folders of libraries below a root, as LD_LIBRARY_PATH takes them.
fn libraries(root: &Path) -> String {
    let found = |at: &str| fs::read_dir(root.join(at)).into_iter().flatten().flatten().map(|entry| entry.path());
    let folders = ["lib", "usr/lib"].into_iter().flat_map(found);
    let folders = folders.filter(|folder| folder.to_string_lossy().contains("-linux-gnu"));
    folders.map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(":")
}

fn tinyproxy(ground: &Ground) -> io::Result<Proxy> {
    let Some(program) = on_path("tinyproxy") else { return Ok(absent(TINYPROXY)) };
    let note = version(ground.command(&program).arg("-v"));
    let serve = move |ground: &Ground, port: u16| {
        let (file, blocked) = (ground.tmp.join(format!("tinyproxy-{port}.conf")), ground.tmp.join("tinyproxy-blocked"));
        fs::write(&blocked, "blocked\\.example$\n")?;
        let blocked = blocked.display();
        let config = format!(
            "Port {port}\nListen 127.0.0.1\nTimeout 600\nMaxClients {FILES}\nLogLevel Critical\nFilter \"{blocked}\"\n"
        );
        fs::write(&file, config)?;
        let mut command = ground.command(&program);
        command.arg("-d").arg("-c").arg(file);
        Ok(command)
    };
    Ok(Proxy { name: TINYPROXY, note, each: None, program: Program::Other(Box::new(serve)) })
}

/// The module that srt itself starts, without the socket in front of it that makes it slower.
fn srt(ground: &Ground) -> io::Result<Proxy> {
    let package = ground.peer("srt/node_modules/@anthropic-ai/sandbox-runtime");
    let (Some(package), Some(node)) = (package, on_path("node")) else { return Ok(absent(SRT)) };
    let told = fs::read_to_string(package.join("package.json"))?;
    let told: serde_json::Value = serde_json::from_str(&told)?;
    let note = told["version"].as_str().unwrap_or_default().to_owned();
    let serve = move |ground: &Ground, port: u16| {
        let file = ground.tmp.join(format!("srt-{port}.mjs"));
        let module = package.join("dist/sandbox/http-proxy.js");
        let script = format!(
            "import {{ createHttpProxyServer }} from '{}'\n\
             createHttpProxyServer({{ filter: (port, host) => host === '127.0.0.1' }}).listen({port}, '127.0.0.1')\n",
            module.display()
        );
        fs::write(&file, script)?;
        let mut command = ground.command(&node);
        command.arg(file);
        Ok(command)
    };
    Ok(Proxy { name: SRT, note, each: None, program: Program::Other(Box::new(serve)) })
}

/// The last word of the first line.
fn version(command: &mut Command) -> String {
    let said = command.stdout(Stdio::piped()).output().map(|out| String::from_utf8_lossy(&out.stdout).into_owned());
    let line = said.ok().and_then(|said| said.lines().next().map(str::to_owned)).unwrap_or_default();
    line.split_whitespace().last().unwrap_or_default().to_owned()
}

/// Where the bench's own program is put, so that the user can start it.
pub fn install_client(ground: &Ground) -> io::Result<PathBuf> {
    let program = ground.home.join("bin/bench");
    fs::copy("/proc/self/exe", &program)?; // with its mode
    Ok(program)
}
