//! The names in a chunk as they are entered.
use std::collections::BTreeMap;

use crate::extract::resolve::{EntityKind, Name, block_id, declared_block, form_id};
use crate::store::{ChunkForms, Extraction, Id, NameKey, NameRecord, Row, hash};
use crate::terms::form;

/// What is entered of a chunk.
pub(super) struct NewNames {
    pub(super) chunk: ChunkForms,
    /// Each name, as if no other chunk had it.
    pub(super) records: BTreeMap<NameKey, NameRecord>,
}

impl NewNames {
    pub(super) fn new(document: Row, extract: &Extraction) -> Self {
        let left_out = extract.left_out;
        let chunk = ChunkForms {
            document,
            facts: u32::try_from(extract.facts.len()).unwrap_or(u32::MAX),
            left_out: [left_out.invented, left_out.unknown_ends, left_out.beyond_limit],
            ..ChunkForms::default()
        };
        let mut new = Self { chunk, records: BTreeMap::new() };
        for mention in &extract.mentions {
            let name = Name::new(&mention.name);
            let key = name.key();
            new.chunk.names.push(key);
            if EntityKind::parse(&mention.kind) == EntityKind::Person {
                new.chunk.people.push(key.form);
            }
            new.records.entry(key).or_insert_with(|| NameRecord {
                blocks: name.block_ids(),
                last: name.last_word().map(form_id),
                ..NameRecord::default()
            });
            for alias in &mention.aliases {
                new.declare(key.form, &form(alias));
            }
        }
        new
    }

    /// A short form that the text gives to a name is a name of its own kind: it meets those of that
    /// form and nothing else.
    fn declare(&mut self, of: Id, alias: &str) {
        let block = block_id(&declared_block(alias));
        let variant = hash(&[b"declared", &block.to_be_bytes()]) >> u32::BITS;
        let key = NameKey { form: of, variant: u32::try_from(variant).unwrap_or_default() };
        self.chunk.aliases.push((key, form_id(alias)));
        self.records
            .entry(key)
            .or_insert(NameRecord { blocks: vec![block], ..NameRecord::default() });
    }
}

/// The names of a chunk with those that it declares.
pub(super) fn all_names(chunk: &ChunkForms) -> impl Iterator<Item = NameKey> {
    chunk.names.iter().copied().chain(chunk.aliases.iter().map(|(name, _)| *name))
}
