//! Scripted models behind the messages API of a provider: a scenario says which tools its model asks for, one after the other,
//! and what an agent tells it in its requests is kept.
//!
//! The next tool is chosen by the number of results that a request has already: a request that is sent again gets the same
//! answer, and an agent that leaves a result out gets no further.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::http::Request;
use super::origin::Call;

/// A tool that a model asks for: its name, and what the agent gets as its input.
pub type Tool = (String, Value);

/// A request of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Its head, as it came.
    pub head: String,
    /// Its body: all that the model sees.
    pub body: String,
}

/// What became of a tool that a model has asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// What the agent says that it printed.
    pub text: String,
    /// Whether the agent says that it failed.
    pub failed: bool,
}

impl Told {
    /// The results of all tools until then, in order.
    pub fn results(&self) -> Vec<ToolResult> {
        results(&serde_json::from_str(&self.body).unwrap_or_default())
    }
}

/// The models, by scenario.
#[derive(Clone, Debug, Default)]
pub struct Models(Arc<Mutex<HashMap<u16, Model>>>);

#[derive(Clone, Debug, Default)]
struct Model {
    script: Vec<Tool>,
    told: Vec<Told>,
}

/// What a prompt has, so that a provider that scenarios share knows whose model is asked.
pub fn mark(scenario: u16) -> String {
    format!("[conversation s{scenario}]")
}

impl Models {
    /// Gives a scenario a model that asks for these tools, and then ends; it knows of no request.
    pub fn begin(&self, scenario: u16, script: Vec<Tool>) {
        self.lock().insert(scenario, Model { script, told: Vec::new() });
    }

    /// What a scenario's model was told since it began, request by request.
    pub fn told(&self, scenario: u16) -> Vec<Told> {
        self.lock().get(&scenario).map(|model| model.told.clone()).unwrap_or_default()
    }

    /// The tool that a model asks for now; the number of those before. None = it is nobody's.
    fn next(&self, own: Option<u16>, request: &Request) -> Option<(usize, Option<Tool>)> {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let mut models = self.lock();
        let named =
            |models: &HashMap<u16, Model>| models.keys().copied().find(|scenario| body.contains(&mark(*scenario)));
        let model = own.or_else(|| named(&models)).and_then(|scenario| models.get_mut(&scenario))?;
        let done = results(&serde_json::from_str(&body).unwrap_or_default()).len();
        model.told.push(Told { head: request.head.clone(), body });
        Some((done, model.script.get(done).cloned()))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u16, Model>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers as a scenario's model does; false where none is asked.
///
/// # Errors
/// When the client is gone.
pub async fn answer<S: AsyncRead + AsyncWrite + Unpin>(call: &mut Call<S>, request: &Request) -> io::Result<bool> {
    let path = request.path().split('?').next().unwrap_or_default();
    if request.method() != "POST" || !path.ends_with("/v1/messages") {
        return Ok(false);
    }
    let Some((done, tool)) = call.models.next(call.site.scenario, request) else { return Ok(false) };
    let body: String = events(done, tool).iter().map(event).collect();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {}\r\n\r\n", body.len());
    call.stream.write_all(head.as_bytes()).await?;
    call.stream.write_all(body.as_bytes()).await?;
    Ok(true)
}

/// A message as the API streams it: one tool, or the last words.
fn events(done: usize, tool: Option<Tool>) -> Vec<Value> {
    let (block, delta, reason) = match tool {
        Some((name, input)) => (
            json!({"type": "tool_use", "id": format!("toolu_lab_{done}"), "name": name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": input.to_string()}),
            "tool_use",
        ),
        None => {
            (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": "That is all."}), "end_turn")
        }
    };
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let message = json!({
        "id": format!("msg_lab_{done}"), "type": "message", "role": "assistant", "model": "lab", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    vec![
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": usage}),
        json!({"type": "message_stop"}),
    ]
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}

/// The blocks of type `tool_result` of all messages. Their content is a text, or a list of blocks with texts.
fn results(body: &Value) -> Vec<ToolResult> {
    let blocks = |message: &Value| message["content"].as_array().cloned().unwrap_or_default();
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let results = messages.iter().flat_map(blocks).filter(|block| block["type"] == "tool_result");
    let text = |content: &Value| match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    };
    results.map(|block| ToolResult { text: text(&block["content"]), failed: block["is_error"] == true }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(scenario: u16, results: usize) -> Request {
        let result = json!({"type": "tool_result", "content": [{"type": "text", "text": "x"}], "is_error": true});
        let first = json!({"role": "user", "content": mark(scenario)});
        let then = json!({"role": "user", "content": vec![result; results]});
        Request { head: "POST /v1/messages\r\n".into(), body: json!({"messages": [first, then]}).to_string().into() }
    }

    #[test]
    fn the_number_of_results_chooses_the_tool() {
        let models = Models::default();
        let tool = |name: &str| (name.to_owned(), json!({}));
        models.begin(1, vec![tool("Bash"), tool("Read")]);
        models.begin(12, vec![tool("Write")]);
        for (own, scenario, results, name) in [
            (None, 1, 0, Some("Bash")),
            (None, 1, 0, Some("Bash")),
            (None, 1, 1, Some("Read")),
            (None, 1, 2, None),
            (None, 12, 0, Some("Write")),
            (Some(12), 1, 0, Some("Write")),
        ] {
            let (done, tool) = models.next(own, &request(scenario, results)).unwrap();
            assert_eq!((done, tool.as_ref().map(|(name, _)| name.as_str())), (results, name));
        }
        assert!(models.next(None, &request(7, 0)).is_none());
        let told = models.told(1);
        assert_eq!((told.len(), models.told(7).len()), (4, 0));
        assert_eq!(told[3].results(), vec![ToolResult { text: "x".into(), failed: true }; 2]);
        models.begin(1, Vec::new());
        assert!(models.told(1).is_empty());
    }

    #[test]
    fn a_stream_is_as_the_api_documents_it() {
        let words: String = events(0, Some(("Bash".into(), json!({"command": "true"})))).iter().map(event).collect();
        for part in [
            "event: message_start\ndata: {",
            "\"name\":\"Bash\"",
            r#""partial_json":"{\"command\":\"true\"}""#,
            "\"stop_reason\":\"tool_use\"",
            "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        ] {
            assert!(words.contains(part), "{part}: {words}");
        }
        assert!(events(1, None).iter().any(|event| event["delta"]["stop_reason"] == "end_turn"));
    }
}
