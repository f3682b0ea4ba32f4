//! Passages in their order: of a document, or those that a regular expression matches. The lexical
//! index names the passages that have a word which every match must have, and only these are read;
//! the expression decides.
mod required;

use std::time::{Duration, Instant};

use halma_core::text::thousands;
use halma_core::{Filter, Layer, PassageQuery, Passages, Which};
use regex::{Regex, RegexBuilder};

use self::required::required_words;
use crate::store::{ChunkRecord, DocumentRecord, Row, parse_id};
use crate::{Base, KbError};

/// Passages that are read for one expression: some 50 ms.
const READ: usize = 10_000;

/// Bytes that an expression may take once compiled; `(a{1000}){1000}` would take a gigabyte.
const COMPILED: usize = 1 << 20;

/// Bytes of the longest expression.
const LONGEST: usize = 1_000;

/// After this time no further passage is read: most expressions take microseconds for one, the worst
/// that fit into [`COMPILED`] some milliseconds.
const TIME: Duration = Duration::from_secs(1);

impl Base {
    /// Passages of a document or section, around one of them, or that a regular expression matches.
    /// It blocks.
    ///
    /// # Errors
    /// [`KbError::BadExpression`] for an expression that cannot be used, [`KbError::NoDocument`] and
    /// [`KbError::NoNode`] where there is nothing of this name or id.
    pub fn find_passages(&self, query: &PassageQuery) -> Result<Passages, KbError> {
        match &query.which {
            Which::From(of, from) => self.passages_from(of, *from, query.limit),
            Which::Matching(expression) => self.matching(expression, query),
        }
    }

    /// Only the texts of the passages are read, however long their document is.
    fn passages_from(&self, of: &str, from: i64, limit: usize) -> Result<Passages, KbError> {
        let id = self.inspector().find(of)?;
        let missing = || KbError::NoNode { id: id.0.clone() };
        let (layer, key) = parse_id(&id).ok_or_else(missing)?;
        let passages = self.store.read(|reader| {
            let Some(row) = reader.find(layer, key)? else { return Ok(None) };
            let Some(record) = reader.record((layer, row))? else { return Ok(None) };
            let (mut rows, mut from) = (record.chunks(row), from);
            if layer == Layer::Chunk {
                let document: DocumentRecord =
                    reader.linked(reader.linked::<ChunkRecord>(row)?.document)?;
                rows = document.chunks.0..document.chunks.1;
                from = from.saturating_add(i64::from(row - rows.start));
            }
            let total = rows.len();
            let first = usize::try_from(from.max(0)).unwrap_or(total).min(total);
            let hits = rows.skip(first).take(limit).map(|row| reader.hit((Layer::Chunk, row)));
            let hits = hits.filter_map(Result::transpose).map(|hit| Ok((hit?, 0)));
            let hits = hits.collect::<heed::Result<_>>()?;
            Ok(Some(Passages { hits, first, total, limitation: None }))
        })?;
        passages.ok_or_else(missing)
    }

    fn matching(&self, expression: &str, query: &PassageQuery) -> Result<Passages, KbError> {
        let expression = if expression.len() <= LONGEST {
            RegexBuilder::new(expression).size_limit(COMPILED).build()?
        } else {
            let reason = format!("it is longer than {LONGEST} bytes");
            return Err(regex::Error::Syntax(reason).into());
        };
        let (rows, all) = self.candidates(&expression, &query.filter)?;
        let (until, mut read) = (Instant::now() + TIME, 0);
        let mut passages = Passages::default();
        self.store.read(|reader| {
            for row in rows {
                if Instant::now() >= until {
                    break;
                }
                read += 1;
                // A row that was replaced since it was named is no match.
                let Some(chunk) = reader.node::<ChunkRecord>(row)? else { continue };
                let text = reader.chunk_text(&chunk)?;
                let Some(start) = expression.find(&text).map(|one| one.start()) else { continue };
                passages.total += 1;
                if passages.hits.len() < query.limit {
                    passages.hits.extend(reader.hit((Layer::Chunk, row))?.map(|hit| (hit, start)));
                }
            }
            Ok(())
        })?;
        passages.limitation = (read < all).then(|| {
            let [read, all] = [read, all].map(thousands);
            format!("(only the first {read} of {all} passages that may match were read)")
        });
        Ok(passages)
    }

    /// The first passages that may match, in order, and how many there are.
    fn candidates(&self, expression: &Regex, filter: &Filter) -> Result<(Vec<Row>, u64), KbError> {
        let snapshot = self.caches.refresh(&self.store)?;
        let allowed = snapshot.allowed(filter, Layer::Chunk)?;
        let parsed = regex_syntax::parse(expression.as_str());
        let words = parsed.map(|parsed| required_words(&parsed)).unwrap_or_default();
        let named = snapshot.lexical(Layer::Chunk)?.holding(&words)?;
        let end = self.store.read(|reader| reader.next_row(Layer::Chunk))?;
        let may_match = |row: &Row| {
            named.as_ref().is_none_or(|named| named.contains(*row))
                && allowed.as_ref().is_none_or(|allowed| allowed.contains(*row))
        };
        let mut rows: Vec<Row> = (0..end).filter(may_match).collect();
        let all = rows.len() as u64;
        rows.truncate(READ);
        Ok((rows, all))
    }
}
