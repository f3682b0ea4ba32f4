//! Whether a base is whole: every edge has both ends, every vector its node, every index entry its
//! node, every span lies inside its document, and names are kept as they were extracted.
use std::collections::BTreeSet;

use halma_core::Layer;
use halma_store::{State, damage};
use serde::Serialize;

use super::Inspector;
use super::records::Records;
use crate::KbError;
use crate::base::WriterLock;
use crate::extract::{Names, check_names, mark_names_damaged};
use crate::store::{At, CheckedCounts, LOST_VECTOR, Row, StoreReader, node_id, searched};

/// At most this many problems are listed; the rest is counted.
const LISTED: usize = 1000;

const EMBED_AGAIN: &str = "run `halma index` again: it embeds the text again";
const INDEX_AGAIN: &str = "delete the document with `halma kb delete` and index it again";
const NAMES_AGAIN: &str = "run `halma index` again: it makes the index of names again and resolves all entities; no model \
     is asked what it was asked before";
const REBUILD: &str = "delete the folder `bm25` in the base; the next command builds it again";
const REINDEX: &str = "run `halma index` again; if it stays, index into a new folder";

/// What `verify` found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verified {
    pub nodes: u64,
    pub edges: u64,
    pub vectors: u64,
    /// Entries of the lexical indexes.
    pub index_entries: u64,
    pub problems: Vec<Problem>,
    /// Problems that are not among them, because there are too many.
    pub more: u64,
}

impl Verified {
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    pub(super) fn add(&mut self, problem: Problem) {
        if self.problems.len() < LISTED {
            self.problems.push(problem);
        } else {
            self.more += 1;
        }
    }
}

/// Something in a base that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Id of the node, its layer and row where the id cannot be read, or the name of a file.
    pub id: String,
    /// The document it belongs to, where that is known.
    pub document: Option<String>,
    pub what: String,
    /// What to do about it.
    pub hint: &'static str,
}

impl Problem {
    /// Whether it is about the index of names alone, which is made again of everything else.
    pub(crate) fn is_of_names(&self) -> bool {
        self.hint == NAMES_AGAIN
    }
}

impl Inspector<'_> {
    /// Looks at everything in the base. Waits for a build that is running. An error means that it
    /// could not be looked at; what does not fit is in the result.
    pub fn verify(&self) -> Result<Verified, KbError> {
        let _lock = if self.base.store.is_writable() {
            Some(WriterLock::take_for(&self.base.dir, &self.base.store)?)
        } else {
            None
        };
        let mut verified = Verified::default();
        let mut lost_vectors = false;
        self.base.store.read(|reader| {
            let mut problems = vec![];
            let mut report = |at: Option<At>, what: String| problems.push((at, what));
            let CheckedCounts { nodes, edges, vectors } = reader.check(&mut report)?;
            Records::new(reader, &mut report).check()?;
            (verified.nodes, verified.edges, verified.vectors) = (nodes, edges, vectors);
            for (at, what) in problems {
                let lost = what.ends_with(LOST_VECTOR);
                lost_vectors |= lost;
                let hint = if lost { EMBED_AGAIN } else { INDEX_AGAIN };
                verified.add(Self::problem(reader, at, what, hint));
            }
            Ok(())
        })?;
        let damage = damage(&self.base.dir.join(State::FILE));
        if let Some(reason) = damage.unwrap_or_else(|e| Some(e.to_string())) {
            let (id, what) = (State::FILE.to_owned(), format!("it cannot be read: {reason}"));
            verified.add(Problem { id, document: None, what, hint: State::REPAIR });
        }
        self.verify_names(&mut verified)?;
        if lost_vectors && self.base.store.is_writable() {
            self.base.store.write_here(|writer| writer.note_unreadable_vectors())?;
        }
        for layer in Layer::ALL.into_iter().filter(|layer| searched(*layer)) {
            self.verify_index(layer, &mut verified)?;
        }
        Ok(verified)
    }

    /// What is kept of names is what was extracted. If not, the next build makes it again.
    fn verify_names(&self, verified: &mut Verified) -> Result<(), KbError> {
        let store = &self.base.store;
        let names = store.read(|reader| {
            let mut problems = vec![];
            let names = check_names(reader, &mut |at, what| problems.push((at, what)))?;
            if names == Names::Doubted {
                problems.push((None, "the index of names was found damaged before".to_owned()));
            }
            for (at, what) in problems {
                let problem = Self::problem(reader, at, what, NAMES_AGAIN);
                verified.add(Problem { hint: NAMES_AGAIN, ..problem });
            }
            Ok(names)
        })?;
        if names == Names::Damaged && store.is_writable() {
            store.write_here(mark_names_damaged)?;
        }
        Ok(())
    }

    /// Every searched node has its entry, and every entry its node.
    fn verify_index(&self, layer: Layer, verified: &mut Verified) -> Result<(), KbError> {
        let index = self.base.lexical_on_disk(layer)?;
        index.reload()?;
        let indexed = index.rows()?;
        verified.index_entries += indexed.len() as u64;
        let unique: BTreeSet<Row> = indexed.iter().copied().collect();
        self.base.store.read(|reader| {
            let rows: BTreeSet<Row> = reader.all_rows(layer)?.into_iter().collect();
            for row in rows.difference(&unique) {
                let what = "the lexical index does not hold it".to_owned();
                verified.add(Self::problem(reader, Some((layer, *row)), what, REBUILD));
            }
            for row in unique.difference(&rows) {
                let what = "the lexical index holds it, and the node is missing".to_owned();
                verified.add(Self::problem(reader, Some((layer, *row)), what, REBUILD));
            }
            if indexed.len() > unique.len() {
                let twice = indexed.len() - unique.len();
                let what = format!("the lexical index of {layer:?} holds {twice} nodes twice");
                verified.add(Self::problem(reader, None, what, REBUILD));
            }
            for row in reader.tombstones(layer)? {
                let what = "the lexical index still has to forget it".to_owned();
                verified.add(Self::problem(reader, Some((layer, row)), what, REINDEX));
            }
            Ok(())
        })
    }

    fn problem(
        reader: &StoreReader<'_>,
        at: Option<At>,
        what: String,
        hint: &'static str,
    ) -> Problem {
        let Some((layer, row)) = at else {
            return Problem { id: String::new(), document: None, what, hint: REINDEX };
        };
        // What cannot be read has no id; that is what is being reported.
        let id = reader.id_of((layer, row)).ok().flatten();
        let id = match id {
            Some(id) => node_id(layer, id).0,
            None => format!("{} in row {row}", layer.name()),
        };
        let document = reader.document_of((layer, row)).ok().flatten();
        let document = document.and_then(|record| record.names.into_iter().next());
        Problem { id, document, what, hint }
    }
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
