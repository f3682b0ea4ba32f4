//! What kind of question it is, judged against what the base holds (PIKE-RAG, Section 3.2).
use halma_core::{
    Catalog, Cx, Error, Hit, Layer, LlmError, MinScore, Mode, Prompt, Query, Question, Result,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use crate::shared::overlap::QueryWords;

const CLASSIFY: Prompt<Class> = Prompt::json("auto/classify");

/// Passages that show what the base has on the question.
const NEAR: usize = 3;
/// Tables that are named, those with most of the question's words first, and columns of each.
const TABLES: usize = 12;
const COLUMNS: usize = 40;

/// The classes of Section 3.2, bridging to summarising its linkable-reasoning questions; and of the
/// summarising questions those about everything that the base holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Factual,
    Bridging,
    Comparative,
    Quantitative,
    Summarising,
    Collection,
    Predictive,
    Creative,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Factual => "factual",
            Self::Bridging => "bridging",
            Self::Comparative => "comparative",
            Self::Quantitative => "quantitative",
            Self::Summarising => "summarising",
            Self::Collection => "collection",
            Self::Predictive => "predictive",
            Self::Creative => "creative",
        }
    }
}

#[derive(Deserialize)]
struct Class {
    #[serde(default)]
    reason: String,
    kind: Kind,
}

/// The question's kind; `None` when the budget is spent. Where the model cannot tell, it is
/// bridging: the loop for it answers factual questions as well, in one hop.
pub(crate) async fn classify(question: &Question, cx: &Cx) -> Result<Option<Kind>> {
    let cx = cx.span("classify");
    let mut catalog = with_nearest_tables(cx.catalog().await?, question, TABLES);
    catalog.tables.iter_mut().for_each(|table| table.columns.truncate(COLUMNS));
    let near = nearest(question, &cx).await?;
    let variables = context! {
        question => Serde(question),
        catalog => Serde(&catalog),
        near => Serde(&near),
    };
    let why = match cx.ask(&CLASSIFY, variables).await {
        Ok(Class { kind, reason }) => {
            cx.note(format!("{}: {}", kind.name(), reason.trim()));
            return Ok(Some(kind));
        }
        Err(Error::BadReply { .. }) => "the reply names no kind",
        Err(Error::Llm { source: LlmError::Refused { .. }, .. }) => "the model does not classify",
        Err(Error::Spent(_)) => {
            cx.note("the kind is unknown: reading the chunks near the question");
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    cx.note(format!("{why}: treated as bridging"));
    Ok(Some(Kind::Bridging))
}

async fn nearest(question: &Question, cx: &Cx) -> Result<Vec<Hit>> {
    let query = Query {
        min_score: MinScore::Usual,
        ..Query::new(vec![question.text.clone()], Layer::Chunk, Mode::Graph, NEAR)
    };
    Ok(cx.search(&query).await?.into_iter().flatten().collect())
}

/// The tables whose names, captions and columns have most of the question's words, in the base's
/// order where they have as many.
pub(crate) fn with_nearest_tables(
    mut catalog: Catalog,
    question: &Question,
    limit: usize,
) -> Catalog {
    let query_words = QueryWords::new(&question.text);
    catalog.tables.sort_by_cached_key(|table| {
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        // A name such as `sales_2021` is several words.
        let described = format!("{} {} {}", table.name, columns.join(" "), table.document);
        let described = format!("{} {}", described.replace(['_', '.', '/'], " "), table.caption);
        std::cmp::Reverse(query_words.in_text(&described))
    });
    catalog.tables.truncate(limit);
    catalog
}
