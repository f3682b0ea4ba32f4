//! Markdown: front matter, and what stands where in the text, which stays as it is.
use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use crate::parsed::{Block, BlockKind, Figure, Link, Parsed, Table, TableRow};

/// Reads a text as Markdown. Nothing is refused: what has no marks is paragraphs.
pub(crate) fn read(text: String) -> Parsed {
    let body = front_matter(&text);
    let mut reader = MarkdownReader::default();
    for (event, range) in Parser::new_ext(&text[body..], Options::ENABLE_TABLES).into_offset_iter()
    {
        reader.event(&event, range.start + body..range.end + body);
    }
    let mut parsed = Parsed { format: "markdown", body, ..reader.parsed };
    parsed.blocks = tile(&text, body, parsed.blocks);
    crate::html::table::tables_in(&text, &mut parsed);
    about(&mut parsed, &text[..body]);
    parsed.text = text;
    if parsed.title.is_none() {
        let first =
            parsed.blocks.iter().find(|block| block.kind == BlockKind::Heading { level: 1 });
        parsed.title = first.map(|block| heading(&parsed.text[block.range.clone()]));
        parsed.title = parsed.title.filter(|title| !title.is_empty());
    }
    parsed
}

/// The words of a heading, without its marks.
pub(crate) fn heading(text: &str) -> String {
    let mut words = String::new();
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Text(text) | Event::Code(text) => words.push_str(&text),
            Event::SoftBreak | Event::HardBreak => words.push(' '),
            Event::End(TagEnd::Heading(_)) => break,
            _ => {}
        }
    }
    words.trim().to_owned()
}

/// Where the front matter (lines between `---`) ends; 0 without one.
fn front_matter(text: &str) -> usize {
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else { return 0 };
    let mut at = first.len();
    for line in lines {
        at += line.len();
        if matches!(line.trim_end(), "---" | "...") {
            return at;
        }
    }
    0
}

/// What the front matter's `key: value` lines say about the document.
fn about(parsed: &mut Parsed, front: &str) {
    for line in front.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim().trim_matches(['"', '\'']).trim();
        let slot = match key.trim() {
            "title" => &mut parsed.title,
            "author" => &mut parsed.author,
            "url" => &mut parsed.url,
            "date" => &mut parsed.date,
            _ => continue,
        };
        if !value.is_empty() {
            *slot = Some(value.to_owned());
        }
    }
    if let Some(date) = &parsed.date {
        // A date in words is kept as it is.
        parsed.date = halma_text::dates::normalise_stamp(date).or_else(|| Some(date.clone()));
    }
}

#[derive(Default)]
struct MarkdownReader {
    parsed: Parsed,
    /// Containers whose inside is not looked at: a quote is one block.
    quotes: usize,
    lists: usize,
    cell: Option<String>,
    cells: Vec<String>,
    link: Option<(Range<usize>, String, String)>,
    picture: Option<(Range<usize>, String)>,
    paragraph: Option<Range<usize>>,
}

impl MarkdownReader {
    fn event(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.open(tag, range),
            Event::End(tag) => self.close(*tag, range),
            Event::Text(words) | Event::Code(words) => self.words(words),
            Event::SoftBreak | Event::HardBreak => self.words(" "),
            _ => {}
        }
    }

    fn open(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        let top = self.quotes == 0 && self.lists == 0;
        match tag {
            Tag::Heading { level, .. } if top => {
                self.block(range, BlockKind::Heading { level: *level as u8 });
            }
            Tag::Paragraph if top => {
                self.paragraph = Some(range.clone());
                self.block(range, BlockKind::Paragraph);
            }
            Tag::HtmlBlock if top => self.block(range, BlockKind::Paragraph),
            Tag::CodeBlock(_) if top => self.block(range, BlockKind::Code),
            Tag::BlockQuote(_) => {
                if top {
                    self.block(range, BlockKind::Quote);
                }
                self.quotes += 1;
            }
            Tag::List(_) => self.lists += 1,
            Tag::Item if self.quotes == 0 => self.block(range, BlockKind::ListItem),
            Tag::Table(_) if self.quotes == 0 => {
                self.block(range.clone(), BlockKind::Table(self.parsed.tables.len()));
                self.parsed.tables.push(Table { range, ..Table::default() });
            }
            Tag::TableCell => self.cell = Some(String::new()),
            Tag::Link { dest_url, link_type, .. } => {
                let mail = *link_type == LinkType::Email && !dest_url.starts_with("mailto:");
                let target = if mail { format!("mailto:{dest_url}") } else { dest_url.to_string() };
                self.link = Some((range, String::new(), target));
            }
            Tag::Image { .. } => self.picture = Some((range, String::new())),
            _ => {}
        }
    }

    fn close(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::BlockQuote(_) => self.quotes -= 1,
            TagEnd::List(_) => self.lists -= 1,
            TagEnd::Paragraph => self.paragraph = None,
            TagEnd::TableCell => {
                self.cells.push(self.cell.take().unwrap_or_default().trim().to_owned());
            }
            TagEnd::TableHead | TagEnd::TableRow if self.quotes > 0 => self.cells.clear(),
            TagEnd::TableHead => {
                if let Some(table) = self.parsed.tables.last_mut() {
                    table.columns = std::mem::take(&mut self.cells);
                }
            }
            TagEnd::TableRow => {
                let cells = std::mem::take(&mut self.cells);
                if let Some(table) = self.parsed.tables.last_mut() {
                    table.rows.push(TableRow { range, cells });
                }
            }
            TagEnd::Link => {
                if let Some((range, text, target)) = self.link.take() {
                    self.parsed.links.push(Link { range, text: text.trim().to_owned(), target });
                }
            }
            TagEnd::Image => self.figure(),
            _ => {}
        }
    }

    /// A picture that is all of its paragraph is a block of its own.
    fn figure(&mut self) {
        let Some((range, caption)) = self.picture.take() else { return };
        if let (Some(paragraph), Some(block)) = (&self.paragraph, self.parsed.blocks.last_mut())
            && paragraph.start == range.start
            && paragraph.end <= range.end + 2
            && block.range == *paragraph
        {
            block.kind = BlockKind::Figure(self.parsed.figures.len());
        }
        let caption = Some(caption.trim().to_owned()).filter(|caption| !caption.is_empty());
        self.parsed.figures.push(Figure { range, caption, ..Figure::default() });
    }

    fn words(&mut self, words: &str) {
        let link = self.link.as_mut().map(|(_, text, _)| text);
        let picture = self.picture.as_mut().map(|(_, text)| text);
        for text in [self.cell.as_mut(), link, picture].into_iter().flatten() {
            text.push_str(words);
        }
    }

    fn block(&mut self, range: Range<usize>, kind: BlockKind) {
        self.parsed.blocks.push(Block { range, kind });
    }
}

/// Makes blocks that lie inside one another follow one another: what is left of a list item around
/// a list or a table inside it is a block as well. Words that no block covers become paragraphs.
fn tile(text: &str, body: usize, nested: Vec<Block>) -> Vec<Block> {
    let mut blocks = vec![];
    // The blocks that are open, each with its end, the innermost last.
    let mut open: Vec<(usize, BlockKind)> = vec![];
    let mut at = body;
    let end = Block { range: text.len()..text.len(), kind: BlockKind::Paragraph };
    for block in nested.into_iter().chain([end]) {
        let start = block.range.start.max(at);
        while let Some((end, kind)) = open.pop_if(|(end, _)| *end <= start) {
            push(&mut blocks, text, at..end.max(at), kind);
            at = end.max(at);
        }
        let around = open.last().map_or(BlockKind::Paragraph, |(_, kind)| *kind);
        push(&mut blocks, text, at..start, around);
        at = start;
        open.push((block.range.end, block.kind));
    }
    blocks
}

/// Adds a block without the white space around it, if anything is left.
fn push(blocks: &mut Vec<Block>, text: &str, range: Range<usize>, kind: BlockKind) {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    let end = start + part.trim().len();
    if start < end {
        blocks.push(Block { range: start..end, kind });
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
