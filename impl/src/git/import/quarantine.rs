//! What a step has left in a worktree, or in its artifacts, that must not stay there: repositories, whose config any git that
//! comes by would obey; FIFOs, sockets and devices, which hold or reach whoever opens them; set-user-id and set-group-id bits.
//! Nothing is opened but folders, no link is followed, and no process of the step is there any more to exchange anything.

use std::fs::{self, DirEntry, File, FileType, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::code::{Code, Fault};
use super::{escape, spelling};

/// Longest path that is gone into, in bytes; the kernel takes 4095 with one more name.
const LONGEST: usize = 3800;

/// Set-user-id and set-group-id.
const SET_ID: u32 = 0o6000;

/// Longest file `.git`, in bytes.
const POINTER: u64 = 8192;

/// The places in the list of a quarantine; what is above is moved all the same.
const LISTED: u64 = 1000;

/// Moves out of `worktree` into `quarantine` what no git may find there, and takes the bits away. The value names all that
/// this and earlier calls did: it outlives a crash. A worktree that is gone holds nothing.
///
/// # Errors
/// When the file `.git` of git's own does not lead to `admin`, and when something cannot be looked at or moved.
pub fn sweep(worktree: &Path, admin: &Path, quarantine: &Path) -> (Vec<String>, Result<(), Fault>) {
    let mut moving = Moving { to: quarantine, root: worktree, next: 0, done: list(quarantine) };
    let swept = match fs::symlink_metadata(worktree) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        Err(e) => Err(unreadable(worktree)(e)),
        // Swept in any case: whatever became of its .git, somebody will look at it with git.
        Ok(_) => walk(worktree, &mut |entry, kind| moving.look(entry, kind)).and_then(|()| pointer(worktree, admin)),
    };
    (moving.done, swept)
}

/// Takes set-user-id and set-group-id bits of all files below `folder` away; the value names the files.
///
/// # Errors
/// When something cannot be looked at or changed.
pub fn take_set_id(folder: &Path) -> Result<Vec<String>, Fault> {
    let mut taken = Vec::new();
    walk(folder, &mut |entry, kind| {
        if kind.is_file() && without_set_id(entry)? {
            taken.push(took(folder, &entry.path()));
        }
        Ok(Seen::Stays)
    })?;
    Ok(taken)
}

/// What became of an entry.
enum Seen {
    Stays,
    Moved,
}

/// All entries below `root`. Folders that the step has closed are opened; a folder deeper than paths go is `look`ed at last
/// and must go.
fn walk(root: &Path, look: &mut dyn FnMut(&DirEntry, FileType) -> io::Result<Seen>) -> Result<(), Fault> {
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in look_into(&folder).and_then(|()| fs::read_dir(&folder)).map_err(unreadable(&folder))? {
            let entry = entry.map_err(unreadable(&folder))?;
            let at = || entry.path();
            let kind = entry.file_type().map_err(|e| unreadable(&at())(e))?;
            let seen = look(&entry, kind).map_err(|e| unreadable(&at())(e))?;
            if kind.is_dir() && matches!(seen, Seen::Stays) {
                folders.push(at());
            }
        }
    }
    Ok(())
}

/// A folder that its step closed shows names without kinds, or nothing.
fn look_into(folder: &Path) -> io::Result<()> {
    let mode = fs::symlink_metadata(folder)?.permissions().mode();
    if mode & 0o500 == 0o500 { Ok(()) } else { open_up(folder) }
}

/// A folder of the step's, for its owner.
fn open_up(folder: &Path) -> io::Result<()> {
    let mode = fs::symlink_metadata(folder)?.permissions().mode();
    fs::set_permissions(folder, Permissions::from_mode(mode & 0o7777 | 0o700))
}

fn without_set_id(entry: &DirEntry) -> io::Result<bool> {
    let mode = entry.metadata()?.permissions().mode() & 0o7777;
    if mode & SET_ID != 0 {
        fs::set_permissions(entry.path(), Permissions::from_mode(mode & !SET_ID))?;
    }
    Ok(mode & SET_ID != 0)
}

struct Moving<'a> {
    to: &'a Path,
    root: &'a Path,
    next: u64,
    done: Vec<String>,
}

impl Moving<'_> {
    fn look(&mut self, entry: &DirEntry, kind: FileType) -> io::Result<Seen> {
        let name = entry.file_name();
        let what = if spelling::is_git(name.as_bytes()) {
            // The one at the top is git's own; the caller looks at what it is.
            if name == ".git" && entry.path().parent() == Some(self.root) {
                return Ok(Seen::Moved);
            }
            "a name that git takes for .git"
        } else if kind.is_fifo() {
            "a FIFO"
        } else if kind.is_socket() {
            "a socket"
        } else if kind.is_block_device() || kind.is_char_device() {
            "a device"
        } else if kind.is_dir() && entry.path().as_os_str().len() > LONGEST {
            "deeper than paths go"
        } else {
            if kind.is_file() && without_set_id(entry)? {
                self.note(took(self.root, &entry.path()))?;
            }
            return Ok(Seen::Stays);
        };
        self.take(&entry.path(), kind, what)?;
        Ok(Seen::Moved)
    }

    fn take(&mut self, from: &Path, kind: FileType, what: &str) -> io::Result<()> {
        let to = loop {
            self.next += 1;
            let to = self.to.join(self.next.to_string());
            if fs::symlink_metadata(&to).is_err() {
                break to;
            }
        };
        self.note(format!("{}: {what}, moved to {}", relative(self.root, from), self.next))?;
        fs::rename(from, &to).or_else(|e| match e.kind() {
            // Of a folder that moves, the way up is changed as well.
            ErrorKind::PermissionDenied => {
                from.parent().map_or(Ok(()), open_up)?;
                if kind.is_dir() {
                    open_up(from)?;
                }
                fs::rename(from, &to)
            }
            _ => Err(e),
        })
    }

    /// Before it is done: who is killed has the list all the same.
    fn note(&mut self, line: String) -> io::Result<()> {
        if self.done.is_empty() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(self.to)?;
        }
        if (self.done.len() as u64) < LISTED && !self.done.contains(&line) {
            let mut list = File::options().append(true).create(true).open(self.to.join(LIST))?;
            list.write_all(format!("{line}\n").as_bytes())?;
            self.done.push(line);
        } else if self.done.len() as u64 == LISTED {
            self.done.push("and more".into());
        }
        Ok(())
    }
}

/// What a quarantine holds, line by line.
const LIST: &str = "list";

fn list(quarantine: &Path) -> Vec<String> {
    let text = fs::read_to_string(quarantine.join(LIST)).unwrap_or_default();
    text.lines().map(str::to_string).collect()
}

/// The file by which git knows the worktree. Inside it is a mount point.
fn pointer(worktree: &Path, admin: &Path) -> Result<(), Fault> {
    let at = worktree.join(".git");
    let wrong = |what: String| Fault::new(Code::GitFile, format!("{}: {what}", at.display()));
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = File::options().read(true).custom_flags(flags).open(&at).map_err(|e| wrong(e.to_string()))?;
    let mut text = Vec::new();
    let is_file = file.metadata().is_ok_and(|meta| meta.is_file());
    if !is_file || file.take(POINTER).read_to_end(&mut text).is_err() {
        return Err(wrong("no file".into()));
    }
    let named = text.strip_prefix(b"gitdir: ").map(|rest| rest.trim_ascii_end());
    let leads = named.map(|named| worktree.join(Path::new(std::ffi::OsStr::from_bytes(named))));
    // The admin folder may be gone: `git worktree prune`.
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| PathBuf::from(path));
    match leads.is_some_and(|leads| real(&leads) == real(admin)) {
        true => Ok(()),
        false => Err(wrong(format!("it does not lead to {}", admin.display()))),
    }
}

fn took(root: &Path, path: &Path) -> String {
    format!("{}: set-user-id and set-group-id taken away", relative(root, path))
}

fn relative(root: &Path, path: &Path) -> String {
    escape(path.strip_prefix(root).unwrap_or(path).as_os_str().as_bytes())
}

fn unreadable(at: &Path) -> impl Fn(io::Error) -> Fault {
    let at = at.to_path_buf();
    move |e| Fault::new(Code::WorktreeUnreadable, format!("{}: {e}", at.display()))
}
