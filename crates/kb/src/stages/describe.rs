//! Figures in words: a vision model's description is put below each figure before the document is
//! chunked, so that it is searched, chunked and cited like any other text.
use crate::store::{Cost, StoreWriter};
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use halma_core::{Cx, Prompt};
use halma_parse::{Block, BlockKind, Parsed};
use minijinja::{Value, context};
use parking_lot::Mutex;

use super::{BuildContext, Pace, Stage, StageError};
use crate::Phase;
use crate::read::ParsedDocument;

const DESCRIBE: Prompt<String> = Prompt::text("kb/describe");

/// Smaller images are icons, lines and bullets, in bytes.
const SMALLEST: usize = 2_000;

/// Tokens that an image of 1024 × 1024 pixels takes in a prompt, by `OpenAI`'s guide to vision.
const IMAGE_TOKENS: u64 = 765;

/// Tokens of a description, and its words: some six sentences.
const DESCRIPTION_TOKENS: u64 = 120;
const DESCRIPTION_WORDS: usize = 70;

/// A figure to describe.
pub(crate) struct FigureRequest {
    /// The document's place in its batch, and the figure's place in the document.
    document: usize,
    figure: usize,
    /// The document's name.
    name: String,
    title: String,
    caption: String,
    /// Media type and bytes.
    image: (String, Vec<u8>),
}

impl FigureRequest {
    /// The figures of a document that are large enough to say something, with their images, which
    /// nothing else needs.
    pub(crate) fn take_from(document: usize, draft: &mut ParsedDocument) -> Vec<Self> {
        let ParsedDocument { name, title, parsed, .. } = draft;
        let figures = parsed.figures.iter_mut().enumerate();
        let request = |(at, figure): (usize, &mut halma_parse::Figure)| {
            let image = figure.image.take().filter(|(_, bytes)| bytes.len() >= SMALLEST)?;
            Some(Self {
                document,
                figure: at,
                name: name.clone(),
                title: title.clone().unwrap_or_default(),
                caption: figure.caption.clone().unwrap_or_default(),
                image,
            })
        };
        figures.filter_map(request).collect()
    }

    /// Its document's place in the batch, and its own in the document.
    pub(crate) fn place(&self) -> (usize, usize) {
        (self.document, self.figure)
    }

    fn variables(&self, image: &str) -> Value {
        context! { title => &self.title, caption => &self.caption, image }
    }
}

/// A described figure: its document's place, its own, and its description.
pub(crate) type Description = (usize, usize, String);

/// Describes figures; the descriptions are in memory until their documents are stored.
pub(crate) struct Describe {
    context: Arc<BuildContext>,
    descriptions: Mutex<Vec<Description>>,
}

impl Describe {
    pub(crate) fn new(context: &Arc<BuildContext>) -> Self {
        Self { context: Arc::clone(context), descriptions: Mutex::default() }
    }

    /// What was described since this was last called.
    pub(crate) fn take(&self) -> Vec<Description> {
        let mut descriptions = self.descriptions.lock();
        std::mem::take(&mut descriptions)
    }

    /// A text as long as a description is expected to be.
    pub(crate) fn expected_text() -> String {
        "figure ".repeat(DESCRIPTION_WORDS)
    }
}

impl Stage for Describe {
    type Unit = FigureRequest;
    type Output = String;

    const PHASE: Phase = Phase("describing figures");

    fn name(&self) -> &'static str {
        "describe"
    }

    fn prompt(&self) -> Option<&'static str> {
        Some(DESCRIBE.name)
    }

    fn context(&self) -> &Arc<BuildContext> {
        &self.context
    }

    fn pace(&self) -> Pace {
        Pace { may_be_unable: false, ..Pace::of_models(&self.context.settings) }
    }

    fn forecast(&self, unit: &FigureRequest) -> Cost {
        let variables = unit.variables("data:image/png;base64,");
        let mut cost =
            Cost::of_call(&self.context.setup, DESCRIBE.name, &variables, DESCRIPTION_TOKENS);
        cost.prompt_tokens += IMAGE_TOKENS * cost.calls;
        cost
    }

    async fn run(&self, cx: &Cx, unit: &FigureRequest) -> Result<Option<String>, StageError> {
        cx.quote(&unit.name);
        let (media, bytes) = &unit.image;
        let image = format!("data:{media};base64,{}", BASE64_STANDARD.encode(bytes));
        Ok(Some(cx.ask(&DESCRIBE, unit.variables(&image)).await?))
    }

    fn store(
        &self,
        _: &mut StoreWriter<'_>,
        unit: &FigureRequest,
        result: Result<String, String>,
    ) -> heed::Result<()> {
        if let Ok(text) = result {
            let mut descriptions = self.descriptions.lock();
            descriptions.push((unit.document, unit.figure, text));
        }
        Ok(())
    }
}

/// Puts a description below its figure and moves everything that stands after it.
pub(crate) fn insert_description(parsed: &mut Parsed, figure: usize, description: &str) {
    // A description of several paragraphs would fall apart into several blocks.
    let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    parsed.figures[figure].description = Some(description.clone());
    let at = parsed.figures[figure].range.end;
    let inserted = format!("\n\n{description}\n\n");
    parsed.text.insert_str(at, &inserted);
    let by = inserted.len();
    let moved = |range: &mut std::ops::Range<usize>| {
        if range.start >= at {
            range.start += by;
            range.end += by;
        } else if range.end > at {
            range.end += by;
        }
    };
    parsed.blocks.iter_mut().for_each(|block| moved(&mut block.range));
    for table in &mut parsed.tables {
        moved(&mut table.range);
        table.rows.iter_mut().for_each(|row| moved(&mut row.range));
    }
    parsed.figures.iter_mut().for_each(|figure| moved(&mut figure.range));
    parsed.links.iter_mut().for_each(|link| moved(&mut link.range));
    for page in &mut parsed.pages {
        if page.start > at {
            page.start += by;
        }
    }
    let range = at + 2..at + 2 + description.len();
    let place = parsed.blocks.partition_point(|block| block.range.start < range.start);
    // Inside a block (a figure in the middle of a paragraph) the paragraph just grew.
    if parsed.blocks[..place].last().is_none_or(|before| before.range.end <= range.start) {
        parsed.blocks.insert(place, Block { range, kind: BlockKind::Paragraph });
    }
}

#[cfg(test)]
mod tests {
    use halma_parse::Figure;

    use super::*;

    #[test]
    fn a_description_stands_below_its_figure_and_moves_the_rest() {
        let text = "One.\n\n![f](f.png)\n\nTwo.";
        let block = |range, kind| Block { range, kind };
        let mut parsed = Parsed {
            text: text.into(),
            blocks: vec![
                block(0..4, BlockKind::Paragraph),
                block(6..17, BlockKind::Figure(0)),
                block(19..23, BlockKind::Paragraph),
            ],
            figures: vec![Figure { range: 6..17, ..Figure::default() }],
            ..Parsed::default()
        };
        insert_description(&mut parsed, 0, "A bar chart.\n\nIt grows.");
        let shown: Vec<&str> =
            parsed.blocks.iter().map(|block| &parsed.text[block.range.clone()]).collect();
        assert_eq!(shown, ["One.", "![f](f.png)", "A bar chart. It grows.", "Two."]);
        assert_eq!(parsed.figures[0].range, 6..17);
    }

    #[test]
    fn a_figure_inside_a_paragraph_lets_the_paragraph_grow() {
        let mut parsed = Parsed {
            text: "See ![f](f.png) there.".into(),
            blocks: vec![Block { range: 0..22, kind: BlockKind::Paragraph }],
            figures: vec![Figure { range: 4..15, ..Figure::default() }],
            ..Parsed::default()
        };
        insert_description(&mut parsed, 0, "A map.");
        assert_eq!(parsed.blocks.len(), 1);
        assert_eq!(parsed.blocks[0].range, 0..parsed.text.len());
    }
}
