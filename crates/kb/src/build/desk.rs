//! What is to be done with a document that comes in: it is known, new, or takes the place of
//! another. Nothing is written here, so that an estimate can ask the same.
use std::collections::{HashMap, HashSet};

use crate::read::Naming;
use crate::store::{DocumentRecord, Id, Reading, Row, Store, hash};

/// A document as it is told apart from others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Incoming<'a> {
    pub(super) id: Id,
    pub(super) name: &'a str,
    pub(super) naming: Naming,
    pub(super) source: &'a str,
    /// The file it comes from.
    pub(super) origin: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The base holds it in this row.
    Known {
        row: Row,
        /// Whether this run sees it for the first time.
        first: bool,
        /// The name it gets, and who has to give it up; `None`: it keeps its names.
        name: Option<(String, Option<Row>)>,
    },
    /// This run has met it before, and nothing is written down (as in an estimate).
    Repeated,
    /// The base has it, but cut with other settings.
    Recut { row: Row, name: String },
    /// The base does not have it; `replaces` is who had its name.
    New { name: String, replaces: Option<Row> },
}

/// What a run of `index` has met so far.
pub(super) struct Desk {
    /// Names the settings that documents are cut with.
    pub(super) cut_with: Id,
    /// Whether verdicts are carried out before the next is asked for.
    writes: bool,
    seen: HashSet<Id>,
    /// Names given in this run, with how often they were asked for.
    asked: HashMap<String, usize>,
    given: HashMap<String, Id>,
}

impl Desk {
    pub(super) fn new(cut_with: Id, writes: bool) -> Self {
        let (seen, asked, given) = (HashSet::new(), HashMap::new(), HashMap::new());
        Self { cut_with, writes, seen, asked, given }
    }

    pub(super) fn judge(
        &mut self,
        (store, txn): (&Store, &Reading<'_>),
        incoming: Incoming<'_>,
    ) -> heed::Result<Verdict> {
        let held = store.find(txn, halma_core::Layer::Document, incoming.id)?;
        let first = self.seen.insert(incoming.id);
        let recut = match held {
            Some(row) if first => self.is_cut_otherwise((store, txn), row)?,
            _ => false,
        };
        if let (Some(row), Naming::Pooled, false) = (held, incoming.naming, recut) {
            return Ok(Verdict::Known { row, first, name: None });
        }
        if !first && !self.writes && held.is_none() {
            return Ok(Verdict::Repeated);
        }
        let (name, named) = self.name((store, txn), incoming)?;
        Ok(match held {
            Some(row) if recut => Verdict::Recut { row, name },
            Some(row) => {
                let gives_up = named.filter(|other| *other != row);
                Verdict::Known { row, first, name: Some((name, gives_up)) }
            }
            None => Verdict::New { name, replaces: named },
        })
    }

    pub(super) fn is_cut_otherwise(
        &self,
        (store, txn): (&Store, &Reading<'_>),
        row: Row,
    ) -> heed::Result<bool> {
        let record: DocumentRecord = store.linked(txn, row)?;
        Ok(record.cut_with != self.cut_with)
    }

    /// Whether this run has met a document.
    pub(super) fn has_seen(&self, id: Id) -> bool {
        self.seen.contains(&id)
    }

    /// Whether this run has given a name.
    pub(super) fn has_given(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// The name a document gets, and the document that has it now: the document itself, or the
    /// one it replaces. A name that is somebody else's gets a number.
    fn name(
        &mut self,
        (store, txn): (&Store, &Reading<'_>),
        incoming: Incoming<'_>,
    ) -> heed::Result<(String, Option<Row>)> {
        let Incoming { id, naming, source, origin, .. } = incoming;
        // By its path below the folder that is given, which may have moved, or by where it lies,
        // since it may have been renamed.
        let of_file = |holder: &DocumentRecord, name: &str| {
            let at = holder.names.iter().position(|held| held == name);
            let lies = at.and_then(|at| holder.origins.get(at));
            holder.source == source || lies.is_some_and(|lies| lies == origin)
        };
        let asked = self.asked.get(incoming.name).copied().unwrap_or(0);
        for number in std::iter::once(1).chain(asked.max(1) + 1..) {
            let name = match number {
                1 => incoming.name.to_owned(),
                number => format!("{} ({number})", incoming.name),
            };
            let row = store.named(txn, &name)?;
            let holder = row.map(|row| store.linked::<DocumentRecord>(txn, row)).transpose()?;
            let given = self.given.get(&name);
            let fits = match (given, &holder) {
                (Some(given), _) => *given == id,
                (None, None) => true,
                (None, Some(holder)) if holder.id == id => true,
                (None, Some(holder)) => naming == Naming::Own && of_file(holder, &name),
            };
            if fits {
                let count = self.asked.entry(incoming.name.to_owned()).or_default();
                *count = number.max(*count);
                self.given.insert(name.clone(), id);
                return Ok((name, row));
            }
        }
        let none = format!("there is no name left for `{}`", incoming.name);
        Err(heed::Error::Encoding(none.into()))
    }
}

/// The id of a document of this title and text.
pub(super) fn document_id(title: &str, text: &str) -> Id {
    hash(&[title.as_bytes(), text.as_bytes()])
}
