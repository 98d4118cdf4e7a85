//! The DNS server of the world: A records for the names of the lab, NXDOMAIN for the rest.

use std::io;
use std::net::Ipv4Addr;

use hickory_proto::op::{Message, MessageType, Query, ResponseCode};
use hickory_proto::rr::rdata::A;
use hickory_proto::rr::{RData, Record, RecordType};
use tokio::net::UdpSocket;

use crate::lab::network;

/// Seconds an answer may be kept: none.
const TTL: u32 = 0;

/// The socket it answers on: UDP, port 53.
pub async fn bind() -> io::Result<UdpSocket> {
    UdpSocket::bind((network::DNS, 53)).await
}

/// Answers for ever.
pub async fn serve(socket: UdpSocket) -> io::Result<()> {
    let mut buffer = [0u8; 512];
    loop {
        let (length, client) = socket.recv_from(&mut buffer).await?;
        let Ok(query) = Message::from_vec(&buffer[..length]) else {
            continue;
        };
        if let Ok(bytes) = answer(&query).to_vec() {
            socket.send_to(&bytes, client).await?;
        }
    }
}

fn answer(query: &Message) -> Message {
    let mut reply = Message::response(query.metadata.id, query.metadata.op_code);
    reply.metadata.message_type = MessageType::Response;
    reply.metadata.recursion_desired = query.metadata.recursion_desired;
    reply.metadata.recursion_available = true;
    for question in &query.queries {
        reply.add_query(question.clone());
        match lookup(question) {
            Some(address) if question.query_type() == RecordType::A => {
                reply.add_answer(Record::from_rdata(question.name().clone(), TTL, RData::A(A(address))));
            }
            Some(_) => {} // the name exists, this type does not: an empty answer
            None => reply.metadata.response_code = ResponseCode::NXDomain,
        }
    }
    reply
}

fn lookup(question: &Query) -> Option<Ipv4Addr> {
    let name = question.name().to_ascii().to_ascii_lowercase();
    address(name.trim_end_matches('.'))
}

/// The zone: one allowed name, the providers' names, and everything else below `.example`.
pub fn address(name: &str) -> Option<Ipv4Addr> {
    match name {
        "allowed.example" => Some(network::ALLOWED),
        "private.example" => Some(network::PRIVATE),
        "api.anthropic.com" | "api2.cursor.sh" => Some(network::PROVIDER),
        _ if name.ends_with(".example") && !name.starts_with("unknown.") => Some(network::BLOCKED),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zone() {
        assert_eq!(address("allowed.example"), Some(network::ALLOWED));
        assert_eq!(address("h7.blocked.example"), Some(network::BLOCKED));
        assert_eq!(address("unknown.example"), None);
        assert_eq!(address("example.org"), None);
    }
}
