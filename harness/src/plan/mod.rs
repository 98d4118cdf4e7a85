//! What a scenario asks for: a plain value that `Given` steps fill and `When` steps carry out.
//!
//! It speaks the documentation's language only. A control is the same plan with one thing changed.

mod egress;
mod settings;

use serde_json::{Map, Value, json};

use crate::caller::Caller;
use crate::driver::Network;
use crate::lab::fault::Fault;
pub use egress::Whose;

/// What the step executes.
#[derive(Clone, Debug)]
pub enum Action {
    /// `run: [argv]`.
    Run(Vec<String>),
    /// `provider:` and `prompt:`; each is left out where it is empty.
    Provider(String, String),
    /// `uses:`, a built-in step.
    Uses(String),
}

/// How the settings file is spoilt.
#[derive(Clone, Debug)]
pub enum Spoilt {
    /// The whole file is these bytes.
    Bytes(Vec<u8>),
    /// There is no file.
    Missing,
    /// A folder has its name.
    Folder,
    /// Its mode is 000.
    Unreadable,
}

/// One active repository: its name, and the value of its `sandbox:`.
pub type Repo = (String, Option<String>);

/// What a scenario asks for.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The factory's `sandbox:` block; none = never set.
    pub sandbox: Option<Value>,
    /// The block as raw YAML text instead.
    pub sandbox_text: Option<String>,
    /// The step's `sandbox:`.
    pub step_sandbox: Option<Value>,
    /// The step's `sandbox:` as raw YAML text instead.
    pub step_sandbox_text: Option<String>,
    /// Active repositories.
    pub repos: Vec<Repo>,
    /// What the step executes.
    pub action: Action,
    /// The step's `handshake:`; empty = it has none.
    pub handshake: Vec<String>,
    /// The step's `env:`.
    pub env: Map<String, Value>,
    /// Other keys of the step.
    pub step_keys: Map<String, Value>,
    /// The name the factory is asked for; the step's own is `probe`.
    pub asked: String,
    /// How the settings file is spoilt.
    pub spoilt: Option<Spoilt>,
    /// What is wrong with the host.
    pub fault: Option<Fault>,
    /// Whether starts of the sandbox program are recorded.
    pub watched: bool,
    /// Steps beside the one that is judged, by name.
    pub others: Map<String, Value>,
    /// How its caller starts it.
    pub caller: Caller,
    /// Standard input of the launch.
    pub stdin: Vec<u8>,
    /// The public key whose owner signs what is imported: the `sign:` of every repo.
    pub sign: Option<String>,
    /// The name of the secret that the factory is to keep.
    pub secret: String,
    /// Where the first repository lies, if elsewhere.
    pub repository: Option<String>,
    /// The name of the factory's folder, if it has one of its own.
    pub folder: Option<String>,
    /// The folder that the agents lie in, if elsewhere.
    pub agents: Option<String>,
    /// The user's home, if another one than the lab's.
    pub home: Option<String>,
    /// Variables of the caller beside the usual ones.
    pub variables: Vec<(String, String)>,
}

/// The name of the step beside the one that is called [`STEP`].
pub const OTHER: &str = "other";

/// The settings that name paths.
pub const PATH_LISTS: [&str; 2] = ["allow_read", "allow_write"];

/// The step's name in every settings file.
pub const STEP: &str = "probe";

impl Default for Plan {
    fn default() -> Self {
        Self {
            sandbox: None,
            sandbox_text: None,
            step_sandbox: None,
            step_sandbox_text: None,
            repos: vec![("demo".to_owned(), None)],
            action: Action::Run(vec!["/bin/true".to_owned()]),
            handshake: Vec::new(),
            env: Map::new(),
            step_keys: Map::new(),
            asked: STEP.to_owned(),
            spoilt: None,
            fault: None,
            watched: false,
            others: Map::new(),
            caller: Caller::default(),
            stdin: Vec::new(),
            sign: None,
            secret: String::new(),
            repository: None,
            folder: None,
            agents: None,
            home: None,
            variables: Vec::new(),
        }
    }
}

impl Plan {
    /// The factory's block, made where it is not there yet.
    pub fn block(&mut self) -> &mut Map<String, Value> {
        object(self.sandbox.get_or_insert_with(|| json!({})))
    }

    /// Adds a path to `allow_read` or `allow_write` of the factory's block.
    pub fn allow_path(&mut self, list: &str, path: &str) {
        push(self.block(), list, path);
    }

    /// Adds a path to `allow_read` or `allow_write` of the step's block, where it adds to the factory's.
    pub fn allow_path_of_step(&mut self, list: &str, path: &str) {
        push(object(self.step_sandbox.get_or_insert_with(|| json!({}))), list, path);
    }

    /// The paths of `allow_read` or `allow_write`, as written: the factory's, then the step's.
    pub fn paths(&self, list: &str) -> Vec<String> {
        let blocks = [&self.sandbox, &self.step_sandbox].into_iter().flatten();
        let lists = blocks.filter_map(|block| block.get(list)?.as_array()).flatten();
        lists.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Takes `allow_read` and `allow_write` out of all blocks.
    pub fn forget_paths(&mut self) {
        for block in [&mut self.sandbox, &mut self.step_sandbox].into_iter().flatten() {
            if let Value::Object(block) = block {
                block.retain(|key, _| !PATH_LISTS.contains(&key.as_str()));
            }
        }
    }

    /// The network a sandbox (not a factory) is asked for.
    pub fn network(&self) -> Network {
        match self.sandbox.as_ref().and_then(|b| b.get("network")).and_then(Value::as_str) {
            Some("allowlist") => Network::Allowlist,
            _ => Network::Open,
        }
    }

    /// The command of the step that is asked for; empty if an agent runs it.
    pub fn command(&self) -> Vec<String> {
        match (self.others.get(&self.asked), &self.action) {
            (Some(other), _) => {
                let run = other.get("run").and_then(Value::as_array);
                run.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            (None, Action::Run(argv)) => argv.clone(),
            (None, Action::Provider(..) | Action::Uses(_)) => Vec::new(),
        }
    }
}

fn push(block: &mut Map<String, Value>, list: &str, item: impl Into<Value>) {
    if let Value::Array(list) = block.entry(list).or_insert_with(|| json!([])) {
        list.push(item.into());
    }
}

fn object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = json!({});
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("made an object above"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_step_add_to_the_factorys() {
        let mut plan = Plan::default();
        plan.allow_path("allow_read", "~/a b");
        plan.allow_path_of_step("allow_read", "/srv");
        plan.allow_path_of_step("allow_write", "/opt");
        assert_eq!(plan.paths("allow_read"), ["~/a b", "/srv"]);
        assert_eq!(plan.settings(str::to_owned)["steps"][STEP]["sandbox"]["allow_write"], json!(["/opt"]));
        plan.forget_paths();
        assert!(plan.paths("allow_read").is_empty() && plan.paths("allow_write").is_empty());
    }
}
