//! What `run` and `serve` say to each other: a length of four bytes, and an object of JSON. Pure; what is malformed is an error
//! value. The number of the protocol is in each, so that two versions can at least tell each other so.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::egress::grant::Grant;
use crate::outcome::{Reason, Refusal};

/// Changes with the meaning of anything here.
pub const PROTOCOL: u32 = 1;

/// Most bytes of an object: settings have at most 1 MiB.
pub const MAX: usize = 4 << 20;

/// What is asked of `serve`, once a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "lowercase")]
pub enum Request {
    /// Answer for an attempt. With it come descriptors: egress.log, events.jsonl, the listeners.
    Attempt {
        /// Its id.
        attempt: String,
        /// What it may reach.
        grant: Grant,
    },
    /// That attempt is over.
    End,
    /// Who are you?
    Status,
}

/// What `serve` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "lowercase")]
pub enum Answer {
    /// The proxy answers for the attempt as long as both keep this connection.
    Admitted,
    /// It does not.
    Refused {
        /// Why.
        why: String,
        /// The reason of the attempt's refusal.
        #[serde(default = "not_taken")]
        reason: Reason,
        /// Instead of the reason's general fix.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fix: Option<String>,
    },
    /// The attempt's summary is written.
    Ended {
        /// What went wrong with its records.
        error: Option<String>,
    },
    /// Who it is.
    Status(Serving),
}

fn not_taken() -> Reason {
    Reason::ServeRefused
}

impl From<Refusal> for Answer {
    fn from(Refusal { reason, detail, fix, .. }: Refusal) -> Answer {
        Answer::Refused { why: detail, reason, fix }
    }
}

/// A `serve` that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Serving {
    /// Its process.
    pub pid: u32,
    /// When it was started: RFC 3339.
    pub since: String,
    /// For how many attempts it answers.
    pub attempts: usize,
}

/// Why bytes are no message of this protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Another version.
    #[error("it speaks protocol {0}, and this kusaw {PROTOCOL}")]
    Protocol(u64),
    /// Nothing that is known.
    #[error("it is no message of kusaw: {0}")]
    Object(String),
}

/// The bytes of a message, with its length before it.
pub fn encode(message: &impl Serialize) -> Vec<u8> {
    let mut object = serde_json::to_value(message).unwrap_or_default();
    object["protocol"] = PROTOCOL.into();
    let text = object.to_string();
    let mut bytes = (text.len() as u32).to_le_bytes().to_vec();
    bytes.extend(text.into_bytes());
    bytes
}

/// The message in an object's bytes.
///
/// # Errors
/// Says what is wrong with them.
pub fn decode<T: DeserializeOwned>(object: &[u8]) -> Result<T, Malformed> {
    let wrong = |e: serde_json::Error| Malformed::Object(e.to_string());
    let mut object: Value = serde_json::from_slice(object).map_err(wrong)?;
    let protocol = object.as_object_mut().and_then(|fields| fields.remove("protocol")?.as_u64());
    match protocol {
        Some(protocol) if protocol == u64::from(PROTOCOL) => serde_json::from_value(object).map_err(wrong),
        Some(other) => Err(Malformed::Protocol(other)),
        None => Err(Malformed::Object("no protocol".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_back_as_it_was() {
        let grant = Grant { entries: vec!["a.example:443".to_string().try_into().unwrap()], ..Grant::default() };
        for request in [Request::Attempt { attempt: "a".into(), grant }, Request::End, Request::Status] {
            let bytes = encode(&request);
            assert_eq!(u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize, bytes.len() - 4);
            assert_eq!(decode(&bytes[4..]), Ok(request));
        }
        let serving = Serving { pid: 1, since: "s".into(), attempts: 2 };
        let refused = Refusal { fix: Some("f".into()), ..Refusal::new(Reason::NoSecret, "d") };
        for answer in [Answer::Admitted, Answer::Ended { error: None }, Answer::Status(serving), refused.into()] {
            assert_eq!(decode(&encode(&answer)[4..]), Ok(answer));
        }
        for odd in [
            r#"{"protocol":1,"answer":"refused","why":"w"}"#,
            r#"{"protocol":1,"answer":"refused","why":"w","reason":"new"}"#,
        ] {
            let refused = Answer::Refused { why: "w".into(), reason: Reason::ServeRefused, fix: None };
            assert_eq!(decode(odd.as_bytes()), Ok(refused));
        }
    }

    #[test]
    fn what_is_not_a_message_is_told_apart() {
        assert_eq!(decode::<Request>(br#"{"protocol":2,"ask":"new"}"#), Err(Malformed::Protocol(2)));
        for odd in ["", "null", "[]", "{}", "{\"ask\":\"end\"}", r#"{"protocol":1,"ask":"other"}"#, "\u{0}"] {
            assert!(matches!(decode::<Request>(odd.as_bytes()), Err(Malformed::Object(_))), "{odd}");
        }
        let unknown = br#"{"protocol":1,"ask":"attempt","attempt":"a","grant":{"entries":[],"more":1}}"#;
        assert!(decode::<Request>(unknown).is_err(), "a grant that is not understood whole");
    }
}
