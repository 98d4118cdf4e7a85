//! A plan as settings: in the documentation's structure, and as the bytes of a file where a scenario writes them by hand.

use serde_json::{Map, Value, json};

use super::{Action, Plan, STEP, Spoilt};

impl Plan {
    /// The settings in the documentation's structure; `repository` gives the path of a repo.
    pub fn settings(&self, repository: impl Fn(&str) -> String) -> Value {
        let mut step = Map::new();
        let names: Vec<&String> = self.repos.iter().map(|(name, _)| name).collect();
        if !names.is_empty() {
            step.insert("repos".into(), json!(names));
        }
        if let Some(sandbox) = &self.step_sandbox {
            step.insert("sandbox".into(), sandbox.clone());
        }
        match &self.action {
            Action::Run(argv) => {
                step.insert("run".into(), json!(argv));
            }
            Action::Provider(name, prompt) => {
                if !name.is_empty() {
                    step.insert("provider".into(), json!(name));
                }
                if !prompt.is_empty() {
                    step.insert("prompt".into(), json!(prompt));
                }
            }
            Action::Uses(name) => {
                step.insert("uses".into(), json!(name));
            }
        }
        if !self.handshake.is_empty() {
            step.insert("handshake".into(), json!(self.handshake));
        }
        if !self.env.is_empty() {
            step.insert("env".into(), Value::Object(self.env.clone()));
        }
        step.extend(self.step_keys.clone());
        let repos: Map<String, Value> = self
            .repos
            .iter()
            .map(|(name, sandbox)| {
                let mut repo = Map::from_iter([("path".to_owned(), json!(repository(name)))]);
                if let Some(value) = sandbox {
                    repo.insert("sandbox".into(), json!(value));
                }
                if let Some(key) = &self.sign {
                    repo.insert("sign".into(), json!(key));
                }
                (name.clone(), Value::Object(repo))
            })
            .collect();
        let mut settings = Map::new();
        if let Some(block) = &self.sandbox {
            settings.insert("sandbox".into(), block.clone());
        }
        if !repos.is_empty() {
            settings.insert("repos".into(), Value::Object(repos));
        }
        let mut steps = self.others.clone();
        steps.insert(STEP.to_owned(), Value::Object(step));
        settings.insert("steps".into(), Value::Object(steps));
        Value::Object(settings)
    }

    /// The settings file as raw bytes, where a scenario writes it by hand.
    pub fn raw(&self, settings: &Value) -> Option<Vec<u8>> {
        if let Some(Spoilt::Bytes(bytes)) = &self.spoilt {
            return Some(bytes.clone());
        }
        if self.sandbox_text.is_none() && self.step_sandbox_text.is_none() {
            return None;
        }
        // A placeholder stands in the structure and is replaced in the text, so that the words arrive as written.
        const FACTORY: &str = "placeholder-of-the-factory";
        const OF_STEP: &str = "placeholder-of-the-step";
        let mut structure = settings.clone();
        if self.sandbox_text.is_some() {
            structure["sandbox"] = json!(FACTORY);
        }
        if self.step_sandbox_text.is_some() {
            structure["steps"][STEP]["sandbox"] = json!(OF_STEP);
        }
        let mut text = crate::yaml::emit(&structure);
        if let Some(block) = &self.sandbox_text {
            text = text.replace(FACTORY, block.trim());
        }
        if let Some(value) = &self.step_sandbox_text {
            text = text.replace(OF_STEP, value);
        }
        Some(text.into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_the_documented_shape() {
        let mut plan = Plan::default();
        plan.block().insert("mode".into(), json!("required"));
        plan.allow("a.example");
        let settings = plan.settings(|name| format!("/src/{name}"));
        assert_eq!(
            crate::yaml::emit(&settings),
            "repos:\n  demo:\n    path: \"/src/demo\"\nsandbox:\n  egress:\n    allow: [\"a.example\"]\n  mode: required\nsteps:\n  probe:\n    repos: [\"demo\"]\n    run: [\"/bin/true\"]\n"
        );
        assert!(plan.raw(&settings).is_none());
    }

    #[test]
    fn raw_words_arrive_as_written() {
        let plan = Plan { step_sandbox_text: Some("off".into()), ..Plan::default() };
        let raw = plan.raw(&plan.settings(str::to_owned)).unwrap();
        assert!(String::from_utf8(raw).unwrap().contains("sandbox: off\n"));
    }
}
