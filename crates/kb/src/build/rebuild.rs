//! What it would cost to rebuild the parts of a base that a run leaves as they were made.
use std::sync::Arc;

use halma_core::text::thousands;
use halma_core::{Layer, Usage};
use serde::Serialize;

use super::profile::RunPlan;
use crate::extract::forecasters;
use crate::stages::{Atomize, BuildContext, Forecaster, SourceDocument, Tally};
use crate::store::{Cost, DocumentRecord, Row, StoreReader};
use crate::{BasePart, KbError, KeptPart};

/// Documents whose chunks are looked at; the others are taken to be like them.
const SAMPLE: usize = 200;

/// What a part is configured as for which nothing is asked and nothing embedded.
const TURNED_OFF: [&str; 3] = ["false", "names", "none"];

/// What rebuilding one part would cost, about.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RebuildCost {
    pub calls: u64,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// US dollars, by the prices in the configuration.
    pub usd: f64,
    /// Texts to embed.
    pub texts: u64,
}

impl std::fmt::Display for RebuildCost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tokens = thousands(self.prompt_tokens + self.completion_tokens);
        let (calls, texts) = (thousands(self.calls), thousands(self.texts));
        match (self.calls, self.texts) {
            (0, 0) => write!(f, "no calls"),
            (0, _) => write!(f, "{texts} texts to embed"),
            (_, to_embed) => {
                write!(f, "about {calls} calls, {tokens} tokens, ${:.2}", self.usd)?;
                if to_embed > 0 { write!(f, ", {texts} texts to embed") } else { Ok(()) }
            }
        }
    }
}

/// The cost of rebuilding `kept`, with the context of a run as it is configured. `None` for chunks: which
/// documents are cut again is up to the run.
pub(super) fn rebuild_cost(
    context: &BuildContext,
    kept: &KeptPart,
) -> Result<Option<RebuildCost>, KbError> {
    let store = context.store();
    if kept.part == BasePart::Embedder {
        let texts = store.read(|reader| vectors_of(reader, reader.vector_layers()?.layers()))?;
        return Ok(Some(RebuildCost { texts, ..RebuildCost::default() }));
    }
    if kept.part == BasePart::Vectors {
        let layers = &context.settings.vectors;
        let texts = store.read(|reader| {
            let made = reader.vector_layers()?;
            vectors_of(reader, layers.layers().filter(|layer| !made.holds(*layer)))
        })?;
        return Ok(Some(RebuildCost { texts, ..RebuildCost::default() }));
    }
    if TURNED_OFF.contains(&kept.configured.as_str()) {
        return Ok(Some(RebuildCost::default()));
    }
    let mut changed = context.clone();
    RunPlan::new(context, &[kept.part])?.apply_to(&mut changed);
    let mut stages: Vec<Box<dyn Forecaster>> = match kept.part {
        BasePart::Atoms => vec![Box::new(Tally::new(Atomize::new(&Arc::new(changed), None)))],
        BasePart::Chunks => return Ok(None),
        _ => forecasters(&Arc::new(changed))?,
    };
    let rows: Vec<Row> =
        store.read(|reader| reader.all_rows(Layer::Document))?.into_iter().collect();
    let step = rows.len().div_ceil(SAMPLE).max(1);
    let mut looked_at = 0_u64;
    store.read(|reader| {
        for row in rows.iter().step_by(step) {
            looked_at += 1;
            if reader.node::<DocumentRecord>(*row)?.is_none() {
                continue;
            }
            let Some(document) = SourceDocument::load(reader, *row)? else { continue };
            for stage in &mut stages {
                stage.add_document(reader, &document)?;
            }
        }
        Ok(())
    })?;
    let mut cost = RebuildCost::default();
    for forecast in stages.iter().map(|stage| stage.forecast()) {
        let Cost { calls, prompt_tokens, completion_tokens, texts, .. } = forecast.cost;
        let all = |count: u64| count * rows.len() as u64 / looked_at.max(1);
        cost.calls += all(calls);
        cost.prompt_tokens += all(prompt_tokens);
        cost.completion_tokens += all(completion_tokens);
        cost.texts += all(texts);
        if let Some(prompt) = forecast.prompt {
            let usage = Usage {
                prompt_tokens: all(prompt_tokens),
                completion_tokens: all(completion_tokens),
                ..Usage::default()
            };
            cost.usd += context.model_of(prompt).price().cost(usage);
        }
    }
    Ok(Some(cost))
}

/// How many nodes of these layers have a vector of their own, about: some of each are looked at.
fn vectors_of(reader: &StoreReader<'_>, layers: impl Iterator<Item = Layer>) -> heed::Result<u64> {
    let mut texts = 0;
    for layer in layers {
        let rows = reader.all_rows(layer)?;
        let looked_at: Vec<&Row> =
            rows.iter().step_by(rows.len().div_ceil(SAMPLE).max(1)).collect();
        let mut count = 0;
        for row in &looked_at {
            count += usize::from(reader.record((layer, **row))?.is_some_and(|r| r.has_vector()));
        }
        texts += (rows.len() * count / looked_at.len().max(1)) as u64;
    }
    Ok(texts)
}

/// Says once what the base keeps although the configuration says otherwise, and what changing it
/// would cost.
pub(super) fn report_kept(context: &BuildContext, kept: &[KeptPart]) -> Result<(), KbError> {
    for part in kept.iter().filter(|part| context.base.is_news(part)) {
        let name = part.part.name();
        let (made_with, configured) = (&part.made_with, &part.configured);
        let change = match part.part {
            BasePart::Entities if made_with == "model" => {
                "what a model has extracted cannot be taken out of it".to_owned()
            }
            _ => match rebuild_cost(context, part)? {
                Some(cost) => format!("`halma index --rebuild {name}` changes it ({cost})"),
                None => format!(
                    "`halma index --rebuild {name}` cuts the documents again that it is given"
                ),
            },
        };
        tracing::warn!(
            "the base was made with {name} = {made_with}; the configuration says {configured}. It \
             stays as it is, new documents included; {change}"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_cost_have_separators() {
        let cost = RebuildCost {
            calls: 100_001,
            prompt_tokens: 37_000_000,
            completion_tokens: 12_345,
            usd: 9.25,
            texts: 600_006,
        };
        let shown = "about 100,001 calls, 37,012,345 tokens, $9.25, 600,006 texts to embed";
        assert_eq!(cost.to_string(), shown);
        let cost = RebuildCost { texts: 1000, ..RebuildCost::default() };
        assert_eq!(cost.to_string(), "1,000 texts to embed");
    }
}
