//! Filters of a search as the rows of a layer that they let in, so that they hold before the limit
//! is taken. A filter that nothing fits lets nothing in.
use std::collections::HashSet;
use std::ops::Range;

use halma_core::{Edge, Filter, Layer};

use crate::names::fits;
use crate::store::{At, DocumentRecord, Row, SectionRecord, StoreReader};
use crate::tags::TagIndex;

/// A set of rows, one bit each.
#[derive(Debug, Default, Clone)]
pub(crate) struct Rows(Vec<u64>);

impl Rows {
    pub(crate) fn insert(&mut self, row: Row) {
        let at = row as usize / 64;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] |= 1 << (row % 64);
    }

    pub(crate) fn remove(&mut self, row: Row) {
        if let Some(bits) = self.0.get_mut(row as usize / 64) {
            *bits &= !(1 << (row % 64));
        }
    }

    pub(crate) fn contains(&self, row: Row) -> bool {
        self.0.get(row as usize / 64).is_some_and(|bits| bits >> (row % 64) & 1 == 1)
    }
}

/// What a search may return.
#[derive(Debug, Default, Clone)]
pub(crate) struct Admitted {
    pub(crate) excluded: HashSet<Row>,
    /// `None` where there is no filter.
    pub(crate) allowed: Option<std::sync::Arc<Rows>>,
}

impl Admitted {
    pub(crate) fn is_everything(&self) -> bool {
        self.excluded.is_empty() && self.allowed.is_none()
    }

    pub(crate) fn admits(&self, row: Row) -> bool {
        !self.excluded.contains(&row)
            && self.allowed.as_ref().is_none_or(|allowed| allowed.contains(row))
    }
}

/// The rows of a layer that a filter lets in.
pub(crate) fn allowed(
    reader: &StoreReader<'_>,
    filter: &Filter,
    layer: Layer,
) -> heed::Result<Rows> {
    let mut corpus =
        Corpus { documents: Rows::default(), sections: Rows::default(), chunks: Rows::default() };
    let selection = Selection { filter, tagged: tagged(reader, &filter.tags)? };
    for node in reader.nodes::<DocumentRecord>()? {
        let (row, document) = node?;
        if is_document(filter, &document) {
            corpus.add(reader, row, &document, &selection)?;
        }
    }
    match layer {
        Layer::Document => Ok(corpus.documents),
        Layer::Section => Ok(corpus.sections),
        Layer::Chunk => Ok(corpus.chunks),
        Layer::Atom => {
            let mut atoms = Rows::default();
            for chunk in reader.all_rows(Layer::Chunk)? {
                if corpus.chunks.contains(chunk) {
                    reader.atoms_of(chunk)?.for_each(|atom| atoms.insert(atom));
                }
            }
            Ok(atoms)
        }
        other => corpus.resting_on(reader, other),
    }
}

/// Of a document: all its rows of a layer, and those that a filter lets in; `None` when it is gone.
pub(crate) fn allowed_of_document(
    reader: &StoreReader<'_>,
    filter: &Filter,
    (layer, row): At,
) -> heed::Result<Option<(Range<Row>, Rows)>> {
    let Some(document) = reader.node::<DocumentRecord>(row)? else { return Ok(None) };
    let mut corpus =
        Corpus { documents: Rows::default(), sections: Rows::default(), chunks: Rows::default() };
    if is_document(filter, &document) {
        corpus.add(reader, row, &document, &Selection { filter, tagged: None })?;
    }
    Ok(Some(match layer {
        Layer::Document => (row..row + 1, corpus.documents),
        Layer::Section => (document.sections.0..document.sections.1, corpus.sections),
        _ => (document.chunks.0..document.chunks.1, corpus.chunks),
    }))
}

fn is_document(filter: &Filter, document: &DocumentRecord) -> bool {
    let any_name = filter.documents.is_empty() && filter.metadata.is_empty();
    let named = |at: usize| admits_name(filter, document, at);
    admits_document(filter, document) && (any_name || (0..document.names.len()).any(named))
}

/// Whether a filter admits a document, as far as its names do not matter.
pub(crate) fn admits_document(filter: &Filter, document: &DocumentRecord) -> bool {
    let formatted = |format: &String| document.format.eq_ignore_ascii_case(format);
    (filter.formats.is_empty() || filter.formats.iter().any(formatted))
        && is_within(filter, document.date.as_deref())
}

/// Whether a filter admits a document under its name at this place, with the fields that it has
/// under this name.
pub(crate) fn admits_name(filter: &Filter, document: &DocumentRecord, at: usize) -> bool {
    let named = |pattern: &String| fits(pattern, &document.names[at]);
    (filter.documents.is_empty() || filter.documents.iter().any(named))
        && (filter.metadata.is_empty() || filter.metadata.admits(&document.metadata_of(at)))
}

/// Dates are compared as far as both go: what is dated `2023` may be of May 2023.
fn is_within(filter: &Filter, date: Option<&str>) -> bool {
    let bounds = [filter.since.as_deref(), filter.until.as_deref()];
    if bounds.iter().all(Option::is_none) {
        return true;
    }
    let is_date =
        |date: &&str| date.len() >= 4 && date.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    let date = date.map(|date| date.get(..10).unwrap_or(date)).filter(is_date);
    let Some(date) = date else { return false };
    let common = |bound: &str| {
        let length = bound.len().min(date.len());
        (date[..length].to_owned(), bound[..length].to_owned())
    };
    let since = bounds[0].is_none_or(|bound| {
        is_date(&bound) && {
            let (date, bound) = common(bound);
            date >= bound
        }
    });
    let until = bounds[1].is_none_or(|bound| {
        is_date(&bound) && {
            let (date, bound) = common(bound);
            date <= bound
        }
    });
    since && until
}

/// The chunks with one of the tags, by any of its names or by words that samples map to it; `None`
/// where none is asked for.
fn tagged(reader: &StoreReader<'_>, tags: &[String]) -> heed::Result<Option<Rows>> {
    if tags.is_empty() {
        return Ok(None);
    }
    let (index, mut chunks) = (TagIndex::load(reader)?, Rows::default());
    for tag in tags.iter().flat_map(|name| index.called(name)) {
        for link in reader.edges_to((Layer::Tag, tag.row), Some(Edge::Tagged))? {
            if link.from.0 == Layer::Chunk {
                chunks.insert(link.from.1);
            }
        }
    }
    Ok(Some(chunks))
}

fn is_section(filter: &Filter, name: Option<&str>) -> bool {
    let fits_one = |pattern: &String| {
        let (pattern, name) = (pattern.to_lowercase(), name.unwrap_or("").to_lowercase());
        fits(&pattern, &name) || name.split(" > ").any(|heading| fits(&pattern, heading))
    };
    filter.sections.is_empty() || name.is_some() && filter.sections.iter().any(fits_one)
}

/// Which sections and chunks of a document are selected.
struct Selection<'a> {
    filter: &'a Filter,
    /// The chunks with one of the tags asked for; `None` where none is.
    tagged: Option<Rows>,
}

/// The part of the corpus that a filter admits.
struct Corpus {
    documents: Rows,
    sections: Rows,
    chunks: Rows,
}

impl Corpus {
    /// Adds what of a document is selected.
    fn add(
        &mut self,
        reader: &StoreReader<'_>,
        row: Row,
        document: &DocumentRecord,
        selection: &Selection<'_>,
    ) -> heed::Result<()> {
        let Selection { filter, tagged } = selection;
        if filter.sections.is_empty() && tagged.is_none() {
            self.documents.insert(row);
            (document.sections.0..document.sections.1).for_each(|row| self.sections.insert(row));
            (document.chunks.0..document.chunks.1).for_each(|row| self.chunks.insert(row));
            return Ok(());
        }
        for section in document.sections.0..document.sections.1 {
            let Some(record) = reader.node::<SectionRecord>(section)? else { continue };
            if !is_section(filter, record.name.as_deref()) {
                continue;
            }
            for chunk in record.chunks.0..record.chunks.1 {
                if tagged.as_ref().is_none_or(|tagged| tagged.contains(chunk)) {
                    self.documents.insert(row);
                    self.sections.insert(section);
                    self.chunks.insert(chunk);
                }
            }
        }
        Ok(())
    }

    /// The rows of another layer that rest on this part of the corpus.
    fn resting_on(&self, reader: &StoreReader<'_>, layer: Layer) -> heed::Result<Rows> {
        let mut rows = Rows::default();
        for row in reader.all_rows(layer)? {
            if self.supports(reader, (layer, row))? {
                rows.insert(row);
            }
        }
        Ok(rows)
    }

    fn supports(&self, reader: &StoreReader<'_>, at: At) -> heed::Result<bool> {
        let Some(record) = reader.record(at)? else { return Ok(false) };
        Ok(record.sources(reader, at.1)?.into_iter().any(|source| self.holds(source)))
    }

    fn holds(&self, (layer, row): At) -> bool {
        match layer {
            Layer::Document => self.documents.contains(row),
            Layer::Section => self.sections.contains(row),
            Layer::Chunk => self.chunks.contains(row),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, text, expected) in [
            ("a.md", "a.md", true),
            ("a.md", "a.mdx", false),
            ("*.md", "sub/a.md", true),
            ("sub/*", "sub/a.md", true),
            ("s*a*d", "sub/a.md", true),
            ("*", "", true),
            ("", "a", false),
            ("a*a", "a", false),
            ("*.pdf", "a.md", false),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn dates_are_prefixes_and_what_is_no_date_fits_nothing() {
        let filter = |since: &str, until: &str| Filter {
            since: Some(since.to_owned()).filter(|s| !s.is_empty()),
            until: Some(until.to_owned()).filter(|s| !s.is_empty()),
            ..Filter::default()
        };
        for (since, until, date, expected) in [
            ("2023", "", Some("2023-05-01"), true),
            ("2023-05-02", "", Some("2023-05-01T10:00"), false),
            ("", "2023-05", Some("2023-05-31"), true),
            ("", "2023-04", Some("2023-05-31"), false),
            ("2023-05", "2023-06", Some("2023"), true),
            ("2023", "", None, false),
            ("yesterday", "", Some("2023-05-01"), false),
            ("", "", None, true),
        ] {
            assert_eq!(
                is_within(&filter(since, until), date),
                expected,
                "{since} {until} {date:?}"
            );
        }
    }

    #[test]
    fn rows_are_held_one_bit_each() {
        let mut rows = Rows::default();
        for row in [0, 63, 64, 1000] {
            rows.insert(row);
        }
        let held: Vec<Row> = (0..1100).filter(|row| rows.contains(*row)).collect();
        assert_eq!(held, [0, 63, 64, 1000]);
    }
}
