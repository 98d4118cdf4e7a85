//! How the engine asks the world what it has seen: a line of JSON there and one back, over a socket pair that both have from
//! their common parent and no launch inherits.
//!
//! Before it answers, the world takes in everything that lies in its sockets: what was sent before the question is in the
//! answer, without waiting for a time.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};

use super::journal::{Account, Journal};
use super::model::{Told, Tool};
use super::origin::{self, Origins};

/// How long the world may take to answer: it does in a fraction of a millisecond.
const PATIENCE: Duration = Duration::from_secs(10);

/// Turns of the runtime before an answer. In each it looks at its sockets once and wakes whom they concern; a connection is
/// accepted in one, and what it brought is read in the next.
const TURNS: usize = 32;

/// A question.
#[derive(Debug, Serialize, Deserialize)]
enum Question {
    /// A port for a scenario, at which all special addresses of the world answer.
    Open,
    /// What was seen of a scenario, which has these ports, and these words that nobody else has.
    Account(u16, Vec<u16>, Vec<String>),
    /// A model for a scenario, which asks for these tools.
    Model(u16, Vec<Tool>),
    /// What a scenario's model was told.
    Told(u16),
}

#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Opened(u16),
    Account(Account),
    Told(Vec<Told>),
    Failed(String),
}

/// The engine's end.
#[derive(Clone, Debug)]
pub struct World(Arc<Mutex<BufReader<UnixStream>>>);

impl World {
    /// From the engine's end of the pair.
    ///
    /// # Errors
    /// When the socket takes no timeout.
    pub fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self(Arc::new(Mutex::new(BufReader::new(stream)))))
    }

    /// A port that nobody else uses, at which all special addresses of the world answer.
    ///
    /// # Errors
    /// When the world has none, or does not answer.
    pub fn open(&self) -> io::Result<u16> {
        match self.ask(&Question::Open)? {
            Reply::Opened(port) => Ok(port),
            other => Err(io::Error::other(format!("{other:?}"))),
        }
    }

    /// What the world has seen of a scenario, which has these ports, and these words that nobody else has.
    ///
    /// # Errors
    /// When the world does not answer.
    pub fn account(&self, scenario: u16, ports: &[u16], words: &[String]) -> io::Result<Account> {
        match self.ask(&Question::Account(scenario, ports.to_vec(), words.to_vec()))? {
            Reply::Account(account) => Ok(account),
            other => Err(io::Error::other(format!("{other:?}"))),
        }
    }

    /// Gives a scenario a model that asks for these tools, one after the other.
    ///
    /// # Errors
    /// When the world does not answer.
    pub fn model(&self, scenario: u16, script: &[Tool]) -> io::Result<()> {
        self.ask(&Question::Model(scenario, script.to_vec())).map(drop)
    }

    /// What a scenario's model was told since then, request by request.
    ///
    /// # Errors
    /// When the world does not answer.
    pub fn told(&self, scenario: u16) -> io::Result<Vec<Told>> {
        match self.ask(&Question::Told(scenario))? {
            Reply::Told(told) => Ok(told),
            other => Err(io::Error::other(format!("{other:?}"))),
        }
    }

    /// It blocks the engine, for less than a millisecond: so that no two questions can mix.
    fn ask(&self, question: &Question) -> io::Result<Reply> {
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut line = serde_json::to_vec(question)?;
        line.push(b'\n');
        stream.get_mut().write_all(&line)?;
        let mut reply = String::new();
        stream.read_line(&mut reply)?;
        Ok(serde_json::from_str(&reply)?)
    }
}

/// Answers the engine for ever.
///
/// # Errors
/// When the engine is gone.
pub async fn serve(stream: UnixStream, journal: Journal, origins: Origins) -> io::Result<()> {
    stream.set_nonblocking(true)?;
    let (read, mut write) = tokio::net::UnixStream::from_std(stream)?.into_split();
    let mut questions = tokio::io::BufReader::new(read).lines();
    while let Some(line) = questions.next_line().await? {
        let reply = match serde_json::from_str(&line) {
            Ok(Question::Open) => match origin::open(&origins).await {
                Ok(port) => Reply::Opened(port),
                Err(e) => Reply::Failed(e.to_string()),
            },
            Ok(Question::Account(scenario, ports, words)) => {
                for _ in 0..TURNS {
                    tokio::task::yield_now().await;
                }
                Reply::Account(journal.account(scenario, &ports, &words))
            }
            Ok(Question::Model(scenario, script)) => {
                origins.models.begin(scenario, script);
                Reply::Told(Vec::new())
            }
            Ok(Question::Told(scenario)) => Reply::Told(origins.models.told(scenario)),
            Err(e) => Reply::Failed(e.to_string()),
        };
        let mut line = serde_json::to_vec(&reply)?;
        line.push(b'\n');
        write.write_all(&line).await?;
    }
    Ok(())
}
