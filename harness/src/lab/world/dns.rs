//! The DNS server of the world: answers as the zone says, and notes every question.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use hickory_proto::op::{Message, MessageType, ResponseCode};
use hickory_proto::rr::rdata::{A, AAAA, CNAME};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use tokio::net::UdpSocket;

use super::journal::Journal;
use super::zone::{self, Answer};
use crate::lab::network;

/// Seconds an answer may be kept: none.
const TTL: u32 = 0;

/// The socket it answers on: UDP, port 53.
pub async fn bind() -> io::Result<UdpSocket> {
    UdpSocket::bind((network::DNS, 53)).await
}

/// Answers for ever.
pub async fn serve(socket: UdpSocket, journal: Journal) -> io::Result<()> {
    let socket = Rc::new(socket);
    let mut buffer = [0u8; 4096];
    loop {
        let (length, client) = socket.recv_from(&mut buffer).await?;
        let Ok(query) = Message::from_vec(&buffer[..length]) else {
            continue;
        };
        answer(&query, &socket, client, &journal).await;
    }
}

async fn answer(query: &Message, socket: &Rc<UdpSocket>, client: SocketAddr, journal: &Journal) {
    let Some(question) = query.queries.first() else { return };
    let name = question.name().to_ascii().to_ascii_lowercase();
    let name = name.trim_end_matches('.');
    let times = journal.asked(name, &question.query_type().to_string());
    let mut reply = Message::response(query.metadata.id, query.metadata.op_code);
    reply.metadata.message_type = MessageType::Response;
    reply.metadata.recursion_desired = query.metadata.recursion_desired;
    reply.metadata.recursion_available = true;
    reply.add_query(question.clone());
    let (owner, kind) = (question.name().clone(), question.query_type());
    let mut late = None;
    match zone::answer(name, times) {
        Answer::Addresses(list) => records(&mut reply, &owner, kind, &list),
        Answer::Alias(target, list) => {
            let Ok(target) = Name::from_ascii(format!("{target}.")) else { return };
            reply.add_answer(Record::from_rdata(owner, TTL, RData::CNAME(CNAME(target.clone()))));
            records(&mut reply, &target, kind, &list);
        }
        Answer::Late(list, by) => {
            records(&mut reply, &owner, kind, &list);
            late = Some(by);
        }
        Answer::Nobody => reply.metadata.response_code = ResponseCode::NXDomain,
        Answer::Failed => reply.metadata.response_code = ResponseCode::ServFail,
        Answer::Misplaced(list) => {
            let Ok(other) = Name::from_ascii("another.example.") else { return };
            records(&mut reply, &other, kind, &list);
        }
        Answer::Garbled => {
            let _ = socket.send_to(&garbled(query.metadata.id), client).await;
            return;
        }
    }
    let Ok(bytes) = reply.to_vec() else { return };
    let socket = Rc::clone(socket);
    let send = async move {
        if let Some(by) = late {
            tokio::time::sleep(by).await;
        }
        let _ = socket.send_to(&bytes, client).await; // a client that has gone away is its own affair
    };
    if late.is_some() { drop(tokio::task::spawn_local(send)) } else { send.await }
}

/// The addresses of the family that is asked for; none is an empty answer: the name exists, this type does not.
fn records(reply: &mut Message, owner: &Name, kind: RecordType, list: &[IpAddr]) {
    for address in list {
        let data = match (kind, address) {
            (RecordType::A, IpAddr::V4(address)) => RData::A(A(*address)),
            (RecordType::AAAA, IpAddr::V6(address)) => RData::AAAA(AAAA(*address)),
            _ => continue,
        };
        reply.add_answer(Record::from_rdata(owner.clone(), TTL, data));
    }
}

/// A header that promises records, and bytes that are none.
fn garbled(id: u16) -> Vec<u8> {
    let mut bytes = id.to_be_bytes().to_vec();
    bytes.extend([0x81, 0x80, 0, 1, 0, 9, 0, 0, 0, 0]);
    bytes.extend([0xff; 40]);
    bytes
}
