//! The workbook stream of Excel before 2007, made fit for reading (MS-XLS 2.1).
use std::io::{Cursor, Read, Write};

use cfb::{CompoundFile, Version};

/// Types of records.
const BOF: u16 = 0x0809;
const EOF: u16 = 0x000a;
const BOUND_SHEET: u16 = 0x0085;
const DIMENSIONS: u16 = 0x0200;

/// The workbook as the only stream of a compound file, however its name is written, and without what
/// charts in its sheets store: their numbers would overwrite cells.
pub(super) fn workbook(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut file = CompoundFile::open(Cursor::new(bytes)).ok()?;
    let name = ["/Workbook", "/Book"].into_iter().find(|name| file.is_stream(name))?;
    let mut stream = vec![];
    file.open_stream(name).ok()?.take(bytes.len() as u64).read_to_end(&mut stream).ok()?;
    blank_inner(&mut stream);
    let single = Cursor::new(vec![]);
    let mut single = CompoundFile::create_with_version(Version::V3, single).ok()?;
    single.create_stream("/Workbook").ok()?.write_all(&stream).ok()?;
    Some(single.into_inner().into_inner())
}

/// Blanks what stands inside the substreams of sheets, and sheets that overlap.
fn blank_inner(stream: &mut [u8]) {
    let mut sheets = vec![];
    let mut end = walk(stream, 0, |record, stream| {
        if let (BOUND_SHEET, Some(place)) = (record.kind, stream[record.at + 4..].first_chunk()) {
            sheets.push((u32::from_le_bytes(*place) as usize, record.at));
        }
    });
    sheets.sort_unstable();
    for (start, at) in sheets {
        if start < end {
            blank(stream, at);
            continue;
        }
        end = walk(stream, start, |record, stream| {
            // What the sheet says of its size would be believed.
            if record.depth > 1 || record.kind == DIMENSIONS {
                blank(stream, record.at);
            }
        });
    }
}

struct Record {
    kind: u16,
    at: usize,
    /// Substreams that it is in.
    depth: usize,
}

/// Goes through the records of a substream; returns its end.
fn walk(stream: &mut [u8], start: usize, mut each: impl FnMut(&Record, &mut [u8])) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(&[a, b, c, d]) = stream.get(at..).and_then(|rest| rest.first_chunk()) {
        let kind = u16::from_le_bytes([a, b]);
        depth += usize::from(kind == BOF);
        each(&Record { kind, at, depth }, stream);
        at += 4 + usize::from(u16::from_le_bytes([c, d]));
        depth -= usize::from(kind == EOF && depth > 0);
        if kind == EOF && depth == 0 {
            break;
        }
    }
    at.min(stream.len())
}

/// Gives a record a type that means nothing.
fn blank(stream: &mut [u8], at: usize) {
    stream[at..at + 2].fill(0xff);
}
