//! Why a base gives no result, where its content or the filters say so.
use std::collections::BTreeSet;

use halma_core::{Filter, Layer};
use halma_engine::{Engine, KbError};

/// What to look at when nothing is found with these filters; `None` where the base was searched as
/// a whole.
pub(crate) fn explain(engine: &Engine, filter: &Filter) -> Result<Option<String>, KbError> {
    let sizes = engine.base().inspector().sizes()?;
    if sizes.layers.get(&Layer::Document).is_none_or(|documents| *documents == 0) {
        return Ok(Some("The base holds no documents; run `halma index FOLDER`.".into()));
    }
    if filter.is_empty() {
        return Ok(None);
    }
    if let Some(field) = unknown_field(engine, filter)? {
        return Ok(Some(format!(
            "No document has the field `{field}`; `halma kb meta DOCUMENT` prints the fields of one."
        )));
    }
    Ok(Some(
        "Only what the filters admit was searched; `halma kb list` shows the documents with their \
         formats, `halma kb list tag` the tags."
            .into(),
    ))
}

/// The first field of the filter that no document has.
fn unknown_field(engine: &Engine, filter: &Filter) -> Result<Option<String>, KbError> {
    let mut missing: BTreeSet<&String> = filter.metadata.0.keys().collect();
    if missing.is_empty() {
        return Ok(None);
    }
    engine.base().inspector().visit_documents(None, None, &mut |document| {
        if let Some(about) = &document.about {
            missing.retain(|field| !about.metadata.0.contains_key(*field));
        }
        !missing.is_empty()
    })?;
    Ok(missing.first().map(ToString::to_string))
}
