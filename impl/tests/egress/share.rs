//! What one attempt may take of its process, so that it holds up no other: look-ups that do not end, addresses that do not answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::world::{LONG, NOWHERE, World, allow};

/// Waits until this holds.
async fn until(holds: impl Fn() -> bool) {
    let patience = Instant::now() + LONG;
    while !holds() {
        assert!(Instant::now() < patience, "it never came about");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn connect(world: &World, host: &str) -> String {
    world.ask(&format!("CONNECT {host}:443 HTTP/1.1\r\n\r\n")).await.short()
}

#[tokio::test]
async fn look_ups_that_do_not_end_hold_up_their_own_attempt_only() {
    let mut setup = allow(&["*.slow.example"]).limits(|l| (l.dns, l.lookups_each) = (Duration::from_millis(200), 3));
    let names: Vec<String> = (0..6).map(|n| format!("n{n}.slow.example")).collect();
    for name in &names {
        setup = setup.answer(name, &[&["93.184.216.34"]]);
    }
    let world = setup.start().await;
    let mut other = allow(&["a.example"]).answer("a.example", &[&["93.184.216.34"]]);
    other.shared = Some(Arc::clone(&world.attempt.shared));
    let free = || world.attempt.shared.lookups.available_permits();
    let all = free();
    // Each has been given up when it is answered; the look-ups of three go on.
    for name in &names {
        assert_eq!(connect(&world, name).await, "502 dns-failure");
    }
    assert_eq!(*world.outside.lookups.lock().unwrap(), names[..3], "no further one has begun");
    assert_eq!(free(), all - 3, "the places are held as long as the look-ups last");
    // The other attempt asks the network of the first: that is the process's.
    let other = other.start().await;
    assert_eq!(
        connect(&other, "a.example").await,
        "502 dns-failure",
        "it is not known there, and was asked for at once"
    );
    assert_eq!(world.outside.lookups.lock().unwrap()[3..], ["a.example"]);
    world.outside.slow.add_permits(1);
    until(|| free() == all).await;
    assert_eq!(connect(&world, "n4.slow.example").await, "200");
}

#[tokio::test]
async fn few_addresses_are_tried_at_a_time_and_each_beside_the_first_has_a_place() {
    let nowhere: Vec<String> = (0..12).map(|n| format!("{NOWHERE}{n}")).collect();
    let answer: Vec<&str> = nowhere.iter().map(String::as_str).chain(["93.184.216.34"]).collect();
    let hurried = |l: &mut kusaw::egress::limits::Limits| {
        (l.stagger, l.connect, l.dials) = (Duration::from_millis(1), Duration::from_millis(300), 3);
    };
    let setup = allow(&["a.example"]).answer("a.example", &[&answer]);
    let world = Arc::new(setup.limits(hurried).start().await);
    let places = &world.attempt.shared.places;
    let (all, asking) = (places.available_permits(), world.clone());
    let asked = tokio::spawn(async move { connect(&asking, "a.example").await });
    let dialled = || world.outside.dialled.lock().unwrap().len();
    until(|| dialled() >= 3).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!((dialled(), places.available_permits()), (3, all - 3), "its own place, and two more");
    // Each that has failed makes room for the next: the last one answers.
    assert_eq!(asked.await.unwrap(), "200");
    assert_eq!(dialled(), 13);
    until(|| places.available_permits() == all).await;
}

#[tokio::test]
async fn where_there_is_no_further_place_addresses_are_tried_one_after_the_other() {
    let answer = [&*format!("{NOWHERE}1"), &*format!("{NOWHERE}2"), "93.184.216.34"];
    let hurried = |l: &mut kusaw::egress::limits::Limits| {
        (l.stagger, l.connect, l.connections) = (Duration::from_millis(1), Duration::from_millis(200), 1);
    };
    let world = allow(&["a.example"]).answer("a.example", &[&answer]).limits(hurried).start().await;
    let started = Instant::now();
    assert_eq!(connect(&world, "a.example").await, "200");
    assert!(started.elapsed() >= Duration::from_millis(400), "each had its time: {:?}", started.elapsed());
}

#[tokio::test]
async fn an_address_that_becomes_this_machines_is_not_public_any_more() {
    let world = allow(&["a.example"]).start().await;
    assert_eq!(connect(&world, "a.example").await, "200");
    world.outside.own.lock().unwrap().push("93.184.216.34".parse().unwrap());
    assert_eq!(connect(&world, "a.example").await, "403 private-address");
}
