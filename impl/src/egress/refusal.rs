//! What a client is told when it is refused: a status, the reason's code in a header, and one line with host, reason and the
//! setting to change. Never an address that the client did not write itself: a refusal teaches nothing of the network outside.

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::coming::REFUSAL;
use super::head::Target;
use super::log::Failure;
use super::policy::Denial;

/// The body of every answer.
pub type Body = BoxBody<Bytes, hyper::Error>;

/// A whole answer instead of the origin's.
pub type Refused = Box<Response<Body>>;

/// The answer to a request that is not allowed; without a target where it had none.
pub fn denied(denial: Denial, target: Option<&Target>) -> Refused {
    let text = match target {
        Some(target) => format!("kusaw: {} {}", target.place(), told(denial, target)),
        None => format!("kusaw: this is a proxy for CONNECT and http:// requests ({}).", denial.code()),
    };
    response(denial.status(), denial.code(), text)
}

fn told(denial: Denial, target: &Target) -> String {
    let code = denial.code();
    match denial {
        Denial::NotAllowed | Denial::PortNotAllowed => {
            format!("is blocked ({code}). To allow it: sandbox.egress.allow: [\"{}\"] in kusaw.yaml.", target.place())
        }
        Denial::PrivateAddress => format!(
            "is blocked ({code}): it leads to an address that is not public. To allow it, add that address itself to \
             sandbox.egress.allow in kusaw.yaml."
        ),
        Denial::OwnListener => format!("is blocked ({code}): kusaw itself listens there."),
        Denial::AttemptEnded => format!("is refused ({code}): the attempt is over."),
        _ => format!("is refused ({code})."),
    }
}

/// The answer to an allowed request whose target did not answer.
pub fn failed(failure: Failure, target: &Target) -> Refused {
    let (status, code) = match failure {
        Failure::Dns => (502, "dns-failure"),
        Failure::Connect => (502, "connect-failed"),
        Failure::Timeout => (504, "connect-timeout"),
        Failure::Upstream => (502, "upstream-error"),
    };
    response(status, code, format!("kusaw: {} could not be reached ({code}).", target.place()))
}

fn response(status: u16, code: &'static str, text: String) -> Refused {
    let body = Full::new(Bytes::from(text + "\n")).map_err(|never| match never {}).boxed();
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::FORBIDDEN);
    let headers = response.headers_mut();
    headers.insert(REFUSAL, HeaderValue::from_static(code));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    Box::new(response)
}

/// Refuses without the HTTP library and closes; a client that does not listen is not waited for.
pub async fn say(mut stream: TcpStream, denial: Denial) {
    let status = StatusCode::from_u16(denial.status()).unwrap_or(StatusCode::BAD_REQUEST);
    let text = format!("kusaw: refused ({}).\n", denial.code());
    let answer = format!(
        "HTTP/1.1 {status}\r\nX-Kusaw-Egress: {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        denial.code(),
        text.len(),
    );
    let _ = stream.try_write(answer.as_bytes());
    let _ = stream.shutdown().await;
    // Unread bytes would turn the close into a reset, and the answer would be lost.
    let _ = stream.try_read(&mut [0; 4 << 10]);
}
