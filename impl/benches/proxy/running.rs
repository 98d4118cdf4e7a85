//! A proxy at work, with its client; both end with it.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;

use crate::order::{Done, Order};

/// For a proxy to answer.
const START: Duration = Duration::from_secs(10);

/// For a step to end.
const END: Duration = Duration::from_secs(5);

/// For what a client has closed to be closed everywhere; also a pause between two turns.
pub const SETTLE: Duration = Duration::from_millis(30);

pub struct Running {
    client: Child,
    /// None only while it ends.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// Where the client is not the proxy's own process.
    server: Option<Child>,
    /// Of the process that is measured.
    measured: Option<Pid>,
}

impl Running {
    pub fn direct(client: Command) -> io::Result<Running> {
        Running::new(client, None)
    }

    /// The client is the step, and the process that runs it is the proxy.
    pub fn step(run: Command) -> io::Result<Running> {
        let mut running = Running::new(run, None)?;
        running.measured = Some(pid(&running.client));
        Ok(running)
    }

    /// The client starts when the proxy answers on the port.
    pub fn behind(mut serve: Command, port: u16, client: Command) -> io::Result<Running> {
        let mut server = serve.spawn()?;
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Some(status) = server.try_wait()? {
                return Err(io::Error::other(format!("ended at once: {status}")));
            }
            if began.elapsed() > START {
                let _ = server.kill();
                let _ = server.wait();
                return Err(io::Error::other("does not answer"));
            }
            sleep(Duration::from_millis(10));
        }
        let measured = pid(&server);
        let mut running = Running::new(client, Some(server))?;
        running.measured = Some(measured);
        Ok(running)
    }

    fn new(mut client: Command, server: Option<Child>) -> io::Result<Running> {
        let mut client = client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn()?;
        let pipes = client.stdin.take().zip(client.stdout.take());
        let (orders, answers) = pipes.ok_or_else(|| io::Error::other("no pipes"))?;
        Ok(Running { client, orders: Some(orders), answers: BufReader::new(answers), server, measured: None })
    }

    /// What the client did, and the CPU seconds that the proxy needed for it.
    pub fn order(&mut self, order: Order) -> io::Result<(Done, f64)> {
        let used = self.cpu()?;
        if let Some(orders) = &mut self.orders {
            writeln!(orders, "{}", serde_json::to_string(&order)?)?;
        }
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err(io::Error::other(format!("the client ended ({:?}) at {order:?}", self.client.try_wait()?)));
        }
        let done: Result<Done, String> = serde_json::from_str(&line)?;
        let done = done.map_err(|e| io::Error::other(format!("{order:?}: {e}")))?;
        Ok((done, self.cpu()? - used))
    }

    /// MiB of memory that the proxy's process holds.
    pub fn memory(&self) -> io::Result<f64> {
        let Some(pid) = self.measured else { return Ok(0.0) };
        let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
        let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok());
        kib.map(|kib: f64| kib / 1024.0).ok_or_else(|| io::Error::other("no VmRSS"))
    }

    /// Its open files; none where the system does not tell.
    pub fn descriptors(&self) -> Option<usize> {
        fs::read_dir(format!("/proc/{}/fd", self.measured?)).ok().map(Iterator::count)
    }

    /// utime + stime in seconds, of all threads that are and were (clock_getcpuclockid(3)).
    fn cpu(&self) -> io::Result<f64> {
        let Some(pid) = self.measured else { return Ok(0.0) };
        let now = clock_getcpuclockid(pid)?.now()?;
        Ok(now.tv_sec() as f64 + now.tv_nsec() as f64 / 1e9)
    }
}

impl Drop for Running {
    /// The client ends with its orders, and kusaw with its step; what does not is killed.
    fn drop(&mut self) {
        self.orders = None;
        let began = Instant::now();
        while began.elapsed() < END && matches!(self.client.try_wait(), Ok(None)) {
            sleep(Duration::from_millis(1));
        }
        for child in [Some(&mut self.client), self.server.as_mut()].into_iter().flatten() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id().cast_signed())
}
