//! The same command without any sandbox: what a control compares with.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::order::Order;
use super::{Launch, Launcher, Live, environment};
use crate::driver::Templates;
use crate::lab::home;
use crate::plan::Plan;

impl Launcher<'_> {
    /// Runs the same command without any sandbox, as the same user, in the repository itself.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn bare(&self, command: &[String], nonce: &str) -> Result<Launch, String> {
        self.bare_from(command, nonce, None, None).await
    }

    /// The same, with the descriptors that the plan's caller has.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn bare_with(&self, command: &[String], nonce: &str, plan: &Plan) -> Result<Launch, String> {
        self.bare_from(command, nonce, Some(plan), None).await
    }

    /// The same, and tells the process while it runs.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn bare_live(&self, command: &[String], nonce: &str, plan: &Plan, live: &Live) -> Result<Launch, String> {
        self.bare_from(command, nonce, Some(plan), Some(live)).await
    }

    /// Runs a command without any sandbox elsewhere, with more variables.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn bare_at(
        &self,
        command: &[String],
        nonce: &str,
        plan: &Plan,
        cwd: &Path,
        variables: Vec<(String, String)>,
    ) -> Result<Launch, String> {
        let mut environment = environment::of_user();
        environment.extend(variables);
        self.start(Order {
            argv: command.to_vec(),
            command: command.to_vec(),
            cwd: cwd.to_owned(),
            environment,
            fault: None,
            name: nonce,
            templates: std::rc::Rc::new(Templates::new(json!({}))),
            factory: cwd.to_owned(),
            plan: Some(plan),
            live: None,
        })
        .await
    }

    async fn bare_from(
        &self,
        command: &[String],
        nonce: &str,
        plan: Option<&Plan>,
        live: Option<&Live>,
    ) -> Result<Launch, String> {
        let cwd = PathBuf::from(home::REPOSITORIES).join("demo");
        let templates = std::rc::Rc::new(Templates::new(json!({})));
        let (argv, command) = (command.to_vec(), command.to_vec());
        let factory = cwd.clone();
        self.start(Order {
            argv,
            command,
            cwd,
            environment: environment::of_user(),
            fault: None,
            name: nonce,
            templates,
            factory,
            plan,
            live,
        })
        .await
    }
}
