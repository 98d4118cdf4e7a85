//! Every row of section 4 of docs/egress-policy.md, by its number.

use super::world::{Setup, allow};

const PUBLIC: &str = "allow";

/// Number, entries, request line and headers (`C x` and `G u` as in the document), verdict: status and code, or status alone.
const ROWS: &[(u16, &[&str], &[&str], &str)] = &[
    (1, &["example.com"], &["C EXAMPLE.com:443"], PUBLIC),
    (2, &["Example.COM."], &["C example.com:443"], PUBLIC),
    (3, &["example.com"], &["C example.com.:443"], PUBLIC),
    (4, &["example.com"], &["C example.com..:443"], "400 bad-host"),
    (5, &["*.example.com"], &["C a.example.com:443"], PUBLIC),
    (6, &["*.example.com", "a.b.example.com"], &["C a.b.example.com:443"], PUBLIC),
    (7, &["*.example.com"], &["C example.com:443"], "403 not-allowed"),
    (8, &["*.example.com"], &["C aexample.com:443"], "403 not-allowed"),
    (10, &["*.example.com"], &["C *.example.com:443"], "400 bad-host"),
    (11, &["example.com"], &["C example.com.evil.net:443"], "403 not-allowed"),
    (13, &["example.com:443"], &["C example.com:443"], PUBLIC),
    (14, &["example.com:443"], &["C example.com:8443"], "403 port-not-allowed"),
    (15, &["example.com"], &["C example.com:22"], PUBLIC),
    (16, &["example.com:80"], &["G http://example.com/"], PUBLIC),
    (17, &["example.com:443"], &["G http://example.com/"], "403 port-not-allowed"),
    (18, &["*.example.com:8443"], &["C a.example.com:8443"], PUBLIC),
    (19, &["example.com"], &["C example.com"], "400 bad-request"),
    (
        20,
        &["example.com"],
        &["C example.com:", "C example.com:0", "C example.com:65536", "C example.com:+443", "C example.com:00443"],
        "400 bad-request",
    ),
    (21, &["example.com"], &["C :443"], "400 bad-host"),
    (22, &["example.com"], &["C u:p@example.com:443"], "400 bad-request"),
    (24, &["bücher.example"], &["C xn--bcher-kva.example:443"], PUBLIC),
    (25, &["xn--bcher-kva.example"], &["C bücher.example:443"], "400"),
    (26, &["paypal.example"], &["C xn--pypal-4ve.example:443"], "403 not-allowed"),
    (27, &["example.com"], &["C exa\u{ad}mple.com:443"], "400"),
    (28, &["localhost"], &["C ⓛocalhost:80"], "400"),
    (29, &["127.0.0.1"], &["C １２７.0.0.1:80", "C 127。0。0。1:80"], "400"),
    (30, &["a_b.example.com"], &["C a_b.example.com:443"], PUBLIC),
    (32, &["example.com"], &["C LONG_LABEL.com:443", "C LONG_NAME.com:443"], "400 bad-host"),
    (33, &["1.2.3.4"], &["C 1.2.3.4:443"], PUBLIC),
    (35, &["example.com"], &["C 93.184.216.34:443"], "403 not-allowed"),
    (
        36,
        &["127.0.0.1"],
        &[
            "C 127.1:80",
            "C 0x7f.1:80",
            "C 0x7f000001:80",
            "C 2130706433:80",
            "C 017700000001:80",
            "C 0177.0.0.1:80",
            "C 127.0.0.01:80",
        ],
        "400 bad-host",
    ),
    (37, &["127.0.0.1"], &["C 127.0.0.1.:80"], "400 bad-host"),
    (39, &[], &["C 0:80"], "400 bad-host"),
    (39, &[], &["C 0.0.0.0:80"], "403 private-address"),
    (40, &[], &["C [::1]:80"], "403 private-address"),
    (41, &["[::1]:8080"], &["C [::1]:8080"], PUBLIC),
    (42, &["[::1]"], &["C [0:0:0:0:0:0:0:1]:80"], PUBLIC),
    (43, &["example.com"], &["C ::1:443"], "400"),
    (44, &["[::1]"], &["C [fe80::1%25lo]:80", "C [::1%lo]:80"], "400"),
    (46, &["127.0.0.1"], &["C [::ffff:127.0.0.1]:80"], PUBLIC),
    (47, &[], &["C [::ffff:127.0.0.1]:80"], "403 private-address"),
    (49, &[], &["C [64:ff9b::7f00:1]:80"], "403 private-address"),
    (50, &["n.example"], &["64:ff9b::5db8:d822", "C n.example:443"], PUBLIC),
    (51, &[], &["C [2002:7f00:1::]:80"], "403 private-address"),
    (53, &["n.example"], &["100.64.0.1", "C n.example:443"], "403 private-address"),
    (54, &["n.example"], &["169.254.169.254", "C n.example:80"], "403 private-address"),
    (55, &["169.254.169.254"], &["C 169.254.169.254:80"], PUBLIC),
    (56, &["n.example"], &["168.63.129.16", "C n.example:80"], "403 private-address"),
    (56, &["n.example"], &["100.100.100.200", "C n.example:80"], "403 private-address"),
    (56, &["n.example"], &["fd00:ec2::254", "C n.example:80"], "403 private-address"),
    (57, &["n.example"], &["224.0.0.1", "C n.example:80"], "403 private-address"),
    (57, &["n.example"], &["255.255.255.255", "C n.example:80"], "403 private-address"),
    (57, &["n.example"], &["fd12::1", "C n.example:80"], "403 private-address"),
    (57, &["n.example"], &["fe80::1", "C n.example:80"], "403 private-address"),
    (57, &["n.example"], &["::", "C n.example:80"], "403 private-address"),
    (59, &["n.example"], &["93.184.216.34,127.0.0.1", "C n.example:80"], "403 private-address"),
    (59, &["n.example"], &["127.0.0.1,93.184.216.34", "C n.example:80"], "403 private-address"),
    (63, &["example.com"], &["C example.com:443"], PUBLIC),
    (64, &["n.example", "10.0.0.5:5432"], &["10.0.0.5", "C n.example:5432"], PUBLIC),
    (65, &["n.example"], &["10.0.0.5", "C n.example:5432"], "403 private-address"),
    (66, &["localhost"], &["C localhost:5432", "G http://localhost:3000/"], PUBLIC),
    (66, &["localhost"], &["C localhost:OWN", "C 127.0.0.1:OWN", "G http://localhost:OWN/"], "403 self"),
    (67, &["localhost:5432"], &["C localhost:5433"], "403 port-not-allowed"),
    (68, &["localhost:5432"], &["C 127.0.0.1:5432", "C [::1]:5432"], PUBLIC),
    (69, &["127.0.0.1:5432"], &["C localhost:5432"], PUBLIC),
    (70, &["localhost"], &["C localhost.:80"], PUBLIC),
    (71, &["localhost"], &["C foo.localhost:80"], "403 not-allowed"),
    (72, &["n.example"], &["127.0.0.1", "C n.example:80"], "403 private-address"),
    (74, &["a"], &["C a\0:80", "C a b:80", "C a\t:80", "C a\rb:80", "C a\nb:80"], "400"),
    (75, &["example.com"], &["C exam%70le.com:443", "C a%00.example.com:443"], "400"),
    (76, &["a.example"], &["G http://a.example/\nHost: b.example"], PUBLIC),
    (77, &["a.example"], &["G http://a.example/\nHost: a.example\nHost: b.example"], "400 bad-request"),
    (78, &["a.example"], &["G http://a.example/\n"], "400 bad-request"),
    (79, &["a.example"], &["C a.example:443\nHost: b.example"], PUBLIC),
    (80, &["a.example"], &["G /x"], "400 bad-request"),
    (81, &["a.example"], &["G https://a.example/"], "400 bad-scheme"),
    (82, &["a.example"], &["G ftp://a.example/", "G ws://a.example/"], "400 bad-scheme"),
    (83, &["a.example"], &["OPTIONS *"], "400 bad-request"),
    (83, &["a.example"], &["TRACE http://a.example/"], "400 bad-method"),
    (84, &["a.example"], &["connect a.example:443"], "400 bad-method"),
    (86, &["a.example"], &["G http://u:p@a.example/"], "400 bad-request"),
    (87, &["a.example"], &["C a.example:443\nHost: a\nContent-Length: 3"], "400 bad-request"),
    (87, &["a.example"], &["C a.example:443\nHost: a\nTransfer-Encoding: chunked"], "400 bad-request"),
    (88, &["a.example"], &["C a.example:443 HTTP/1.0"], PUBLIC),
    (94, &["a.example"], &["G http://a.example/\nHost: a\nContent-Length: 3\nContent-Length: 4"], "400"),
    (94, &["a.example"], &["G http://a.example/\nHost: a\nContent-Length: 3, 3"], "400"),
    (94, &["a.example"], &["G http://a.example/\nHost: a\nContent-Length: +3"], "400"),
    (95, &["a.example"], &["G http://a.example/\nHost: a\nTransfer-Encoding: chunked, identity"], "400"),
    (95, &["a.example"], &["G http://a.example/\nHost: a\nTransfer-Encoding: xchunked"], "400"),
    (95, &["a.example"], &["G http://a.example/\nHost: a\nTransfer-Encoding : chunked"], "400"),
    (95, &["a.example"], &["G http://a.example/\nHost: a\nTransfer-Encoding: gzip, chunked"], "501 bad-request"),
    (109, &["a.example:80"], &["C a.example:80"], PUBLIC),
];

/// Rows that are more than one request and one answer, each with the test that shows it.
const ELSEWHERE: &[(u16, &str)] = &[
    (34, "entry::what_is_no_entry_is_an_error"),
    (60, "plain::a_name_is_looked_up_once_a_request_and_judged_each_time"),
    (61, "plain::a_name_is_looked_up_once_a_request_and_judged_each_time"),
    (89, "tunnel::early_bytes_come_first_and_in_order_up_to_a_limit"),
    (90, "plain::each_request_of_a_connection_is_judged_by_itself"),
    (92, "tunnel::bytes_of_a_tunnel_are_nobodys_request"),
    (93, "plain::two_framings_become_one"),
    (97, "plain::bare_line_feeds_and_other_protocols_are_no_request"),
    (98, "plain::bare_line_feeds_and_other_protocols_are_no_request"),
    (99, "plain::headers_of_the_hop_stay_behind"),
    (100, "plain::headers_of_the_hop_stay_behind"),
    (102, "plain::redirects_are_the_clients_business"),
    (103, "plain::odd_answers_are_an_upstream_error"),
    (104, "tunnel::a_clienthello_for_another_host_never_leaves"),
    (105, "tunnel::without_a_name_or_with_an_address_nothing_is_checked"),
    (106, "tunnel::an_encrypted_clienthello_is_judged_by_its_outer_name"),
    (107, "what stands inside TLS is not read: nothing to test"),
    (108, "tunnel::other_protocols_flow_and_a_server_may_speak_first"),
    (110, "features/egress: the sandbox has no other way out"),
    (112, "plain::heads_have_a_size_and_a_time"),
    (113, "log::sixty_hosts_three_times_are_fifty_lines_and_exact_totals"),
    (114, "plain::a_blocked_host_has_one_line_that_is_there_before_the_answer"),
];

#[test]
fn no_row_of_the_document_is_missing() {
    let document = include_str!("../../../docs/egress-policy.md");
    let number = |line: &str| line.strip_prefix("| ")?.split_once(' ')?.0.parse::<u16>().ok();
    let theirs: Vec<u16> = document.lines().filter_map(number).collect();
    assert!(theirs.len() > 80, "{theirs:?}");
    let mut ours: Vec<u16> = ROWS.iter().map(|r| r.0).chain(ELSEWHERE.iter().map(|r| r.0)).collect();
    ours.sort_unstable();
    ours.dedup();
    assert_eq!(ours, theirs);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_row_is_answered_as_the_document_says() {
    let mut wrong = Vec::new();
    for (row, entries, requests, verdict) in ROWS {
        let (answers, requests): (Vec<&str>, Vec<&str>) =
            requests.iter().partition(|r| r.split(',').all(|a| a.parse::<std::net::IpAddr>().is_ok()));
        for request in requests {
            let setup = Setup { own: request.contains("OWN"), ..allow(entries) };
            let answers: Vec<&str> = answers.iter().flat_map(|a| a.split(',')).collect();
            let setup = if answers.is_empty() { setup } else { setup.answer("n.example", &[&answers]) };
            let world = setup.start().await;
            let sent = bytes(request).replace("OWN", &world.address.port().to_string());
            let got = world.ask(&sent).await;
            let right = match *verdict {
                PUBLIC => got.short() == "200" && !world.outside.dialled.lock().unwrap().is_empty(),
                "400" => got.short().starts_with("400"),
                code => got.short() == code,
            };
            let dialled = world.outside.dialled.lock().unwrap().clone();
            if !right || (*verdict != PUBLIC && !dialled.is_empty()) {
                wrong.push(format!("row {row}: {request:?} wants {verdict}, got {} {dialled:?}", got.short()));
            }
            for address in &*answers {
                assert!(!got.body.contains(address), "row {row}: {}", got.body);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The bytes of a request in the document's short form; headers behind line feeds, `Host: x` where none are given.
fn bytes(request: &str) -> String {
    let (line, headers) =
        match request.split_once("\nHost").map(|(l, _)| l.len()).or(request.find("/\n").map(|n| n + 1)) {
            Some(end) => request.split_at(end),
            None => (request, "\nHost: x"),
        };
    let line = line.replace("LONG_LABEL", &"a".repeat(64)).replace("LONG_NAME", &"a.".repeat(127));
    let line = line.strip_prefix("C ").map(|l| format!("CONNECT {l}")).unwrap_or(line);
    let line = line.strip_prefix("G ").map(|l| format!("GET {l}")).unwrap_or(line);
    let version = if line.ends_with("HTTP/1.0") { "" } else { " HTTP/1.1" };
    format!("{line}{version}{}\r\n\r\n", headers.trim_end_matches('\n').replace('\n', "\r\n"))
}
