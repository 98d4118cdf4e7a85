//! A request's head, as far as the HTTP library lets it through: a target that is granted is in normal form and has a port.
#![no_main]

use hyper::{Method, Request, Uri};
use kusaw::egress::head;
use kusaw::egress::host::Host;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut lines = text.lines();
    let Some((method, uri)) = lines.next().and_then(|line| line.split_once(' ')) else { return };
    let (Ok(method), Ok(uri)) = (method.parse::<Method>(), uri.parse::<Uri>()) else { return };
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        request = request.header(name, value.trim());
    }
    let Ok(request) = request.body(()) else { return };
    let (parts, ()) = request.into_parts();
    let Ok(target) = head::target(&parts.method, &parts.uri) else { return };
    assert_eq!(Host::parse(&target.host.to_string()), Ok(target.host.clone()));
    assert!(target.port > 0);
    let authority = parts.uri.authority().map_or("", |a| a.as_str());
    assert!(!authority.contains(['@', '%', '*', '/']));
    let _ = head::check(&parts, target.via, 8 << 10);
});
