//! What one attempt may reach through a proxy: a plain value. `kusaw run` makes it from the settings; whoever hosts the
//! attempt's proxy, `run` itself or `serve`, carries it out and knows nothing else of the settings.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

use super::entry::{Entry, Hosts};
use super::host::Host;
use super::inject::route::Route;

/// The port the proxy answers on, on the loopback of the step's own network namespace.
pub const PROXY_PORT: u16 = 3128;

/// One attempt's permissions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// The allowlist: the factory's, the step's, the provider's.
    pub entries: Vec<Entry>,
    /// Whether the name in a ClientHello must be that of its tunnel.
    #[serde(default)]
    pub sni: Sni,
    /// Keys that are added outside; the secrets' names only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inject: Vec<Route>,
}

/// What is done with the server name of a ClientHello: `egress.sni` in the settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Sni {
    /// One that is not the tunnel's host ends the tunnel.
    #[default]
    Check,
    /// Nothing.
    Off,
}

impl Sni {
    /// Whether names are looked at.
    pub fn is_checked(self) -> bool {
        self == Sni::Check
    }
}

/// What a listener inside is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// CONNECT and absolute-form requests.
    Proxy,
    /// This port of the host's loopback, byte for byte.
    Lease(u16),
    /// The injected providers, for the clients that are told this address in place of theirs.
    Inject,
}

impl Grant {
    /// Ports to listen on inside and what each is for: the proxy's first, then each that an entry `localhost:PORT` names.
    /// Clients go to loopback directly (NO_PROXY), so a named port must answer there.
    pub fn listeners(&self) -> Vec<(u16, Role)> {
        let mut listeners = vec![(PROXY_PORT, Role::Proxy)];
        for port in self.local_ports() {
            if !listeners.contains(&(port, Role::Lease(port))) {
                listeners.push((port, Role::Lease(port)));
            }
        }
        if let Some(port) = self.inject_port() {
            listeners.push((port, Role::Inject));
        }
        listeners
    }

    /// The port that injected providers answer on: the first behind the proxy's that no entry names.
    pub fn inject_port(&self) -> Option<u16> {
        let mut free = (PROXY_PORT + 1..).filter(|port| self.local_ports().all(|named| named != *port));
        free.next().filter(|_| !self.inject.is_empty())
    }

    /// The ports that entries name on localhost.
    pub fn local_ports(&self) -> impl Iterator<Item = u16> {
        let localhost = Hosts::Exactly(Host::Name("localhost".into()));
        self.entries.iter().filter(move |entry| entry.hosts == localhost).filter_map(|entry| entry.port)
    }
}
