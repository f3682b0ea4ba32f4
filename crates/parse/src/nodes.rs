//! From xberg's tree of a document to our text: its nodes in reading order, its tables with what
//! the file's own XML says about merged cells.
use std::collections::HashMap;

use xberg::ExtractedDocument;
use xberg::types::document_structure::{
    AnnotationKind, ContentLayer, DocumentNode, NodeContent, TableGrid, TextAnnotation,
};

use crate::container;
use crate::detect::Format;
use crate::grid::{Cell, Grid};
use crate::inline::Inline;
use crate::office::{self, OfficeTable};
use crate::scan::Scans;
use crate::writer::Writer;

/// Smaller pictures (in pixels) are ornaments.
const ORNAMENT: u32 = 40;
/// Bytes of pictures that are kept of one document.
const MOST_PICTURES: usize = 50_000_000;

pub(crate) fn write(
    format: Format,
    bytes: &[u8],
    document: &ExtractedDocument,
    scans: &Scans,
    writer: &mut Writer,
) {
    let nodes = document.document.as_ref().map_or(&[][..], |document| &document.nodes);
    let tables = own_tables(format, bytes, nodes);
    let mut walk =
        Walk { format, document, nodes, tables, numbers: HashMap::new(), room: MOST_PICTURES };
    let mut pages = walk.pages(bytes, scans);
    for node in nodes {
        if let Some(page) = node.page {
            pages.begin(page, writer);
        }
        walk.node(node, writer);
    }
    pages.begin(u32::MAX, writer);
}

/// The tables as the file has them, if they can be matched to xberg's one by one.
fn own_tables(format: Format, bytes: &[u8], nodes: &[DocumentNode]) -> Vec<Option<OfficeTable>> {
    let theirs = nodes.iter().filter(|node| matches!(node.content, NodeContent::Table { .. }));
    let count = theirs.count();
    if count > 0
        && format.is_archive()
        && let Ok(mut archive) = container::open(bytes)
    {
        let tables = office::tables(format, &mut archive);
        if tables.len() == count {
            return tables.into_iter().rev().map(Some).collect();
        }
    }
    vec![]
}

struct Walk<'a> {
    format: Format,
    document: &'a ExtractedDocument,
    nodes: &'a [DocumentNode],
    /// The last table first.
    tables: Vec<Option<OfficeTable>>,
    /// By list: the number of its last item.
    numbers: HashMap<u32, usize>,
    room: usize,
}

impl Walk<'_> {
    fn node(&mut self, node: &DocumentNode, writer: &mut Writer) {
        if matches!(node.content_layer, ContentLayer::Header | ContentLayer::Footer) {
            // The table of a letterhead has its place among the tables all the same.
            if matches!(node.content, NodeContent::Table { .. }) {
                self.tables.pop();
            }
            return;
        }
        let words = |text: &str| self.words(text, &node.annotations);
        match &node.content {
            NodeContent::Title { text } => writer.heading(1, &words(text)),
            NodeContent::Heading { level, text } => writer.heading(*level, &words(text)),
            NodeContent::Paragraph { text } | NodeContent::Formula { text } => {
                let inline = words(text);
                if self.in_quote(node) { writer.quote(&inline) } else { writer.paragraph(&inline) }
            }
            NodeContent::Footnote { text } | NodeContent::Citation { text, .. } => {
                writer.paragraph(&words(text));
            }
            NodeContent::ListItem { text } => {
                let inline = words(text);
                let (depth, marker) = self.marker(node);
                writer.item(depth, &marker, &inline);
            }
            NodeContent::DefinitionItem { term, definition } => {
                writer.item(0, "-", &Inline::words(&format!("{term}: {definition}")));
            }
            NodeContent::Table { grid } => self.table(grid, writer),
            NodeContent::Image { description, image_index, src } => {
                let at = image_index.and_then(|at| usize::try_from(at).ok());
                let name =
                    src.clone().unwrap_or_else(|| format!("picture-{}", at.unwrap_or(0) + 1));
                self.picture(at, description.as_deref(), &name, writer);
            }
            NodeContent::Code { text, .. } => writer.code(text),
            NodeContent::RawBlock { content, .. } => writer.paragraph(&Inline::lines(content)),
            NodeContent::MetadataBlock { entries } => {
                let lines = entries.iter().map(|entry| format!("{}: {}\n", entry.key, entry.value));
                writer.paragraph(&Inline::lines(&lines.collect::<String>()));
            }
            NodeContent::Admonition { kind, title } => {
                writer.paragraph(&Inline::words(title.as_deref().unwrap_or(kind)));
            }
            // Containers, whose inside follows, and what reviewers said about the text.
            NodeContent::List { .. }
            | NodeContent::Quote
            | NodeContent::Group { .. }
            | NodeContent::Slide { .. }
            | NodeContent::DefinitionList
            | NodeContent::PageBreak
            | NodeContent::Comment { .. } => {}
        }
    }

    /// The text with its links. In a PDF, lines end where the page is full.
    fn words(&self, text: &str, annotations: &[TextAnnotation]) -> Inline {
        let mut inline = Inline::default();
        let mut at = 0;
        let lines = |inline: &mut Inline, part: &str| {
            for (index, line) in part.split('\n').enumerate() {
                if index > 0 {
                    if self.format == Format::Pdf { inline.push(" ") } else { inline.break_line() }
                }
                inline.push(line);
            }
        };
        for annotation in annotations {
            let AnnotationKind::Link { url, .. } = &annotation.kind else { continue };
            let (start, end) = (annotation.start as usize, annotation.end as usize);
            if start < at || start >= end {
                continue;
            }
            if let (Some(before), Some(linked)) = (text.get(at..start), text.get(start..end)) {
                lines(&mut inline, before);
                let from = inline.text.len();
                lines(&mut inline, linked);
                // Of relations between the parts of a file, xberg leaves these as they are.
                inline.link_from(from, &url.replace("&amp;", "&"));
                at = end;
            }
        }
        lines(&mut inline, &text[at..]);
        inline.trimmed()
    }

    fn parents(&self, node: &DocumentNode) -> impl Iterator<Item = (u32, &DocumentNode)> {
        let mut next = node.parent;
        // A tree cannot be deeper than it has nodes.
        let mut left = self.nodes.len();
        std::iter::from_fn(move || {
            let index = next?;
            left = left.checked_sub(1)?;
            let parent = self.nodes.get(index.0 as usize)?;
            next = parent.parent;
            Some((index.0, parent))
        })
    }

    fn in_quote(&self, node: &DocumentNode) -> bool {
        self.parents(node).any(|(_, parent)| matches!(parent.content, NodeContent::Quote))
    }

    /// How deep an item stands, and its mark.
    fn marker(&mut self, node: &DocumentNode) -> (usize, String) {
        let list =
            |(_, parent): &(u32, &DocumentNode)| matches!(parent.content, NodeContent::List { .. });
        let lists: Vec<(u32, bool)> = self
            .parents(node)
            .filter(list)
            .map(|(index, list)| {
                (index, matches!(list.content, NodeContent::List { ordered: true }))
            })
            .collect();
        let depth = lists.len().saturating_sub(1);
        let own = node.attributes.as_ref().and_then(|attributes| attributes.get("list_marker"));
        if let Some(marker) = own.filter(|marker| marker.chars().any(char::is_alphanumeric)) {
            return (depth, marker.clone());
        }
        let Some((list, true)) = lists.first() else { return (depth, "-".to_owned()) };
        let number = self.numbers.entry(*list).or_default();
        *number += 1;
        (depth, format!("{number}."))
    }

    fn table(&mut self, theirs: &TableGrid, writer: &mut Writer) {
        let Some(Some(own)) = self.tables.pop() else {
            return writer.table(&of_theirs(theirs));
        };
        write_own(own, Some(theirs), writer);
    }

    fn picture(&mut self, at: Option<usize>, said: Option<&str>, name: &str, writer: &mut Writer) {
        let image = at.and_then(|at| self.document.images.as_ref()?.get(at));
        let small = |size: Option<u32>| size.is_some_and(|size| size < ORNAMENT);
        if image.is_some_and(|image| small(image.width) || small(image.height) || image.is_mask) {
            return;
        }
        let name = image.and_then(|image| image.source_path.as_deref()).unwrap_or(name);
        let caption = image.and_then(|image| image.caption.as_deref()).or(said).unwrap_or_default();
        let bytes = image.filter(|image| !image.data.is_empty() && image.data.len() <= self.room);
        let bytes = bytes.map(|image| {
            self.room -= image.data.len();
            (media(&image.format), image.data.to_vec())
        });
        if bytes.is_some() || !caption.trim().is_empty() {
            let caption = if generic(caption) { "" } else { caption };
            writer.figure(caption, name, bytes);
        }
    }

    /// The pages of a PDF that have next to no text are scans, to be read before what follows.
    fn pages<'b>(&self, bytes: &'b [u8], scans: &'b Scans) -> Pages<'b> {
        let mut pages = Pages { bytes, scans, written: 0, missing: vec![] };
        let about = self.document.metadata.pages.as_ref();
        let Some(about) = about.filter(|_| self.format == Format::Pdf) else { return pages };
        let count = about.total_count.min(100_000);
        let mut letters = vec![0; count as usize + 1];
        for node in self.nodes {
            let page = node.page.and_then(|page| letters.get_mut(page as usize));
            if let Some(letters) = page {
                *letters += count_letters(&node.content);
            }
        }
        let blank = |page: u32| {
            let infos = about.pages.iter().flatten();
            infos.filter(|info| info.number == page).any(|info| info.is_blank == Some(true))
        };
        for page in 1..=count {
            if letters[page as usize] >= 10 {
                continue;
            }
            let images = self.document.images.iter().flatten();
            let image = images.filter(|image| image.page_number == Some(page));
            let largest =
                image.max_by_key(|image| image.data.len()).map(|image| image.data.to_vec());
            if largest.is_some() || !blank(page) {
                pages.missing.push((page, largest));
            }
        }
        pages.missing.reverse();
        pages
    }
}

/// Opens pages one after another.
struct Pages<'a> {
    bytes: &'a [u8],
    scans: &'a Scans,
    written: u32,
    /// Pages without text, the last one first, each with its largest picture.
    missing: Vec<(u32, Option<Vec<u8>>)>,
}

impl Pages<'_> {
    /// Begins `page`, after all scans on it and before it.
    fn begin(&mut self, page: u32, writer: &mut Writer) {
        while let Some((scan, image)) = self.missing.pop_if(|(scan, _)| *scan <= page) {
            writer.page(scan);
            match self.scans.page(self.bytes, scan, image.as_deref()) {
                Ok(text) => {
                    for part in text.split("\n\n") {
                        writer.paragraph(&Inline::lines(part));
                    }
                }
                Err(why) => writer.warn(why),
            }
        }
        if page != self.written && page != u32::MAX {
            self.written = page;
            writer.page(page);
        }
    }
}

fn count_letters(content: &NodeContent) -> usize {
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
    match content {
        NodeContent::Paragraph { text }
        | NodeContent::Heading { text, .. }
        | NodeContent::Title { text }
        | NodeContent::ListItem { text }
        | NodeContent::Footnote { text }
        | NodeContent::Formula { text }
        | NodeContent::Code { text, .. } => letters(text),
        NodeContent::Table { grid } => grid.cells.iter().map(|cell| letters(&cell.content)).sum(),
        _ => 0,
    }
}

/// A table with the words of xberg, which knows formulas, in the cells of the file.
fn write_own(mut own: OfficeTable, theirs: Option<&TableGrid>, writer: &mut Writer) {
    let cells = own.grid.rows.iter().map(Vec::len).sum::<usize>();
    let frame = cells <= 1 && !own.inner.is_empty();
    if let Some(theirs) = theirs.filter(|_| own.inner.is_empty()) {
        words_of(theirs, &mut own.grid);
    }
    if !frame {
        writer.table(&own.grid);
    }
    for inner in own.inner {
        write_own(inner, None, writer);
    }
}

/// Puts the words of xberg into the cells of the file, where both have the same size.
fn words_of(theirs: &TableGrid, own: &mut Grid) {
    let size = own.place();
    if theirs.rows as usize != size.places.len() || theirs.cols as usize != size.width {
        return;
    }
    for cell in &theirs.cells {
        let row = size.places.get(cell.row as usize);
        let place = row.and_then(|row| row.get(cell.col as usize).copied().flatten());
        let place = place.filter(|place| place.row == cell.row as usize && place.first_column);
        if let Some(place) = place.filter(|_| !cell.content.trim().is_empty()) {
            own.rows[place.row][place.cell].content = Inline::lines(&cell.content);
        }
    }
}

fn of_theirs(theirs: &TableGrid) -> Grid {
    let mut rows: Vec<Vec<Cell>> = vec![];
    let mut cells: Vec<_> = theirs.cells.iter().collect();
    cells.sort_by_key(|cell| (cell.row, cell.col));
    let most = theirs.rows.min(1_000_000) as usize;
    rows.resize_with(most, Vec::new);
    for cell in cells {
        if let Some(row) = rows.get_mut(cell.row as usize) {
            row.push(Cell {
                content: Inline::words(&cell.content),
                rows: cell.row_span as usize,
                columns: cell.col_span as usize,
                // xberg calls every first row a header, so that says nothing.
                header: false,
            });
        }
    }
    rows.retain(|row| row.iter().any(|cell| !cell.content.is_empty()));
    Grid { rows, ..Grid::default() }
}

fn media(format: &str) -> String {
    match format.to_ascii_lowercase().as_str() {
        "jpg" => "image/jpeg".to_owned(),
        "tif" => "image/tiff".to_owned(),
        "svg" => "image/svg+xml".to_owned(),
        format => format!("image/{format}"),
    }
}

/// Names that programs give pictures, which say nothing.
fn generic(caption: &str) -> bool {
    let word =
        caption.trim_end_matches(|c: char| c.is_ascii_digit() || c.is_whitespace() || c == '\0');
    matches!(
        word.to_lowercase().as_str(),
        "picture" | "image" | "figure" | "graphic" | "grafik" | ""
    )
}
