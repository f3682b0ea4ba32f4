//! Reading the fields of a form.
use axum::extract::multipart::{Field, MultipartError};

use crate::problem::Problem;

pub(super) async fn read_text(
    mut field: Field<'_>,
    name: &str,
    most: usize,
) -> Result<String, Problem> {
    let mut bytes = vec![];
    while let Some(piece) = next_piece(&mut field).await? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > most {
            return Err(Problem::unfit(format!("`{name}` is too long")));
        }
    }
    String::from_utf8(bytes).map_err(|_| Problem::unfit(format!("`{name}` is not UTF-8")))
}

pub(super) async fn next_piece(
    field: &mut Field<'_>,
) -> Result<Option<axum::body::Bytes>, Problem> {
    field.chunk().await.map_err(|e| form_problem(&e))
}

pub(super) fn form_problem(error: &MultipartError) -> Problem {
    Problem::new(error.status(), error.body_text()).hint("send the request again")
}
