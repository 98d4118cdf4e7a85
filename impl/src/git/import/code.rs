//! Why an import was rejected: one table, which `outcome.json` is made from. A code is never reused.

use std::fmt;

macro_rules! codes {
    ($($name:ident $code:literal $meaning:literal $fix:literal,)*) => {
        /// Why nothing was imported.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $(#[doc = $meaning] $name,)* }

        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// The stable code in records and messages.
            pub fn code(self) -> &'static str {
                match self { $(Code::$name => $code,)* }
            }

            /// What it means, in one line.
            pub fn meaning(self) -> &'static str {
                match self { $(Code::$name => $meaning,)* }
            }

            /// What the user can do about it.
            pub fn fix(self) -> &'static str {
                match self { $(Code::$name => $fix,)* }
            }
        }
    };
}

codes! {
    GitFile "git-file" "The worktree's own file .git is not the one that git made."
        "look at the worktree without git in it; `git worktree repair` writes the file anew",
    WorktreeUnreadable "worktree-unreadable" "A part of the worktree cannot be looked through, or something in it cannot be moved away."
        "look at the place named, and remove it",
    StoreFile "store-file" "The private store holds something that is neither a file nor a folder, or cannot be read."
        "take the wanted files from the worktree: no git can be trusted with this store",
    StoreTooLarge "store-too-large" "The private store holds more than is looked through."
        "take the wanted files from the worktree",
    StoreBorrows "store-borrows" "The private store borrows objects from elsewhere."
        "take the wanted files from the worktree",
    RefsUnreadable "refs-unreadable" "git cannot read the refs in the private store."
        "take the wanted files from the worktree",
    BranchMissing "branch-missing" "The attempt's own branch is not there any more, or names no object."
        "take the wanted files from the worktree",
    BranchSymbolic "branch-symbolic" "The attempt's own branch only stands for another ref."
        "take the wanted files from the worktree",
    NoCommit "no-commit" "A branch does not stand at a commit."
        "take the wanted files from the worktree",
    NotSigned "not-signed" "What the step committed could not be signed."
        "see the message; when the key can sign again (ssh-add, SSH_AUTH_SOCK), start any step: the import is begun again",
    BranchMoved "branch-moved" "Somebody has moved or removed the branch in the repository meanwhile."
        "put the branch back where it was, rename rejected.json in the kept store to record.json, and start any step",
    BranchRefused "branch-refused" "git does not take the branches into the repository, though they stand where they did."
        "see the message; when its cause is gone, rename rejected.json in the kept store to record.json, and start any step",
    ObjectsMissing "objects-missing" "Objects that the commits need are missing or broken."
        "take the wanted files from the worktree",
    ObjectsBad "objects-bad" "git's own checks of objects fail (git-fsck(1))."
        "make the commits anew without the object named",
    TooLarge "too-large" "The new objects are larger than what one attempt may add."
        "commit less: build output and archives belong elsewhere",
    TooMany "too-many" "More objects or changed paths than one attempt may add."
        "commit less: build output and archives belong elsewhere",
    PathGit "path-git" "A path holds a name that git takes for .git on some system."
        "make the commits anew without the path named",
    PathControl "path-control" "A path holds a control character, or one that is not seen or turns text around."
        "make the commits anew without the path named",
    PathBackslash "path-backslash" "A path holds a backslash, which separates folders on Windows."
        "make the commits anew without the path named",
    PathTooLong "path-too-long" "A path, or a name in it, is longer than file systems take."
        "make the commits anew without the path named",
    PathCase "path-case" "Two names in one folder differ in nothing but case: on macOS and Windows they are one file."
        "rename one of them",
    LinkOutside "link-outside" "A symbolic link leads out of the tree, by itself or through another link, or could: .. after a name, or a control character."
        "make the commits anew with a link that stays inside",
    LinkGit "link-git" "A symbolic link leads into a .git."
        "make the commits anew without the link",
    TookTooLong "took-too-long" "What the step has left takes git longer to check than one attempt may take."
        "commit less; if the machine was busy, rename rejected.json in the kept store to record.json, and start any step",
    NoBox "no-box" "The sandbox in which the private store is read could not be started."
        "see the message; `kusaw sandbox check` says what is missing",
    Interrupted "interrupted" "kusaw was told to end before the import was done."
        "start any step: the import is begun again",
    Failed "import-failed" "A file or a git command of our own failed."
        "see the message; nothing is lost, and the import can be tried again",
}

impl Code {
    /// Whether nothing is wrong with what the step has left: another try may come through.
    pub fn may_pass(self) -> bool {
        matches!(self, Code::Failed | Code::NoBox | Code::Interrupted | Code::NotSigned)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// Something is not as it must be: the code, and what and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The stable code.
    pub code: Code,
    /// Escaped.
    pub detail: String,
}

impl Fault {
    /// A fault; whatever `detail` is made of, it is printed on one line.
    pub fn new(code: Code, detail: impl fmt::Display) -> Fault {
        Fault { code, detail: super::escape(detail.to_string().as_bytes()) }
    }

    /// One of ours, at a place.
    pub fn failed(at: impl fmt::Display) -> impl Fn(std::io::Error) -> Fault {
        move |e| Fault::new(Code::Failed, format!("{at}: {e}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_every_one_has_meaning_and_fix() {
        for (i, a) in Code::ALL.iter().enumerate() {
            assert!(!a.fix().is_empty() && a.meaning().ends_with('.'));
            assert!(Code::ALL[i + 1..].iter().all(|b| a.code() != b.code()), "{a} twice");
        }
    }
}
