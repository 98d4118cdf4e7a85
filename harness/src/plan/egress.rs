//! The `egress:` of a plan's blocks: hosts, and keys that are injected.

use serde_json::{Map, Value, json};

use super::{OTHER, Plan, object, push};

/// Whose block a setting stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The factory's.
    Factory,
    /// The step's.
    Step,
    /// That of the step beside it.
    Beside,
}

impl Plan {
    /// `egress:` of the block.
    pub fn egress(&mut self) -> &mut Map<String, Value> {
        egress(self.block())
    }

    /// Adds a host to `egress.allow`.
    pub fn allow(&mut self, host: &str) {
        push(self.egress(), "allow", host);
    }

    /// Adds a host to the step's own `egress.allow`.
    pub fn allow_for_step(&mut self, host: &str) {
        push(egress(object(self.step_sandbox.get_or_insert_with(|| json!({})))), "allow", host);
    }

    /// Takes `egress.allow` out of all blocks.
    pub fn forget_hosts(&mut self) {
        for block in [&mut self.sandbox, &mut self.step_sandbox].into_iter().flatten() {
            if let Some(Value::Object(egress)) = block.get_mut("egress") {
                egress.remove("allow");
            }
        }
    }

    /// Adds an entry to `egress.inject` of the factory's block, or of a step's.
    pub fn inject(&mut self, whose: Whose, entry: Value) {
        let egress = match whose {
            Whose::Factory => self.egress(),
            Whose::Step => egress(object(self.step_sandbox.get_or_insert_with(|| json!({})))),
            Whose::Beside => {
                let other = object(self.others.entry(OTHER).or_insert_with(|| json!({})));
                egress(object(other.entry("sandbox").or_insert_with(|| json!({}))))
            }
        };
        push(egress, "inject", entry);
    }

    /// Takes `egress.inject` out of all blocks.
    pub fn forget_keys(&mut self) {
        let of_others = self.others.iter_mut().filter_map(|(_, step)| step.get_mut("sandbox"));
        for block in [&mut self.sandbox, &mut self.step_sandbox].into_iter().flatten().chain(of_others) {
            if let Some(Value::Object(egress)) = block.get_mut("egress") {
                egress.remove("inject");
            }
        }
    }

    /// Takes one host out of `egress.allow` of all blocks; whether it was there.
    pub fn forget_host(&mut self, host: &str) -> bool {
        let lists = [&mut self.sandbox, &mut self.step_sandbox].into_iter().flatten();
        let lists = lists.filter_map(|block| block.get_mut("egress")?.get_mut("allow")?.as_array_mut());
        lists.fold(false, |found, list| {
            let before = list.len();
            list.retain(|own| own != host);
            found || list.len() != before
        })
    }

    /// The listed hosts.
    pub fn hosts(&self) -> Vec<Value> {
        let list = self.sandbox.as_ref().and_then(|b| b.get("egress")).and_then(|e| e.get("allow"));
        list.and_then(Value::as_array).cloned().unwrap_or_default()
    }
}

fn egress(block: &mut Map<String, Value>) -> &mut Map<String, Value> {
    object(block.entry("egress").or_insert_with(|| json!({})))
}
