//! From one embedder to another: the vectors of the new one are made while searches go on with the
//! old one.
use std::path::Path;

use serde::Serialize;

use crate::store::Store;
use crate::{Base, KbError};

/// A base on its way to another embedder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Migration {
    /// The embedder whose vectors are searched.
    pub from: String,
    /// The one that takes over when every text has a vector of it.
    pub to: String,
    /// Texts that have one, of all texts.
    pub done: u64,
    pub total: u64,
}

/// The embedder whose vectors a base is searched by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EmbeddedBy {
    pub model: String,
    /// What [`crate::BaseOptions::origin`] said when it was open.
    pub origin: String,
}

impl Base {
    /// How far the base is on its way to another embedder; `None` when it is on no such way.
    pub(crate) fn migration(&self) -> Result<Option<Migration>, KbError> {
        let store = &self.store;
        store.read(|reader| {
            let Some((_, from)) = reader.active_embedder()? else { return Ok(None) };
            let Some(to) = reader.target_model()?.filter(|to| *to != from.model) else {
                return Ok(None);
            };
            let mut done = 0;
            if let Some((number, _)) = reader.embedder(&to)? {
                for layer in reader.vector_layers()?.layers() {
                    done += reader.count_vectors(number, layer)?;
                }
            }
            let total = done + reader.awaiting_vector()?.len() as u64;
            Ok(Some(Migration { from: from.model, to, done, total }))
        })
    }

    /// The embedder whose vectors the base in `dir` is searched by; `None` when there is no base
    /// or it has no vectors. The base must not be open in this program.
    pub fn embedded_by(dir: &Path) -> Result<Option<EmbeddedBy>, KbError> {
        let truth = crate::base::store_dir(dir);
        if !Store::exists(&truth) {
            return Ok(None);
        }
        let store = Store::open(&truth)?;
        let active = store.read(|reader| reader.active_embedder())?;
        Ok(active.map(|(_, record)| EmbeddedBy { model: record.model, origin: record.origin }))
    }
}
