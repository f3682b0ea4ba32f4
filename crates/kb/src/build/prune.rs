//! Removing documents whose source is gone.
use std::collections::HashSet;

use super::ingest::Ingest;
use crate::read::{Refused, Root, Selection, Walked, file_of, refusal};
use crate::store::{DocumentRecord, FileKey, Row, Store};
use crate::{BuildContext, KbError, Phase, PhaseProgress};

/// Names removed in one transaction.
const BATCH: usize = 2000;

/// A name that a document loses.
struct Lost {
    row: Row,
    name: String,
    origin: String,
    /// Whether the document goes with it.
    goes: bool,
}

/// Removes what came from below the given folders and is not there any more. What could not be
/// looked at (a closed folder, a file that was refused or is left out by the patterns) is kept, and
/// so is all that came from a folder without a file, which may be a disk that is not mounted.
pub(super) fn prune(
    context: &BuildContext,
    ingest: &mut Ingest,
    walked: &Walked,
    selection: &Selection,
) -> Result<(), KbError> {
    let store = context.store();
    let Losses { lost, empty } = losses(store, ingest, walked, selection)?;
    ingest.report.refused.extend(empty.iter().map(|root| refused_removal(root)));
    let total = lost.len();
    let mut done = 0;
    for batch in lost.chunks(BATCH) {
        let going: Vec<String> =
            batch.iter().filter(|lost| lost.goes).map(|lost| lost.name.clone()).collect();
        // Before the documents, by which all that quotes them is found: a run that is killed in
        // between is completed by the next one.
        forget(context, &going)?;
        store.write(|writer| {
            for Lost { row, name, origin, .. } in batch {
                writer.remove_name(*row, name)?;
                writer.forget_file(FileKey::of(origin))?;
            }
            Ok(())
        })?;
        // What was asked and answered meanwhile.
        forget(context, &going)?;
        ingest.report.documents_removed.extend(going);
        done += batch.len();
        (context.progress)(PhaseProgress { phase: Phase::PRUNE, done, total });
    }
    Ok(())
}

fn forget(context: &BuildContext, documents: &[String]) -> Result<(), KbError> {
    if documents.is_empty() {
        return Ok(());
    }
    (context.forget)(documents).map_err(KbError::NotForgotten)
}

/// Why nothing that came from an empty folder is removed.
fn refused_removal(root: &Root) -> Refused {
    let refusal = refusal(
        "there is no file in it, so no document that came from it is removed",
        "check that the folder is mounted; `halma kb delete 'PATTERN'` removes documents that are gone",
    );
    Refused::new(&root.path, None, refusal)
}

/// What the given folders have no more.
struct Losses<'a> {
    lost: Vec<Lost>,
    /// Folders without a file from which documents came; these are kept.
    empty: Vec<&'a Root>,
}

fn losses<'a>(
    store: &Store,
    ingest: &Ingest,
    walked: &'a Walked,
    selection: &Selection,
) -> Result<Losses<'a>, KbError> {
    let refused: HashSet<&std::path::Path> =
        ingest.report.refused.iter().map(|refused| refused.file.as_path()).collect();
    let unread: HashSet<&str> = walked
        .files
        .iter()
        .filter(|file| refused.contains(file.path.as_path()))
        .map(|file| file.origin.as_str())
        .collect();
    let gone = |origin: &str| {
        let root = walked.roots.iter().find(|root| origin.starts_with(&root.origin));
        let Some(root) = root else { return false };
        let origin = file_of(origin);
        selection.takes(&origin[root.origin.len()..])
            && !unread.contains(origin)
            && !walked.closed.iter().any(|closed| origin.starts_with(closed))
    };
    let empty_root = |origin: &str| {
        walked.roots.iter().find(|root| !root.exists && origin.starts_with(&root.origin))
    };
    store.read(|reader| {
        let (mut lost, mut empty) = (vec![], vec![]);
        for node in reader.nodes::<DocumentRecord>()? {
            let (row, record) = node?;
            // Paragraphs of data sets are met without being named.
            let met = ingest.resolver.has_met(record.id);
            let (mut left, first) = (record.names.len(), lost.len());
            for (name, origin) in record.names.iter().zip(&record.origins) {
                let last_of_met = met && left == 1;
                if ingest.resolver.has_given(name) || last_of_met || !gone(origin) {
                    continue;
                }
                if let Some(root) = empty_root(origin) {
                    if !empty.contains(&root) {
                        empty.push(root);
                    }
                    continue;
                }
                left -= 1;
                let (name, origin) = (name.clone(), origin.clone());
                lost.push(Lost { row, name, origin, goes: false });
            }
            if left == 0 {
                lost[first..].iter_mut().for_each(|lost| lost.goes = true);
            }
        }
        Ok(Losses { lost, empty })
    })
}
