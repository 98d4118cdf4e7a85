//! Connections that this process has taken, as the kernel counts them.

use std::collections::HashSet;

/// How many sockets of this process are connected from the address of a proxy: its side of each client's connection. The table
/// is no snapshot; what stands in it before and after a moment was there at that moment.
pub fn accepted(port: u16) -> usize {
    let before = held(port);
    held(port).intersection(&before).count()
}

/// Their inodes.
fn held(port: u16) -> HashSet<String> {
    let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
    let ours = format!(":{port:04X}");
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    // State 01 is ESTABLISHED, 08 CLOSE_WAIT; the inode is 0 where no process holds the socket any more, or not yet.
    let held = rows.filter(|f| f.len() > 9 && f[1].ends_with(&ours) && ["01", "08"].contains(&f[3]) && f[9] != "0");
    held.map(|fields| fields[9].to_string()).collect()
}
