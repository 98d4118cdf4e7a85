//! Shared memory, semaphores and message queues, of System V (sysvipc(7)) and of POSIX (mq_overview(7),
//! sem_overview(7)).

mod key;
mod listing;
mod message_queue;
mod named_semaphore;
mod posix_queue;
mod semaphore;
mod shared_memory;

use crate::action::{Entry, boxed};

pub const ACTIONS: &[Entry] = &[
    ("ipcs", |words| boxed(listing::Ipcs::parse(words))),
    ("shm", |words| boxed(shared_memory::Shm::parse(words))),
    ("shm-write", |words| boxed(shared_memory::ShmWrite::parse(words))),
    ("shm-make", |words| boxed(shared_memory::ShmMake::parse(words))),
    ("sem", |words| boxed(semaphore::Sem::parse(words))),
    ("sem-add", |words| boxed(semaphore::SemAdd::parse(words))),
    ("queue", |words| boxed(message_queue::Queue::parse(words))),
    ("queue-send", |words| boxed(message_queue::QueueSend::parse(words))),
    ("mq", |words| boxed(posix_queue::Mq::parse(words))),
    ("mq-send", |words| boxed(posix_queue::MqSend::parse(words))),
    ("sem-named", |words| boxed(named_semaphore::SemNamed::parse(words))),
];
