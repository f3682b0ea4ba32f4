//! PDF: the words of each page with their places, and what they come to: paragraphs, headings,
//! tables, links and pictures. Pages without text are read by OCR.
mod bidi;
mod blocks;
mod heads;
mod layout;
mod page;
mod pictures;
#[cfg(test)]
mod reading_tests;
mod scripts;
mod tables;
#[cfg(test)]
mod tests;
mod text;
mod unread;

use std::time::Instant;

use hayro_interpret::hayro_syntax::metadata::Metadata;
use hayro_interpret::hayro_syntax::object::{Array, DateTime, Dict, String as PdfString};
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro_interpret::kurbo::{Affine, Point, Rect};
use hayro_interpret::{
    Context, InterpreterCache, InterpreterSettings, RenderContent, interpret_page,
};

use crate::container::{locked, refusal};
use crate::inflate;
use crate::ocr::Ocr;
use crate::parsed::{Parsed, Refusal};
use crate::room::MAX_PICTURE_BYTES;
use crate::writer::Writer;
use crate::writer::inline::Inline;
use blocks::Sizes;
use layout::{Segment, columns, lines, segments};
use page::{Areas, Collector, Limits, LinkArea};
use pictures::Picture;
use text::PageText;
use unread::UnreadScans;

/// A page with fewer letters is a scan, if there is anything on it.
const MIN_LETTERS: usize = 10;
const MAX_LINKS: usize = 5_000;

pub(crate) fn read(bytes: Vec<u8>, ocr: &Ocr, until: Instant) -> Result<Parsed, Refusal> {
    inflate::check_file(&bytes, until)?;
    let pdf = Pdf::new(bytes).map_err(unreadable)?;
    inflate::check_objects(&pdf, until)?;
    let pages = pdf.pages();
    if pages.is_empty() {
        return Err(refusal("it has no pages", "check that it opens in a viewer"));
    }
    let mut shared = Shared { pdf: &pdf, cache: InterpreterCache::new(), areas: Areas::new() };
    let mut room = MAX_PICTURE_BYTES;
    let mut read: Vec<PageContent> = vec![];
    let mut drawn = 0;
    for page in pages.iter() {
        inflate::check_time(until)?;
        inflate::check_page(page)?;
        let content = content(page, &mut shared, &Limits { picture_room: room, until });
        room -= content.pictures.iter().map(|picture| picture.bytes.len()).sum::<usize>();
        read.push(content);
        // What a page draws stays in memory.
        drawn += page.page_stream().map_or(0, |stream| stream.len() as u64);
        inflate::check_size(drawn)?;
    }
    let mut texts: Vec<PageText> =
        read.iter_mut().map(|page| std::mem::take(&mut page.text)).collect();
    let is_scan = |(page, text): (&PageContent, &PageText)| {
        // Of a page whose fonts do not say their characters, OCR reads more than we do.
        (page.has_picture && text.letters() < MIN_LETTERS)
            || page.unknown > text.letters().max(MIN_LETTERS)
    };
    let is_scan: Vec<bool> = read.iter().zip(&texts).map(is_scan).collect();
    heads::drop_running_heads(&mut texts);
    let sizes = Sizes::of(&texts);
    let mut writer = Writer::new("pdf");
    let mut unread = UnreadScans::default();
    let mut picture_number = 0;
    for (number, ((content, text), is_scan)) in (1..).zip(read.into_iter().zip(&texts).zip(is_scan))
    {
        writer.page(number);
        let largest = content.pictures.iter().max_by_key(|picture| picture.bytes.len());
        if is_scan {
            match ocr.page(pdf.data().as_ref(), number, largest.map(|picture| &picture.bytes[..])) {
                Ok(text) => {
                    for part in text.split("\n\n") {
                        writer.paragraph(&Inline::lines(part));
                    }
                }
                Err(why) => unread.add(number, why),
            }
        }
        blocks::write(text, &sizes, &mut writer);
        for picture in content.pictures {
            picture_number += 1;
            let Picture { media, bytes, .. } = picture;
            writer.figure(
                "",
                &format!("picture-{picture_number}"),
                Some((media.to_owned(), bytes)),
            );
        }
    }
    unread.warnings().into_iter().for_each(|warning| writer.warn(warning));
    if writer.is_empty() {
        return Err(refusal(
            "it has no page with a text or a picture",
            "check that it opens in a viewer",
        ));
    }
    let mut parsed = writer.finish();
    parsed.title = largest_heading(&parsed);
    describe(&mut parsed, pdf.metadata());
    Ok(parsed)
}

fn unreadable(error: LoadPdfError) -> Refusal {
    match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => locked(),
        LoadPdfError::Decryption(_) => {
            refusal("its encryption is not known", "open it and save it without a password")
        }
        LoadPdfError::Invalid => refusal(
            "it cannot be read: it is not a complete PDF",
            "it may be damaged or cut off: open it and save it again",
        ),
    }
}

/// What is known of a page before it is written.
struct PageContent {
    text: PageText,
    pictures: Vec<Picture>,
    has_picture: bool,
    /// Glyphs whose fonts do not say which characters they are.
    unknown: usize,
}

/// What is shared between the pages of a document.
struct Shared<'a> {
    pdf: &'a Pdf,
    cache: InterpreterCache<'a>,
    areas: Areas,
}

fn content<'a>(page: &Page<'a>, shared: &mut Shared<'a>, limits: &Limits) -> PageContent {
    let transform = Affine::new(page.initial_transform(true).as_coeffs());
    let links = links(page, transform);
    let mut collector = Collector::new(&links, &mut shared.areas, limits);
    let (width, height) = page.render_dimensions();
    let bounds = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
    let settings =
        InterpreterSettings { render_content: RenderContent::all(), ..Default::default() };
    let mut context = Context::new(transform, bounds, &shared.cache, shared.pdf.xref(), settings);
    interpret_page(page, &mut context, &mut collector);
    let Collector { words, rules, mut pictures, has_picture, unknown, .. } = collector;
    let mut words = scripts::join(words);
    pictures.sort_by(|a, b| layout::by(a.y, b.y));
    let mut text = PageText {
        links: links.into_iter().map(|link| link.target).collect(),
        height: bounds.height(),
        ..PageText::default()
    };
    for word in &words {
        text.letter_sizes.add(word);
    }
    let mut blocks: Vec<Segment> = vec![];
    for table in tables::ruled(&rules, &mut words) {
        blocks.push(Segment::block(text.tables.len(), table.width, table.top));
        text.tables.push(table.grid);
    }
    // Text that runs in another direction comes after the rest of the page.
    let mut turned: Vec<usize> = vec![0, 1, 2, 3];
    turned.sort_by_key(|direction| {
        std::cmp::Reverse(words.iter().filter(|word| word.turned == *direction).count())
    });
    for direction in turned {
        let (aligned, rest) = words.into_iter().partition(|word| word.turned == direction);
        words = rest;
        let mut aligned = segments(aligned);
        if direction == 0 {
            aligned.append(&mut blocks);
        }
        text.groups
            .extend(columns(aligned).into_iter().map(lines).filter(|group| !group.is_empty()));
    }
    PageContent { text, pictures, has_picture, unknown }
}

/// The links of a page to places outside the document.
fn links(page: &Page<'_>, transform: Affine) -> Vec<LinkArea> {
    let Some(annotations) = page.raw().get::<Array<'_>>(b"Annots".as_slice()) else {
        return vec![];
    };
    let mut links = vec![];
    for annotation in annotations.iter::<Dict<'_>>().take(MAX_LINKS) {
        let action = annotation.get::<Dict<'_>>(b"A".as_slice());
        let target = action.and_then(|action| action.get::<PdfString<'_>>(b"URI".as_slice()));
        let corners = annotation.get::<Array<'_>>(b"Rect".as_slice());
        let corners: Vec<f64> =
            corners.into_iter().flat_map(|corners| corners.iter::<f64>()).collect();
        if let (Some(target), [x0, y0, x1, y1]) = (target, &corners[..]) {
            let area = Rect::from_points(
                transform * Point::new(*x0, *y0),
                transform * Point::new(*x1, *y1),
            );
            links.push(LinkArea { area, target: decoded(target.as_bytes()) });
        }
    }
    links
}

/// A text of the document's information: UTF-16, UTF-8 or (nearly) Latin-1.
fn decoded(bytes: &[u8]) -> String {
    match bytes {
        [0xfe, 0xff, rest @ ..] => {
            encoding_rs::UTF_16BE.decode_without_bom_handling(rest).0.into_owned()
        }
        [0xff, 0xfe, rest @ ..] => {
            encoding_rs::UTF_16LE.decode_without_bom_handling(rest).0.into_owned()
        }
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        bytes => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned(),
        },
    }
}

/// The heading of the first page in the largest letters.
fn largest_heading(parsed: &Parsed) -> Option<String> {
    let end = parsed.pages.get(1).map_or(parsed.text.len(), |page| page.start);
    let first = parsed.blocks.iter().filter(|block| block.range.start < end);
    let headings = first.filter_map(|block| parsed.heading(block));
    headings.min_by_key(|(level, _)| *level).map(|(_, words)| words)
}

fn describe(parsed: &mut Parsed, about: &Metadata) {
    let text = |bytes: &Option<Box<[u8]>>| bytes.as_deref().map(decoded);
    let title = text(&about.title).and_then(|title| crate::metadata::title(&title));
    parsed.title = title.or(parsed.title.take());
    parsed.author = text(&about.author).and_then(|author| crate::metadata::line(&author));
    let day = |date: DateTime| format!("{:04}-{:02}-{:02}", date.year, date.month, date.day);
    let date = about.creation_date.or(about.modification_date);
    parsed.date = date.and_then(|date| halma_text::dates::normalise_stamp(&day(date)));
}
