//! A document's original file.
use axum::body::Body;
use axum::http::header::{
    CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
};
use axum::http::{HeaderValue, Response};
use percent_encoding::utf8_percent_encode;
use tokio::io::AsyncReadExt as _;

use crate::access::{MayAskDocuments, run_queued};
use crate::documents::{IN_NAMES, document_id, find_upload};
use crate::json::Part;
use crate::problem::Problem;

/// Bytes read at a time.
const BUFFER: usize = 64 * 1024;

/// Download a document's original file. It is always sent as an attachment, so that nothing in it
/// is displayed as a page of this server.
#[utoipa::path(get, path = "/api/v1/documents/{id}/file", tag = "documents",
    params(("id" = String, Path, description = "An id or a name")),
    responses(
        (status = 200, description = "The file", content(
            (Vec<u8> = "application/octet-stream"), (String = "text/plain; charset=utf-8"),
            (Vec<u8> = "application/pdf"), (Vec<u8> = "image/png"), (Vec<u8> = "image/jpeg"))),
        (status = 404, body = Problem)))]
pub(crate) async fn file(
    MayAskDocuments(caller): MayAskDocuments,
    Part(id): Part<String>,
) -> Result<Response<Body>, Problem> {
    let original = run_queued(caller, move |caller| {
        let engine = caller.workspace.engine();
        let name = match (find_upload(&engine, &id), document_id(&engine, &id)) {
            (Some(upload), _) => upload.name,
            (None, Ok(document)) => engine.base().inspector().show(&document)?.node.document,
            // Of an upload that is not built yet the name is known as well.
            (None, Err(problem)) => engine.originals().get(&id).ok_or(problem)?.name,
        };
        let path = engine.originals().find(&name);
        let path = path.ok_or_else(|| {
            Problem::not_found("original file of this document on the server")
                .hint("it was indexed from elsewhere; its text can still be read")
        })?;
        Ok((name, path))
    });
    let (name, path) = original.await?;
    let gone = |_| Problem::not_found("such file; it has been removed");
    let file = tokio::fs::File::open(&path).await.map_err(gone)?;
    let bytes = file.metadata().await.map_err(gone)?.len();
    let mut response = Response::new(Body::from_stream(pieces(file)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type(&name)));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes));
    headers
        .insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox"));
    if let Ok(disposition) = HeaderValue::from_str(&disposition(&name)) {
        headers.insert(CONTENT_DISPOSITION, disposition);
    }
    Ok(response)
}

fn pieces(
    file: tokio::fs::File,
) -> impl futures::Stream<Item = std::io::Result<axum::body::Bytes>> {
    futures::stream::try_unfold(file, |mut file| async {
        let mut piece = vec![0; BUFFER];
        let read = file.read(&mut piece).await?;
        piece.truncate(read);
        Ok((read > 0).then(|| (axum::body::Bytes::from(piece), file)))
    })
}

/// Media types whose content a browser does not execute; anything else is plain bytes.
fn media_type(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
    match extension.as_deref() {
        Some("pdf") => "application/pdf",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("md" | "txt" | "csv" | "tsv") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// The name is encoded as in RFC 5987, so that no character of it can end the header.
fn disposition(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    format!("attachment; filename*=UTF-8''{}", utf8_percent_encode(last, IN_NAMES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_break_out_of_its_header() {
        assert_eq!(
            disposition("x/a \"b\"\r\nü.md"),
            "attachment; filename*=UTF-8''a%20%22b%22%0D%0A%C3%BC.md"
        );
    }

    #[test]
    fn executable_content_has_no_media_type_of_its_own() {
        for name in ["a.html", "a.svg", "a.js", "a.xml", "a", "a.PDF.htm"] {
            assert_eq!(media_type(name), "application/octet-stream", "{name}");
        }
        assert_eq!(media_type("A.PDF"), "application/pdf");
    }
}
