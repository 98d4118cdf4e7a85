//! The API of a provider, by the last part of a request's path: `/echo` gives the request back in the body, `/echo-header` the
//! credentials in a header, `/stream` events that wait for the client, `/moved` sends it on to the origin `evil` of the
//! scenario, `/moved-home` to another path of its own. Where the scenario has a model, it answers `/v1/messages`
//! ([`super::model`]). All else is answered with the token.

use std::io;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::http::{Request, plain};
use super::model;
use super::origin::Call;

/// Headers that hold credentials in the features.
const CREDENTIALS: [&str; 2] = ["x-api-key", "authorization"];

/// How many events a stream has.
const EVENTS: usize = 3;

/// For the client to say that it has an event, before the stream ends without the next.
const PATIENCE: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(5);

/// Answers a request; whether the connection is kept.
pub async fn answer<S: AsyncRead + AsyncWrite + Unpin>(
    call: &mut Call<S>,
    request: &Request,
    kept: bool,
) -> io::Result<bool> {
    if model::answer(call, request).await? {
        return Ok(kept);
    }
    let (token, scenario) = (call.token.clone(), call.site.scenario.unwrap_or_default());
    let path = request.path().split('?').next().unwrap_or_default();
    let moved = |to: &str| (format!("Location: {to}\r\n"), token.clone().into_bytes());
    let (status, (more, body)) = match path.rsplit('/').next().unwrap_or_default() {
        "stream" => return events(call, path).await.map(|()| kept),
        "echo" => {
            ("200 OK", (String::new(), [format!("{token}\n{}", request.head).as_bytes(), &request.body].concat()))
        }
        "echo-header" => {
            let said: String = CREDENTIALS.iter().filter_map(|name| request.header(name)).collect();
            ("401 Unauthorized", (format!("X-Echo: {said}\r\n"), token.into_bytes()))
        }
        "moved" => ("307 Temporary Redirect", moved(&format!("http://s{scenario}.evil.test/moved"))),
        "moved-home" => ("302 Found", moved(&format!("https://s{scenario}.api.test/home"))),
        _ => ("200 OK", (String::new(), token.into_bytes())),
    };
    plain(call, request, status, &more, &body, kept).await?;
    Ok(kept)
}

/// Server-sent events, each sent only when the client has asked for `/seen` since the one before: what is held back on the way
/// never goes on.
async fn events<S: AsyncRead + AsyncWrite + Unpin>(call: &mut Call<S>, path: &str) -> io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    call.stream.write_all(head.as_bytes()).await?;
    let seen = path.replace("/stream", "/seen");
    for n in 1..=EVENTS {
        let event = format!("data: {n} {}\n\n", call.token);
        call.stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).await?;
        call.stream.flush().await?;
        let since = Instant::now();
        while call.journal.asked_for(&call.site, &seen) < n {
            if since.elapsed() > PATIENCE {
                return call.stream.write_all(b"0\r\n\r\n").await;
            }
            tokio::time::sleep(LOOK).await;
        }
    }
    call.stream.write_all(b"0\r\n\r\n").await
}
