//! Other proxies, each with as little to do as it can be told: no cache, no log.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::ground::{Ground, on_path};
use crate::order::{Origin, Service};
use crate::provider::NAME;
use crate::proxies::{KEY, NGINX, Program, Proxy, SQUID, SRT, TINYPROXY, roots};

/// Files that a server may have open: more than the largest number of tunnels takes.
const FILES: usize = 20_000;

fn absent(name: &'static str) -> Proxy {
    let by = name.split('\'').next().unwrap_or(name);
    Proxy {
        name,
        note: format!("not installed (ci/bench-peers {by})"),
        each: None,
        injects: false,
        program: Program::Absent,
    }
}

pub fn squid(ground: &Ground) -> io::Result<Proxy> {
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
    Ok(Proxy { name: SQUID, note, each: None, injects: false, program: Program::Other(Box::new(serve)) })
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

pub fn tinyproxy(ground: &Ground) -> io::Result<Proxy> {
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
    Ok(Proxy { name: TINYPROXY, note, each: None, injects: false, program: Program::Other(Box::new(serve)) })
}

/// The module that srt itself starts, without the socket in front of it that makes it slower.
pub fn srt(ground: &Ground) -> io::Result<Proxy> {
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
    Ok(Proxy { name: SRT, note, each: None, injects: false, program: Program::Other(Box::new(serve)) })
}

/// Adds a header to requests and passes them on over TLS, as kusaw does where it injects: one process, and the certificate is
/// verified.
pub fn nginx(ground: &Ground, origin: &Origin) -> io::Result<Proxy> {
    let unpacked = ground.peer("nginx").map(|root| root.join("usr/sbin/nginx"));
    let Some(program) = unpacked.or_else(|| on_path("nginx")) else {
        return Ok(Proxy { injects: true, ..absent(NGINX) });
    };
    // It says its version on stderr.
    let said = ground.command(&program).arg("-v").stderr(Stdio::piped()).output()?.stderr;
    let note = String::from_utf8_lossy(&said).trim().rsplit('/').next().unwrap_or_default().to_owned();
    let provider = origin.of(Service::Secure);
    let serve = move |ground: &Ground, port: u16| {
        let folder = ground.tmp.join(format!("nginx-{port}"));
        let (of, trusted) = (folder.display(), roots(ground));
        let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let folders: String = folders.map(|name| format!("{name}_temp_path {of}-{name};\n")).concat();
        let config = format!(
            "daemon off;\nmaster_process off;\npid {of}.pid;\nerror_log /dev/null;\n\
             events {{ worker_connections {FILES}; }}\n\
             http {{\naccess_log off;\n{folders}server {{\nlisten 127.0.0.1:{port};\nlocation / {{\n\
             proxy_pass https://{provider};\nproxy_http_version 1.1;\nproxy_buffering off;\n\
             proxy_set_header Connection '';\nproxy_set_header Authorization 'Bearer {KEY}';\n\
             proxy_ssl_protocols TLSv1.2 TLSv1.3;\nproxy_ssl_verify on;\nproxy_ssl_name {NAME};\n\
             proxy_ssl_trusted_certificate {};\n}}\n}}\n}}\n",
            trusted.display()
        );
        let file = folder.with_extension("conf");
        fs::write(&file, config)?;
        let mut command = ground.command(&program);
        command.args(["-e", "/dev/null", "-c"]).arg(file);
        Ok(command)
    };
    Ok(Proxy { name: NGINX, note, each: None, injects: true, program: Program::Other(Box::new(serve)) })
}

/// The last word of the first line.
fn version(command: &mut Command) -> String {
    let said = command.stdout(Stdio::piped()).output().map(|out| String::from_utf8_lossy(&out.stdout).into_owned());
    let line = said.ok().and_then(|said| said.lines().next().map(str::to_owned)).unwrap_or_default();
    line.split_whitespace().last().unwrap_or_default().to_owned()
}
