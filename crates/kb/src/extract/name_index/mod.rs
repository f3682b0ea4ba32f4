//! Which names are to be resolved after a change, and with which others: first the names of changed
//! chunks are entered (`entering.rs`), then everything is found that can have a say (`reach.rs`).
//! Whether all of it is as it should be is checked on request (`check/`).
mod check;
mod entering;
mod names;
mod pairs;
mod reach;

use std::collections::{BTreeSet, HashMap, HashSet};

use halma_core::Layer;

use self::entering::Entering;
use super::resolve::BLOCK;
use crate::KbError;
use crate::store::{
    ChunkForms, ChunkRecord, FormKey, FormsState, Id, NameKey, Row, Store, StoreReader,
    StoreWriter, Task, UnitState,
};
pub(crate) use check::{Names, check};
pub(super) use pairs::KnownPairs;
pub(super) use reach::{Reach, reach};

/// Changes whenever names are taken apart or compared otherwise: they are entered again then.
const VERSION: u32 = 2;

/// In the place of a version: what is kept of names was found damaged. It is made again, too.
const DOUBTED: u32 = u32::MAX;

/// Changed chunks whose documents are entered in one transaction.
const BATCH: usize = 1000;

/// A change of more chunks than this part of the base is resolved with everything: following what it
/// touches would cost more.
const PART: u64 = 4;

/// A change of so few is always followed.
const FEW: u64 = 200;

/// Enters the names of chunks that have changed. Returns the number of chunks whose extracts were
/// read for it.
pub(super) fn catch_up(store: &Store) -> Result<usize, KbError> {
    let state = store.read(|reader| reader.forms_state())?;
    if state.is_none_or(|state| state.version != VERSION) {
        store.write(begin)?;
    }
    if store.read(is_large)? {
        store.write(|writer| writer.touch_everything())?;
    }
    let (mut from, mut read) = (0, 0);
    loop {
        let changed = store.read(|reader| changed_chunks(reader, from))?;
        if changed.documents.is_empty() && changed.lost.is_empty() {
            break;
        }
        read += store.write(|writer| {
            for chunk in &changed.lost {
                writer.delete_form_entry(FormKey::ChangedChunk(*chunk))?;
            }
            Entering::new(writer)?.enter(&changed.documents)
        })?;
        from = changed.next;
    }
    if store.read(|reader| Ok(reader.form_keys(FormKey::ChangedPair(0))?.next().is_some()))? {
        store.write(pairs::enter)?;
    }
    Ok(read)
}

/// Forgets all names and marks everything as changed.
fn begin(writer: &mut StoreWriter<'_>) -> heed::Result<()> {
    writer.clear_forms()?;
    let mut marks = vec![];
    for entry in writer.entries(Task::Facts)? {
        let entry = entry?;
        let chunk = FormKey::ChangedChunk(entry.key.row());
        marks.extend((entry.state == UnitState::Done).then_some(chunk));
    }
    for task in [Task::SameEntity, Task::Near] {
        for entry in writer.entries(task)? {
            marks.push(FormKey::ChangedPair(entry?.key.at));
        }
    }
    marks.into_iter().try_for_each(|mark| writer.put_form_entry(mark, &false))?;
    let state = FormsState { version: VERSION, everything: true, ..FormsState::default() };
    writer.put_form_entry(FormKey::State, &state)
}

/// Has all names entered again by the next build, and all entities resolved.
pub(crate) fn mark_damaged(writer: &mut StoreWriter<'_>) -> heed::Result<()> {
    writer.clear_forms()?;
    let state = FormsState { version: DOUBTED, everything: true, ..FormsState::default() };
    writer.put_form_entry(FormKey::State, &state)
}

/// Whether so much has changed that it is resolved with everything.
fn is_large(reader: &StoreReader<'_>) -> heed::Result<bool> {
    let state = reader.forms_state()?.unwrap_or_default();
    let limit = max_chunks(&state);
    let changed = reader.form_keys(FormKey::ChangedChunk(0))?.take(limit.saturating_add(1)).count();
    Ok(!state.everything && changed > limit)
}

/// How many chunks are resolved by themselves.
fn max_chunks(state: &FormsState) -> usize {
    usize::try_from((state.chunks / PART).max(FEW)).unwrap_or(usize::MAX)
}

/// Some chunks that are to be entered.
#[derive(Default)]
struct ChangedChunks {
    documents: BTreeSet<Row>,
    /// Chunks that came and went before they were entered.
    lost: Vec<Row>,
    /// The chunk to continue from.
    next: Row,
}

/// Some of the changed chunks that are to be entered, from one on.
fn changed_chunks(reader: &StoreReader<'_>, from: Row) -> heed::Result<ChangedChunks> {
    let mut changed = ChangedChunks { next: from, ..ChangedChunks::default() };
    let mut looked_at = 0;
    for key in reader.form_keys_from(FormKey::ChangedChunk(from))? {
        let FormKey::ChangedChunk(chunk) = key? else { continue };
        if looked_at == BATCH {
            break;
        }
        changed.next = chunk.saturating_add(1);
        if reader.form_entry(FormKey::ChangedChunk(chunk))? == Some(true) {
            continue;
        }
        looked_at += 1;
        let now = reader.node::<ChunkRecord>(chunk)?.map(|chunk| chunk.document);
        let former: Option<ChunkForms> = reader.form_entry(FormKey::Chunk(chunk))?;
        let former = former.map(|former| former.document);
        if now.or(former).is_none() {
            changed.lost.push(chunk);
        }
        changed.documents.extend(now.into_iter().chain(former));
    }
    Ok(changed)
}

/// The names in a block; `None` where there are so many that it says nothing.
fn names_in_block(reader: &StoreReader<'_>, block: Id) -> heed::Result<Option<Vec<NameKey>>> {
    let (mut names, mut forms) = (Vec::<NameKey>::new(), 0);
    let any = NameKey { form: 0, variant: 0 };
    for key in reader.form_keys_of(FormKey::Block(block, any))? {
        let FormKey::Block(_, name) = key? else { continue };
        forms += usize::from(names.last().is_none_or(|last| last.form != name.form));
        if forms > BLOCK {
            return Ok(None);
        }
        names.push(name);
    }
    Ok(Some(names))
}

/// Every block with so many names that it says nothing.
pub(super) fn crowded_blocks(reader: &StoreReader<'_>) -> heed::Result<HashSet<Id>> {
    let mut crowded = HashSet::new();
    let (mut block, mut form, mut forms) = (None, 0, 0);
    let any = NameKey { form: 0, variant: 0 };
    for key in reader.form_keys(FormKey::Block(0, any))? {
        let FormKey::Block(of, name) = key? else { continue };
        if block != Some(of) {
            (block, form, forms) = (Some(of), name.form, 1);
        } else if form != name.form {
            (form, forms) = (name.form, forms + 1);
        }
        if forms > BLOCK {
            crowded.insert(of);
        }
    }
    Ok(crowded)
}

/// The forms of prints of pairs that are known.
pub(super) fn put_forms_of_prints(
    writer: &mut StoreWriter<'_>,
    forms: &HashMap<Id, Id>,
) -> heed::Result<()> {
    for (print, form) in forms {
        let key = FormKey::FormOfPrint(*print);
        if writer.form_entry::<Id>(key)? != Some(*form) {
            writer.put_form_entry(key, form)?;
        }
    }
    Ok(())
}

/// Whether a chunk is there.
fn is_chunk(reader: &StoreReader<'_>, chunk: Row) -> heed::Result<bool> {
    reader.holds((Layer::Chunk, chunk))
}
