//! A real agent at work for a model that a scenario scripts: in its sandbox, and bare.
//!
//! Every script begins and ends with a command of the harness: what lies between is known to have been asked for and answered.

use serde_json::{Value, json};

use super::Scene;
use crate::lab::home::{self, TOKEN, repository_of};
use crate::lab::world::model::{Told, Tool, ToolResult, mark};
use crate::lab::world::zone;
use crate::lab::{HOME, installed};
use crate::launch::Launch;
use crate::plan::Action;
use crate::text::line;

/// A conversation of a model with its agent.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    /// What the model asked for.
    pub script: Vec<Tool>,
    /// What it was told, request by request.
    pub told: Vec<Told>,
    /// What the agent printed, and how it ended.
    pub printed: String,
    /// The key that the agent itself has, where it has one.
    pub key: String,
}

impl Conversation {
    /// What became of the tools, as the last request tells it.
    pub fn results(&self) -> Vec<ToolResult> {
        self.told.last().map(Told::results).unwrap_or_default()
    }

    /// Why it proves nothing, if so: one request a tool and one more, the first and the last tool did their work, and the model saw
    /// each result whole.
    pub fn unfinished(&self) -> Option<String> {
        let (asked, results) = (self.script.len(), self.results());
        let framed = [results.first(), results.last()]
            .iter()
            .all(|result| result.is_some_and(|result| !result.failed && result.text.contains(HEARD)));
        let cut = results.iter().find(|result| result.text.contains(CUT));
        (self.told.len() != asked + 1 || results.len() != asked || !framed || cut.is_some()).then(|| {
            let last = cut.or(results.last()).map_or("", |result| &result.text);
            format!(
                "{} requests and {} results for {asked} tools; the last result: {}; {}",
                self.told.len(),
                results.len(),
                line(last.as_bytes(), 200),
                line(self.printed.as_bytes(), 300)
            )
        })
    }

    /// Whether a word was seen by the model, or printed.
    pub fn has(&self, word: &str) -> bool {
        self.printed.contains(word) || self.told.iter().any(|told| told.body.contains(word))
    }

    /// Whether the model saw a secret of the lab.
    pub fn has_secret(&self) -> bool {
        self.has(TOKEN)
    }

    /// Whether what its tools came to has a word.
    pub fn got(&self, word: &str) -> bool {
        self.acts().iter().any(|act| act.text.contains(word))
    }

    /// What the tools between the first and the last came to.
    pub fn acts(&self) -> Vec<ToolResult> {
        let results = self.results();
        results.get(1..results.len().saturating_sub(1)).map(<[_]>::to_vec).unwrap_or_default()
    }

    /// For a reader.
    pub fn summary(&self) -> String {
        let word = |result: &ToolResult| {
            format!("{}{}", if result.failed { "failed: " } else { "" }, line(result.text.as_bytes(), 120))
        };
        let acts: Vec<String> = self.acts().iter().map(word).collect();
        format!("{} requests; {}", self.told.len(), acts.join(" | "))
    }
}

/// What the first and the last command print.
const HEARD: &str = "the model is heard";

/// What stands in the place of a long result.
const CUT: &str = "<persisted-output>";

/// The name of the agent, and of its program.
pub const AGENT: &str = "claude";

impl Scene {
    /// Gives the scenario's model a script, between a first and a last command that always work.
    ///
    /// # Errors
    /// When the world does not answer.
    pub fn script(&mut self, tools: Vec<Tool>) -> Result<(), String> {
        let heard = || ("Bash".to_owned(), json!({"command": format!("echo {HEARD}")}));
        let script: Vec<Tool> = [heard()].into_iter().chain(tools).chain([heard()]).collect();
        self.conversation.script = script;
        self.begin()
    }

    /// What the scenario's model was told in this launch.
    ///
    /// # Errors
    /// When the world does not answer.
    pub fn conversed(&self, launch: &Launch) -> Result<Conversation, String> {
        let told = Self::context()?.lab.world.told(self.number()?).map_err(|e| format!("the model: {e}"))?;
        let printed = format!("exit {:?}: {}", launch.exit, launch.output());
        Ok(Conversation { script: self.conversation.script.clone(), told, printed, key: String::new() })
    }

    /// The same model and agent without any sandbox: as a user has it who gives it the key.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn bare_conversation(&mut self) -> Result<Conversation, String> {
        let Action::Provider(_, prompt) = &self.plan.action else { return Err("no agent runs the step".to_owned()) };
        let program = installed::program(AGENT).ok_or("the agent is not there")?;
        let command = [&program.display().to_string(), "-p", prompt].map(str::to_owned);
        let key = home::random(home::TOKEN).map_err(|e| e.to_string())?; // the factory's is judged by where it arrives
        let mut variables = vec![
            ("ANTHROPIC_BASE_URL".to_owned(), format!("http://{}.api.test", self.nonce)),
            ("ANTHROPIC_API_KEY".to_owned(), key.clone()),
        ];
        let own = self.plan.env.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        let home = self.plan.home.iter().map(|home| ("HOME".to_owned(), home.clone()));
        variables.extend(own.chain(self.plan.variables.iter().cloned()).chain(home));
        self.begin()?;
        let place = repository_of(&self.nonce, "demo");
        let nonce = format!("{}-bare", self.nonce);
        let launch = Self::launcher()?.bare_at(&command, &nonce, &self.plan, &place, variables).await?;
        Ok(Conversation { key, ..self.conversed(&launch)? })
    }

    /// The prompt of the scenario's conversation.
    ///
    /// # Errors
    /// When the scenario has no number.
    pub fn prompt(&self) -> Result<String, String> {
        Ok(format!("Do what is to be done. {}", mark(self.number()?)))
    }

    /// Where the agent's program is found first.
    pub fn agents(&self) -> String {
        format!("{HOME}/factories/{}/agents", self.nonce)
    }

    /// Has the scenario's model begin again, with the same script.
    ///
    /// # Errors
    /// When the world does not answer.
    pub fn begin(&self) -> Result<(), String> {
        let world = &Self::context()?.lab.world;
        world.model(self.number()?, &self.conversation.script).map_err(|e| format!("the model: {e}"))
    }

    fn number(&self) -> Result<u16, String> {
        zone::scenario(&self.nonce).ok_or_else(|| "the scenario's number is too large".to_owned())
    }
}

/// What a row of a feature's table asks for: a tool, its object, and a text, which for an edit is `OLD: NEW`.
///
/// # Errors
/// When nobody knows the tool, or an edit is none.
pub fn tool(name: &str, what: &str, text: &str) -> Result<Value, String> {
    Ok(match name {
        "Bash" => json!({"command": what, "description": "Work"}),
        "Read" => json!({"file_path": what}),
        "Edit" => {
            let (old, new) = text.split_once(": ").ok_or("an edit is written as OLD: NEW")?;
            json!({"file_path": what, "old_string": old, "new_string": new})
        }
        "Write" => json!({"file_path": what, "content": text}),
        other => return Err(format!("nobody knows the tool {other}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(results: &[(&str, bool)]) -> Told {
        let block = |(text, failed): &(&str, bool)| json!({"type": "tool_result", "content": text, "is_error": failed});
        let blocks: Vec<Value> = results.iter().map(block).collect();
        Told { head: String::new(), body: json!({"messages": [{"role": "user", "content": blocks}]}).to_string() }
    }

    #[test]
    fn a_conversation_is_whole_with_one_request_a_tool_and_one_more() {
        let all = [(HEARD, false), ("x", true), (HEARD, false)];
        let script = vec![("Bash".to_owned(), json!({})); 3];
        let whole: Vec<Told> = (0..=3).map(|count| told(&all[..count])).collect();
        let with = |told: Vec<Told>| Conversation { script: script.clone(), told, ..Conversation::default() };
        assert_eq!(with(whole.clone()).unfinished(), None);
        assert_eq!(with(whole.clone()).acts(), [ToolResult { text: "x".into(), failed: true }]);
        assert!(with(whole[..3].to_vec()).unfinished().is_some());
        assert!(with([&whole[..], &whole[3..]].concat()).unfinished().is_some());
        assert!(with(Vec::new()).unfinished().is_some());
        let cut = [(HEARD, false), (CUT, false), (HEARD, false)];
        let short: Vec<Told> = (0..=3).map(|count| told(&cut[..count])).collect();
        assert!(with(short).unfinished().is_some());
        let refused = [(HEARD, true), ("x", true), (HEARD, true)];
        let denied: Vec<Told> = (0..=3).map(|count| told(&refused[..count])).collect();
        assert!(with(denied).unfinished().is_some());
    }

    #[test]
    fn a_row_is_a_tool_with_its_input() {
        let edit = tool("Edit", "/a", "old: new: x").unwrap();
        assert_eq!((edit["old_string"].as_str(), edit["new_string"].as_str()), (Some("old"), Some("new: x")));
        assert!(tool("Edit", "/a", "x").is_err() && tool("Dance", "", "").is_err());
    }
}
