//! A route with its key: read once from the store, and written into one header of each request.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use hyper::body::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use zeroize::Zeroizing;

use super::route::Route;
use super::upstream::Upstream;
use crate::outcome::{Reason, Refusal};
use crate::store::name::to_set;
use crate::store::{Fault, Secret, Store};

/// One injected provider. Dropped, the key's bytes here are overwritten.
pub struct Keyed {
    /// Where requests go, and how the key is written there.
    pub route: Route,
    /// The header that holds it.
    pub header: HeaderName,
    /// The way there.
    pub upstream: Upstream,
    /// The key.
    pub key: Secret,
    /// Requests whose head went out with the key.
    pub requests: Arc<AtomicU64>,
}

impl Keyed {
    /// Reads the route's key.
    ///
    /// # Errors
    /// A refusal that says why it cannot be had, or not be sent.
    pub fn open(route: &Route, store: &Store) -> Result<Keyed, Refusal> {
        let wrong = |what: &str| Refusal::new(Reason::BadSettings, format!("inject {}: {what}", route.name));
        let key = store.get(&route.secret).map_err(|fault| unusable(route, fault))?;
        let header = route.header.parse().map_err(|_| wrong("no header"))?;
        let upstream = Upstream::new(&route.upstream)?;
        let keyed = Keyed { route: route.clone(), header, upstream, key, requests: Arc::default() };
        match keyed.value().filter(|_| !keyed.key.expose().is_empty()) {
            Some(_) => Ok(keyed),
            None => {
                Err(unusable(route, Fault::Damaged(format!("secret {}: it cannot stand in a header", route.secret))))
            }
        }
    }

    /// The header's value; its bytes are overwritten when the last copy of it is dropped.
    pub fn value(&self) -> Option<HeaderValue> {
        let (before, behind) = self.route.format.split_once("{}")?;
        let parts = [before.as_bytes(), self.key.expose(), behind.as_bytes()];
        // Its full size at once: a buffer that grows leaves copies behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(parts.iter().map(|part| part.len()).sum()));
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        HeaderValue::from_maybe_shared(Bytes::from_owner(Wiped(bytes))).ok()
    }
}

fn unusable(route: &Route, fault: Fault) -> Refusal {
    let reason = if matches!(fault, Fault::Missing(_)) { Reason::NoSecret } else { Reason::SecretStore };
    let fix = match &fault {
        Fault::Missing(_) | Fault::Damaged(_) => Some(to_set(&route.secret)),
        Fault::Key(_) => Some("bring it back, or remove the store and keys folders and set every secret again".into()),
        Fault::Unreadable(_) => None,
    };
    Refusal { fix, ..Refusal::new(reason, format!("inject {}: {fault}", route.name)) }
}

struct Wiped(Zeroizing<Vec<u8>>);

impl AsRef<[u8]> for Wiped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
