//! Bodies of requests that must have come at some time.
use std::time::Duration;

use axum::body::Body;
use futures::StreamExt as _;
use tokio::time::{Instant, timeout_at};

/// Time that a client has to send a body, however it is cut into pieces.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_mins(1);

/// A body that fails when it has not come as a whole within a time from now.
pub(crate) fn within(body: Body, limit: Duration) -> Body {
    let until = Instant::now() + limit;
    let next = move |mut pieces: axum::body::BodyDataStream| async move {
        match timeout_at(until, pieces.next()).await {
            Ok(Some(Ok(piece))) => Ok(Some((piece, pieces))),
            Ok(Some(Err(error))) => Err(std::io::Error::other(error)),
            Ok(None) => Ok(None),
            Err(_) => Err(std::io::ErrorKind::TimedOut.into()),
        }
    };
    Body::from_stream(futures::stream::try_unfold(body.into_data_stream(), next))
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    /// A body of one byte every 20 seconds.
    fn slow(bytes: u8) -> Body {
        let pieces = futures::stream::iter(0..bytes).then(|byte| async move {
            tokio::time::sleep(Duration::from_secs(20)).await;
            Ok::<_, std::io::Error>(vec![byte])
        });
        Body::from_stream(pieces)
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_comes_byte_by_byte_is_cut_off() {
        let whole = to_bytes(within(slow(2), BODY_TIMEOUT), 100).await.unwrap();
        assert_eq!(whole.as_ref(), [0, 1]);
        assert!(to_bytes(within(slow(100), BODY_TIMEOUT), 100).await.is_err());
    }
}
