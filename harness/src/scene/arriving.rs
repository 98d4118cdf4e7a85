//! What arrived in the world and at the host's own services, and what was looked up, as far as it is this scenario's.

use std::net::IpAddr;

use super::Scene;
use crate::lab::on_host::OnHost;
use crate::lab::world::journal::Account;
use crate::lab::world::zone::{self, Answer};

/// A port of a scenario's own: in the world at all special addresses, and on our host.
#[derive(Debug)]
pub struct OwnPort {
    /// The same on both sides.
    pub number: u16,
    /// The service on our host.
    host: OnHost,
}

/// What was seen of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// By the world.
    pub world: Account,
    /// By the service on our host: the addresses that were called.
    pub host: Vec<IpAddr>,
}

impl Seen {
    /// Where a special address was called: in the world at the scenario's port, and on our host.
    pub fn special(&self, port: Option<u16>) -> Vec<IpAddr> {
        let there = self.world.arrivals.iter().filter(|arrival| Some(arrival.to.port()) == port);
        there.map(|arrival| arrival.to.ip()).chain(self.host.iter().copied()).collect()
    }

    /// How many connections came to the addresses of a name.
    pub fn connections(&self, name: &str) -> usize {
        addresses(name).into_iter().map(|address| self.world.at(Some(address)).len()).sum()
    }

    /// The heads of the requests that came to the addresses of a name.
    pub fn requests(&self, name: &str) -> Vec<&str> {
        let at = addresses(name).into_iter().flat_map(|address| self.world.at(Some(address)));
        at.flat_map(|arrival| &arrival.requests).map(String::as_str).collect()
    }
}

/// Where the zone leads a name at first.
pub fn addresses(name: &str) -> Vec<IpAddr> {
    match zone::answer(&name.to_ascii_lowercase(), 0) {
        Answer::Addresses(list) | Answer::Alias(_, list) | Answer::Late(list, _) => list,
        _ => Vec::new(),
    }
}

impl Scene {
    /// Opens a port of the scenario's own.
    ///
    /// # Errors
    /// When the world has none that is free here as well.
    pub async fn open_port(&mut self) -> Result<(), String> {
        let world = &Self::context()?.lab.world;
        for _ in 0..16 {
            let number = world.open().map_err(|e| format!("a port of the world: {e}"))?;
            if let Ok(host) = OnHost::listen(number).await {
                self.port = Some(OwnPort { number, host });
                return Ok(());
            }
        }
        Err("no port of the world is free on the host".to_owned())
    }

    /// What was seen until now.
    ///
    /// # Errors
    /// When the world does not answer.
    pub async fn seen_now(&self) -> Result<Seen, String> {
        let scenario = zone::scenario(&self.nonce).ok_or("the scenario's number is too large for an address")?;
        let ports: Vec<u16> = self.port.iter().map(|port| port.number).collect();
        let world = &Self::context()?.lab.world;
        let world = world.account(scenario, &ports, &self.keys).map_err(|e| format!("what the world has seen: {e}"))?;
        let host = match &self.port {
            Some(port) => port.host.arrivals().await,
            None => Vec::new(),
        };
        Ok(Seen { world, host })
    }

    /// What was seen until the last launch that is judged had ended: controls come later and do not count.
    ///
    /// # Errors
    /// As [`Scene::seen_now`].
    pub async fn seen(&mut self) -> Result<Seen, String> {
        let launches = self.launches.len();
        if let Some((at, seen)) = &self.arrived
            && *at == launches
        {
            return Ok(seen.clone());
        }
        let seen = self.seen_now().await?;
        self.arrived = Some((launches, seen.clone()));
        Ok(seen)
    }
}
