//! Where the files of a request go: each is received, checked, and moved to the originals.
use std::sync::Arc;

use axum::extract::multipart::Field;
use axum::http::StatusCode;
use axum::http::header::CONTENT_DISPOSITION;
use halma_core::text::composed;
use halma_core::{Metadata, MetadataFilter};
use halma_engine::{Engine, ServeConfig, may_hold_records, safe_name};
use percent_encoding::percent_decode_str;
use tempfile::NamedTempFile;

use super::place::ReceivedFile;
use super::reading::ReadTimeout;
use super::writer::BlockWriter;
use super::{AcceptedFile, UploadState};
use crate::access::Caller;
use crate::builds::RefusedFile;
use crate::limits::upload_quota::{NewFile, QuotaLimits, ReceivedBytes};
use crate::problem::Problem;
use crate::workspace::Workspace;

/// Files of more bytes are checked one after the other in a workspace.
const LARGE: u64 = 8_000_000;

/// Where the files of a request go.
pub(super) struct UploadTarget {
    engine: Arc<Engine>,
    /// What the fields of the caller's documents must meet.
    documents: Option<MetadataFilter>,
    workspace: Arc<Workspace>,
    /// Bytes of one file at most.
    max_bytes: u64,
    /// Whether a file of the same name is replaced.
    replace: bool,
}

impl UploadTarget {
    pub(super) fn new(caller: &Caller, max_bytes: u64, replace: bool) -> Self {
        let workspace = Arc::clone(&caller.workspace);
        let engine = workspace.engine();
        Self { engine, documents: caller.documents().cloned(), workspace, max_bytes, replace }
    }

    /// What the workspace may hold. What it holds already, also what the caller does not see, is known
    /// afterwards.
    pub(super) async fn quota(&self, config: &ServeConfig) -> Result<QuotaLimits, Problem> {
        let limits =
            QuotaLimits { files: config.max_workspace_files, bytes: config.max_workspace_bytes };
        let (engine, upload_quota) =
            (Arc::clone(&self.engine), Arc::clone(&self.workspace.upload_quota));
        let look = move || {
            upload_quota.look(engine.originals(), limits);
            Ok(limits)
        };
        self.workspace.requests.run(look).await
    }

    /// Stores one file, or says why it is refused; the outer error ends the request.
    pub(super) async fn store(
        &self,
        mut field: Field<'_>,
        state: &mut UploadState,
    ) -> Result<Result<AcceptedFile, RefusedFile>, Problem> {
        let sent = file_name(&field);
        let folder = &state.place.folder;
        let sent = if folder.is_empty() { sent } else { format!("{folder}/{sent}") };
        // One name for one spelling: some systems write `ü` as two characters.
        let sent = composed(&sent);
        let name = match safe_name(&sent).and_then(distinct_name) {
            Ok(name) => name,
            Err(reason) => {
                self.skip(&mut field, &mut state.timeout).await?;
                return Ok(Err(RefusedFile::new(&sent, reason, "give the file a plain name")));
            }
        };
        let (metadata, former) = match self.look_up(&name, state.place.metadata.clone()).await? {
            Ok(fields) => fields,
            Err(reason) => {
                self.skip(&mut field, &mut state.timeout).await?;
                let hint = "send fields that this key may see, or use a key without conditions";
                return Ok(Err(RefusedFile::new(&name, reason, hint)));
            }
        };
        let receiving = ReceivedBytes::new(&self.workspace.upload_quota, state.quota, former);
        let received = self.receive(&mut field, receiving, &mut state.timeout).await?;
        let Some((file, receiving)) = received else {
            self.skip(&mut field, &mut state.timeout).await?;
            let reason = format!("it is larger than {} bytes", self.max_bytes);
            let hint = "split it, or raise `serve.max_upload_bytes`";
            return Ok(Err(RefusedFile::new(&name, reason, hint)));
        };
        let (engine, workspace) = (Arc::clone(&self.engine), Arc::clone(&self.workspace));
        let (replace, upload, bytes) = (self.replace, name.clone(), receiving.bytes());
        let file = ReceivedFile { file, name, metadata };
        let Workspace { large_files, requests, .. } = &*self.workspace;
        let jobs = if bytes > LARGE { large_files } else { requests };
        let quota = state.quota;
        jobs.run(move || {
            let _receiving = receiving;
            if let Err(refused) = file.check(&engine, replace)? {
                return Ok(Err(refused));
            }
            file.sync()?;
            let new = (engine.originals(), NewFile { name: &upload, bytes });
            // Again, for a file of the same name that was placed meanwhile.
            let place = || match file.check_name(&engine, replace)? {
                Ok(()) => file.move_to_originals(&engine),
                Err(refused) => Ok(Err(refused)),
            };
            let moved = workspace.while_open(|| workspace.upload_quota.place(quota, new, place))?;
            Ok(moved.map(|()| AcceptedFile { name: upload.clone(), bytes, upload }))
        })
        .await
    }

    /// The fields that a file gets, of which `None` leaves those it has, and the bytes of the file that
    /// has its name; or why it is refused.
    async fn look_up(
        &self,
        name: &str,
        sent: Option<Metadata>,
    ) -> Result<Result<(Option<Metadata>, u64), String>, Problem> {
        let (engine, documents) = (Arc::clone(&self.engine), self.documents.clone());
        let name = name.to_owned();
        let look_up = move || {
            let bytes = engine.originals().get(&name).map_or(0, |former| former.bytes);
            let Some(documents) = documents else { return Ok(Ok((sent, bytes))) };
            let fields = restricted_fields(&engine, &documents, (&name, sent));
            Ok(fields.map(|fields| (fields, bytes)))
        };
        self.workspace.writes.run(look_up).await
    }

    /// Writes a file to a temporary one; `None` when it is too large.
    async fn receive(
        &self,
        field: &mut Field<'_>,
        mut receiving: ReceivedBytes,
        timeout: &mut ReadTimeout,
    ) -> Result<Option<(NamedTempFile, ReceivedBytes)>, Problem> {
        let queue = self.workspace.writes.clone();
        let mut file = BlockWriter::create(self.workspace.uploads.clone(), queue).await?;
        while let Some(piece) = timeout.piece(field).await? {
            receiving.add(piece.len() as u64)?;
            if receiving.bytes() > self.max_bytes {
                return Ok(None);
            }
            file.write(&piece).await?;
        }
        Ok(Some((file.finish().await?, receiving)))
    }

    /// Reads to the end of a field, so that the next one can be read. A field that is much too long
    /// ends the request.
    async fn skip(&self, field: &mut Field<'_>, timeout: &mut ReadTimeout) -> Result<(), Problem> {
        let mut bytes = 0;
        while let Some(piece) = timeout.piece(field).await? {
            bytes += piece.len() as u64;
            if bytes > self.max_bytes {
                let detail = format!("a file is much larger than {} bytes", self.max_bytes);
                return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
                    .hint("`serve.max_upload_bytes` is the limit"));
            }
        }
        Ok(())
    }
}

/// The name of a file: that of `filename*`, which can be any (RFC 6266), before that of `filename`.
fn file_name(field: &Field<'_>) -> String {
    let header = field.headers().get(CONTENT_DISPOSITION).and_then(|header| header.to_str().ok());
    // In a quoted name browsers write a quotation mark as `%22`.
    let quoted = || field.file_name().unwrap_or_default().replace("%22", "\"");
    header.and_then(extended_name).unwrap_or_else(quoted)
}

/// The value of `filename*` (RFC 8187), such as `UTF-8''%C3%BC.md`.
fn extended_name(header: &str) -> Option<String> {
    let unquoted: String = header.replace("\\\"", "").split('"').step_by(2).collect();
    let at = unquoted.to_ascii_lowercase().find("filename*=")?;
    let value = unquoted[at..].split(['=', ';']).nth(1)?.trim();
    let (charset, rest) = value.split_once('\'')?;
    let (_language, encoded) = rest.split_once('\'')?;
    let name = percent_decode_str(encoded).decode_utf8().ok()?;
    charset.eq_ignore_ascii_case("utf-8").then(|| name.into_owned())
}

/// Refuses a name that looks like another one: two documents would be listed under one name.
fn distinct_name(name: String) -> Result<String, &'static str> {
    let is_unseen = |c| matches!(c, '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{2060}' | '\u{feff}');
    if name.contains(is_unseen) {
        return Err("the name holds invisible characters");
    }
    if name.split('/').any(|part| part.trim() != part) {
        return Err("a part of the name begins or ends with a space");
    }
    Ok(name)
}

/// The fields of a file of those who see some documents only: they add only such. Files of records are
/// not among them, since each record says its own name.
fn restricted_fields(
    engine: &Engine,
    documents: &MetadataFilter,
    (name, sent): (&str, Option<Metadata>),
) -> Result<Option<Metadata>, String> {
    if may_hold_records(name) {
        return Err("a key for some documents cannot upload files of records".to_owned());
    }
    let given = sent.unwrap_or_else(|| engine.originals().metadata(name).unwrap_or_default());
    let fields = documents.required().overlaid(&given);
    fields.check().map_err(|e| e.to_string())?;
    if documents.admits(&fields) {
        return Ok(Some(fields));
    }
    Err("its fields are outside of the documents that this key may see".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{distinct_name, extended_name};

    #[test]
    fn a_name_of_any_characters_is_read_from_its_own_parameter() {
        let read =
            |parameters: &str| extended_name(&format!("form-data; name=\"file\"; {parameters}"));
        for (parameters, name) in [
            ("filename*=UTF-8''Pr%C3%BCfung.md", "Prüfung.md"),
            ("filename=\"_.md\"; filename*=utf-8'en'%e2%82%ac%20rates.md", "€ rates.md"),
            ("FileName*= Utf-8''a%27b%3Bc.md; filename=x", "a'b;c.md"),
            ("filename*=UTF-8''law%2Frent.md", "law/rent.md"),
        ] {
            assert_eq!(read(parameters).as_deref(), Some(name), "{parameters}");
        }
        for none in [
            "filename=\"a.md\"",
            // Inside of a quoted name it is a part of that.
            "filename=\"a \\\"b\\\"; filename*=UTF-8''c.md\"",
            "filename*=UTF-8''%FF.md; filename=\"a.md\"",
            "filename*=UTF-16''a.md",
            "filename*=a.md",
        ] {
            assert_eq!(read(none), None, "{none}");
        }
    }

    #[test]
    fn names_that_look_like_others_are_refused() {
        for wrong in ["a.md ", " a.md", "law /a.md", "a\u{200b}.md", "a\u{2028}.md", "\u{feff}a.md"]
        {
            assert!(distinct_name(wrong.to_owned()).is_err(), "{wrong:?}");
        }
        for right in ["a b.md", "law/ü.pdf", "می\u{200c}خواهم.md"] {
            assert_eq!(distinct_name(right.to_owned()).as_deref(), Ok(right));
        }
    }
}
