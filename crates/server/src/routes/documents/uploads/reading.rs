//! Reading the fields of a form from a client that may be slow.
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::multipart::{Field, MultipartError};
use axum::http::StatusCode;
use tokio::time::Instant;

use crate::problem::Problem;

/// A client that sends a form more slowly than this is cut off, after a while that it is given.
const MIN_BYTES_PER_SECOND: u64 = 4096;
const GRACE: Duration = Duration::from_mins(1);

/// Bytes that the beginning of a field counts for.
const FIELD: u64 = 200;

/// How long a client may still take for a form: only the time counts in which it is waited for.
#[derive(Default)]
pub(super) struct ReadTimeout {
    waited: Duration,
    bytes: u64,
}

impl ReadTimeout {
    /// Waits for the client.
    async fn wait<T>(&mut self, sent: impl Future<Output = T>) -> Result<T, Problem> {
        let allowed = GRACE + Duration::from_secs(self.bytes / MIN_BYTES_PER_SECOND);
        let began = Instant::now();
        let sent = tokio::time::timeout(allowed.saturating_sub(self.waited), sent).await;
        self.waited += began.elapsed();
        sent.map_err(|_| {
            Problem::new(StatusCode::REQUEST_TIMEOUT, "the form comes too slowly")
                .hint(format!("send at least {MIN_BYTES_PER_SECOND} bytes a second"))
        })
    }

    /// The next field of a form.
    pub(super) async fn field<'a>(
        &mut self,
        form: &'a mut axum::extract::Multipart,
    ) -> Result<Option<Field<'a>>, Problem> {
        self.bytes += FIELD;
        self.wait(form.next_field()).await?.map_err(|e| form_problem(&e))
    }

    /// The next piece of a field.
    pub(super) async fn piece(&mut self, field: &mut Field<'_>) -> Result<Option<Bytes>, Problem> {
        let piece = self.wait(field.chunk()).await?.map_err(|e| form_problem(&e))?;
        self.bytes += piece.as_ref().map_or(0, |piece| piece.len() as u64);
        Ok(piece)
    }
}

/// A field that is a text of at most some bytes.
pub(super) async fn read_text(
    mut field: Field<'_>,
    (name, limit): (&str, usize),
    timeout: &mut ReadTimeout,
) -> Result<String, Problem> {
    let mut bytes = vec![];
    while let Some(piece) = timeout.piece(&mut field).await? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > limit {
            return Err(Problem::unfit(format!("`{name}` is too long")));
        }
    }
    String::from_utf8(bytes).map_err(|_| Problem::unfit(format!("`{name}` is not UTF-8")))
}

fn form_problem(error: &MultipartError) -> Problem {
    Problem::new(error.status(), error.body_text()).hint("send the request again")
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_form_may_take_a_minute_and_a_second_for_each_4_kb() {
        let mut timeout = ReadTimeout::default();
        for _ in 0..6 {
            timeout.wait(sleep(Duration::from_secs(9))).await.unwrap();
        }
        // What the server does in between does not count.
        sleep(Duration::from_hours(1)).await;
        timeout.bytes += 10 * MIN_BYTES_PER_SECOND;
        timeout.wait(sleep(Duration::from_secs(15))).await.unwrap();
        let late = timeout.wait(sleep(Duration::from_secs(2))).await.unwrap_err();
        assert_eq!(late.status, 408);
    }
}
