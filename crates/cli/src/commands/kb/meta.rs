//! `halma kb meta`: prints and changes the fields of a document.
use halma_core::{ConfigError, Metadata};
use halma_engine::{Details, Engine};

use crate::args::{Common, KbMeta};
use crate::commands::setup::{metadata_of, open_base};
use crate::view;

pub(super) fn run(args: &KbMeta, common: &Common) -> anyhow::Result<()> {
    let engine = open_base(&args.kb, common)?;
    let mut metadata = fields(&engine, &args.document)?;
    if !args.set.is_empty() || !args.unset.is_empty() {
        metadata.0.retain(|name, _| !args.unset.contains(name));
        metadata = metadata.overlaid(&metadata_of(&args.set, "--set")?);
        engine.set_metadata(&args.document, &metadata)?;
    }
    if args.json {
        return view::print_json(&metadata);
    }
    if metadata.is_empty() {
        return view::print("The document has no fields.");
    }
    let line = |(name, value)| Ok(format!("{name} = {}", serde_json::to_string(value)?));
    let lines: Vec<String> = metadata.0.iter().map(line).collect::<anyhow::Result<_>>()?;
    view::print(&lines.join("\n"))
}

/// The fields of a document under the name that is given.
fn fields(engine: &Engine, document: &str) -> anyhow::Result<Metadata> {
    if let Some(metadata) = engine.base().metadata(document)? {
        return Ok(metadata);
    }
    let inspector = engine.base().inspector();
    match inspector.show(&inspector.find(document)?)?.details {
        Details::Document { metadata, .. } => Ok(metadata),
        _ => Err(not_a_document(document).into()),
    }
}

fn not_a_document(node: &str) -> ConfigError {
    ConfigError {
        file: "halma kb meta".into(),
        key: node.into(),
        reason: "it is not a document".into(),
        hint: "`halma kb list` lists the documents".into(),
    }
}
