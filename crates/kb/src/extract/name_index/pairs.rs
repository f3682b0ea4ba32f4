//! Pairs of entities about which the model or the embedder was asked, by their prints: so that those
//! are found that concern what is resolved.
use std::collections::{BTreeSet, HashMap, HashSet};

use halma_core::Layer;

use crate::extract::resolve::{Local, ResolutionEvidence, form_id};
use crate::store::{FormKey, Id, PairVerdict, StoreReader, StoreWriter, Task, UnitKey};

/// The two prints of a pair.
type Prints = (Id, Id);

fn unit(task: Task, id: Id) -> UnitKey {
    UnitKey::with_id(task, Layer::Entity, id)
}

fn verdict(reader: &StoreReader<'_>, id: Id) -> heed::Result<Option<PairVerdict>> {
    Ok(reader.result_of(unit(Task::SameEntity, id))?.map(|(_, verdict)| verdict))
}

fn nearness(reader: &StoreReader<'_>, id: Id) -> heed::Result<Option<(Id, Id, f32)>> {
    Ok(reader.result_of(unit(Task::Near, id))?.map(|(_, near)| near))
}

/// Enters pairs whose results have changed, and marks what they were about.
pub(super) fn enter(writer: &mut StoreWriter<'_>) -> heed::Result<()> {
    let mut changed = vec![];
    for key in writer.form_keys(FormKey::ChangedPair(0))? {
        if let FormKey::ChangedPair(id) = key? {
            changed.push(id);
        }
    }
    for id in changed {
        let former: Option<Prints> = writer.form_entry(FormKey::Pair(id))?;
        let verdict = verdict(writer, id)?.map(|verdict| (verdict.one, verdict.two));
        let now = verdict.or(nearness(writer, id)?.map(|(one, two, _)| (one, two)));
        if let Some((one, two)) = now {
            writer.put_form_entry(FormKey::Pair(id), &(one, two))?;
            for print in [one, two] {
                writer.put_form_entry(FormKey::PairOfPrint(print, id), &())?;
            }
        } else if let Some((one, two)) = former {
            writer.delete_form_entry(FormKey::Pair(id))?;
            for print in [one, two] {
                writer.delete_form_entry(FormKey::PairOfPrint(print, id))?;
            }
        }
        for print in former.into_iter().chain(now).flat_map(|(one, two)| [one, two]) {
            let form: Option<Id> = writer.form_entry(FormKey::FormOfPrint(print))?;
            form.map_or(Ok(()), |form| writer.touch_form(form))?;
        }
        writer.delete_form_entry(FormKey::ChangedPair(id))?;
    }
    Ok(())
}

/// What is known of the pairs of some locals.
#[derive(Default)]
pub(crate) struct KnownPairs {
    pub(crate) verdicts: Vec<PairVerdict>,
    pub(crate) near: HashMap<Prints, f32>,
    /// Forms of the prints of pairs.
    pub(crate) forms: HashMap<Id, Id>,
    /// Forms that the model said to be one with some of these, and that are not among them.
    pub(crate) missing: BTreeSet<Id>,
}

impl KnownPairs {
    /// Reads what is known of some locals.
    pub(crate) fn load(reader: &StoreReader<'_>, locals: &[Local]) -> heed::Result<Self> {
        let mut pairs = Self::default();
        let forms: HashMap<Id, &str> =
            locals.iter().map(|local| (local.print, local.name.form.as_str())).collect();
        let mut seen = HashSet::new();
        for (print, form) in &forms {
            for key in reader.form_keys_of(FormKey::PairOfPrint(*print, 0))? {
                let FormKey::PairOfPrint(_, id) = key? else { continue };
                pairs.forms.insert(*print, form_id(form));
                if seen.insert(id) {
                    pairs.add(reader, id)?;
                }
            }
        }
        pairs.verdicts.sort_by_key(|verdict| (verdict.one, verdict.two));
        for verdict in pairs.verdicts.iter().filter(|verdict| verdict.same) {
            for print in [verdict.one, verdict.two].iter().filter(|side| !forms.contains_key(side))
            {
                pairs.missing.extend(reader.form_entry::<Id>(FormKey::FormOfPrint(*print))?);
            }
        }
        Ok(pairs)
    }

    fn add(&mut self, reader: &StoreReader<'_>, id: Id) -> heed::Result<()> {
        self.verdicts.extend(verdict(reader, id)?);
        let near = nearness(reader, id)?;
        self.near.extend(near.map(|(one, two, near)| ((one, two), near)));
        Ok(())
    }

    /// The forms of the prints of all pairs, as far as there are locals with them.
    pub(crate) fn forms_of_all(evidence: &ResolutionEvidence, locals: &[Local]) -> HashMap<Id, Id> {
        let verdicts = evidence.verdicts.iter().flat_map(|verdict| [verdict.one, verdict.two]);
        let near = evidence.near.keys().flat_map(|(one, two)| [*one, *two]);
        let prints: HashSet<Id> = verdicts.chain(near).collect();
        let matching = locals.iter().filter(|local| prints.contains(&local.print));
        matching.map(|local| (local.print, form_id(&local.name.form))).collect()
    }
}
