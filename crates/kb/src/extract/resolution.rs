//! Resolving entities with all that is known about them: what the chunks say, the model's verdicts,
//! the embedder's similarities, and what a user has undone. After a change that is done for what it
//! touches, else for everything; what comes of it is the same.
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::extracted_chunk::{ExtractedChunk, extracted_chunks};
use super::graph::{self, Written};
use super::name_index::{KnownPairs, Reach, catch_up, crowded_blocks, put_forms_of_prints, reach};
use super::resolve::{ResolutionEvidence, Resolved, Undone, form_id, locals, resolve_locals};
use crate::store::{FormKey, Id, LeftOut, PairVerdict, StoreReader, StoreWriter, Task, UNDONE};
use crate::{Base, KbError};

/// What the chunks say, and what comes of it with what is known besides.
pub(super) struct Resolution {
    pub(super) reads: Arc<Vec<ExtractedChunk>>,
    pub(super) resolved: Resolved,
    pub(super) scope: Scope,
    /// Forms of the prints of pairs that the model or the embedder was asked about.
    pub(super) forms_of_prints: HashMap<Id, Id>,
    /// How many chunks' extracts were read for it.
    pub(super) read: usize,
}

/// What becomes of questions that are left when the graph is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unanswered {
    /// The next run asks them.
    AskAgain,
    /// They are asked when a change touches them.
    Wait,
}

/// What was resolved.
pub(super) enum Scope {
    Everything,
    Touched {
        /// Forms from which it began.
        touched: BTreeSet<Id>,
        /// All forms that were resolved with them.
        forms: HashSet<Id>,
    },
}

impl Resolution {
    /// Resolves what has changed since everything was resolved; `None` when nothing has.
    pub(super) fn load(base: &Base) -> Result<Option<Self>, KbError> {
        let entered = catch_up(&base.store)?;
        base.store.read(|reader| {
            if reader.is_resolved()? {
                return Ok(None);
            }
            let mut resolution = match Self::of_touched(reader)? {
                Some(resolution) => resolution,
                None => Self::of_everything(reader, Arc::new(extracted_chunks(reader)?))?,
            };
            resolution.read += entered;
            Ok(Some(resolution))
        })
    }

    /// The same with what is known besides by now.
    pub(super) fn again(&self, base: &Base) -> Result<Self, KbError> {
        catch_up(&base.store)?;
        base.store.read(|reader| {
            if let Scope::Touched { .. } = self.scope
                && let Some(resolution) = Self::of_touched(reader)?
            {
                return Ok(resolution);
            }
            let reads = match self.scope {
                Scope::Everything => Arc::clone(&self.reads),
                Scope::Touched { .. } => Arc::new(extracted_chunks(reader)?),
            };
            Self::of_everything(reader, reads)
        })
    }

    /// Resolves what is touched; `None` where that is nearly everything.
    fn of_touched(reader: &StoreReader<'_>) -> heed::Result<Option<Self>> {
        let (mut more, mut read) = (BTreeSet::new(), 0);
        loop {
            let Some(reached) = reach(reader, &more)? else { return Ok(None) };
            read += reached.read;
            let locals = locals(&reached.reads);
            let pairs = KnownPairs::load(reader, &locals)?;
            let missing = pairs.missing.iter().filter(|form| !reached.forms.contains(form));
            let missing: Vec<Id> = missing.copied().collect();
            if missing.is_empty() {
                let Reach { touched, forms, reads, crowded, .. } = reached;
                let KnownPairs { verdicts, near, forms: forms_of_prints, .. } = pairs;
                let undone = undone(reader)?;
                let evidence = ResolutionEvidence { verdicts, undone, near, crowded };
                return Ok(Some(Self {
                    reads: Arc::new(reads),
                    resolved: resolve_locals(locals, &evidence),
                    scope: Scope::Touched { touched, forms },
                    forms_of_prints,
                    read,
                }));
            }
            more.extend(missing);
        }
    }

    fn of_everything(
        reader: &StoreReader<'_>,
        reads: Arc<Vec<ExtractedChunk>>,
    ) -> heed::Result<Self> {
        let evidence = evidence(reader)?;
        let locals = locals(&reads);
        let forms_of_prints = KnownPairs::forms_of_all(&evidence, &locals);
        let resolved = resolve_locals(locals, &evidence);
        let read = reads.len();
        Ok(Self { reads, resolved, scope: Scope::Everything, forms_of_prints, read })
    }

    /// Writes the graph.
    pub(super) fn write(&self, base: &Base, left: Unanswered) -> Result<Written, KbError> {
        graph::write(&base.store, self, left)
    }

    /// Keeps the forms of what is asked about, so that they are found by the answer.
    pub(super) fn note_questions(&self, base: &Base) -> Result<(), KbError> {
        let Resolved { locals, questions, .. } = &self.resolved;
        let mut forms = HashMap::new();
        for question in questions {
            for at in question.one.iter().chain(&question.two) {
                forms.insert(locals[*at].print, form_id(&locals[*at].name.form));
            }
        }
        base.store.write(|writer| put_forms_of_prints(writer, &forms))
    }

    /// The forms of what is still in question.
    pub(super) fn open_forms(&self) -> BTreeSet<Id> {
        let Resolved { locals, questions, .. } = &self.resolved;
        let places = questions.iter().flat_map(|question| question.one.iter().chain(&question.two));
        places.map(|at| form_id(&locals[*at].name.form)).collect()
    }
}

/// All that is known besides the text.
pub(super) fn evidence(reader: &StoreReader<'_>) -> heed::Result<ResolutionEvidence> {
    let mut evidence = ResolutionEvidence {
        undone: undone(reader)?,
        crowded: crowded_blocks(reader)?,
        ..ResolutionEvidence::default()
    };
    for verdict in reader.results::<PairVerdict>(Task::SameEntity)? {
        evidence.verdicts.push(verdict?.1);
    }
    for measured in reader.results::<(Id, Id, f32)>(Task::Near)? {
        let (_, (one, two, near)) = measured?;
        evidence.near.insert((one, two), near);
    }
    Ok(evidence)
}

fn undone(reader: &StoreReader<'_>) -> heed::Result<Vec<Undone>> {
    Ok(reader.meta(UNDONE)?.unwrap_or_default())
}

/// What the graph is made of, where all of it is resolved.
pub(super) fn totals(reader: &StoreReader<'_>) -> heed::Result<Written> {
    let state = reader.forms_state()?.unwrap_or_default();
    let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let [invented, unknown_ends, beyond_limit] =
        state.left_out.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    Ok(Written {
        entities: number(state.entities),
        facts: number(state.facts),
        merges: number(reader.merge_count()?),
        left_out: LeftOut { invented, unknown_ends, beyond_limit },
        changed: false,
    })
}

/// Keeps the two sides of a merge apart from now on.
pub(super) fn undo(base: &Base, id: Id, undone: Undone) -> Result<Written, KbError> {
    let store = &base.store;
    store.write(|writer| {
        let mut all: Vec<Undone> = writer.meta(UNDONE)?.unwrap_or_default();
        if !all.contains(&undone) {
            all.push(undone);
        }
        writer.set_meta(UNDONE, &all)?;
        touch_merge(writer, id)
    })?;
    match Resolution::load(base)? {
        Some(resolution) => resolution.write(base, Unanswered::AskAgain),
        None => store.read(totals),
    }
}

/// Touches a form of a merge: all of it is resolved with that.
fn touch_merge(writer: &mut StoreWriter<'_>, id: Id) -> heed::Result<()> {
    let mut of = None;
    for key in writer.form_keys(FormKey::Merge(0, 0))? {
        if let FormKey::Merge(form, merge) = key?
            && merge == id
        {
            of = Some(form);
        }
    }
    match of {
        Some(form) => writer.touch_form(form),
        None => writer.touch_everything(),
    }
}
