//! Figures in words: a vision model's description is put below each figure before the document is
//! cut, so that it is searched, cut and cited like any other text.
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use halma_core::{Cx, Error, Prompt, UsageTotal};
use halma_parse::{Block, BlockKind, Parsed};
use minijinja::context;

const DESCRIBE: Prompt<String> = Prompt::text("kb/describe");

/// Smaller images are icons, lines and bullets.
const SMALLEST: usize = 2_000;

/// What became of a document's figures.
#[derive(Debug, Default)]
pub(super) struct Described {
    pub(super) done: usize,
    /// Figures that the model would not describe, with the last reason; they are tried again when
    /// the document is read again.
    pub(super) failed: usize,
    pub(super) failure: Option<String>,
    pub(super) usage: UsageTotal,
}

/// Describes the figures of a document whose images are at hand. A figure that cannot be described
/// stays as it is.
pub(super) async fn describe(cx: &Cx, title: &str, parsed: &mut Parsed) -> Described {
    let mut described = Described::default();
    for at in 0..parsed.figures.len() {
        let figure = &parsed.figures[at];
        let Some((media, bytes)) = figure.image.as_ref().filter(|(_, b)| b.len() >= SMALLEST)
        else {
            continue;
        };
        let image = format!("data:{media};base64,{}", BASE64_STANDARD.encode(bytes));
        let caption = figure.caption.clone().unwrap_or_default();
        match cx.ask(&DESCRIBE, context! { title, caption, image }).await {
            Ok(text) => {
                put_below(parsed, at, &text);
                described.done += 1;
            }
            Err(error) => {
                described.failed += 1;
                described.failure = Some(error.to_string());
                if matches!(error, Error::Spent(_)) {
                    break;
                }
            }
        }
    }
    described
}

/// Puts a paragraph below a figure and moves all that stands behind it.
fn put_below(parsed: &mut Parsed, figure: usize, description: &str) {
    // A description of several paragraphs would fall apart into several blocks.
    let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
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
        put_below(&mut parsed, 0, "A bar chart.\n\nIt grows.");
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
        put_below(&mut parsed, 0, "A map.");
        assert_eq!(parsed.blocks.len(), 1);
        assert_eq!(parsed.blocks[0].range, 0..parsed.text.len());
    }
}
