//! Word and `PowerPoint` files from before 2007, written byte by byte.
use std::io::{Cursor, Write as _};

/// A paragraph: its runs, each with its formatting, the last one with the mark of the paragraph;
/// then the number of its style and its formatting.
pub(crate) type Paragraph<'a> = (&'a [(&'a str, &'a [u8])], &'a [u8]);

pub(crate) const DELETED: &[u8] = &[0x00, 0x08, 1];
pub(crate) const HIDDEN: &[u8] = &[0x3c, 0x08, 1];
pub(crate) const RAISED: &[u8] = &[0x48, 0x2a, 1];
pub(crate) const LOWERED: &[u8] = &[0x48, 0x2a, 2];
pub(crate) const PLAIN: &[u8] = &[0, 0];
pub(crate) const CELL: &[u8] = &[0, 0, 0x16, 0x24, 1];

/// A compound file of these streams.
pub(crate) fn compound(streams: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(vec![])).unwrap();
    for (path, bytes) in streams {
        file.create_stream(path).unwrap().write_all(bytes).unwrap();
    }
    file.into_inner().into_inner()
}

pub(crate) fn number(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap().to_le_bytes()
}

pub(crate) fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// A page of formatting: where each run begins, and its list.
pub(crate) fn page(bounds: &[usize], lists: &[Vec<u8>], width: usize) -> Vec<u8> {
    let mut page = vec![0; 512];
    page[511] = u8::try_from(lists.len()).unwrap();
    for (index, bound) in bounds.iter().enumerate() {
        page[index * 4..index * 4 + 4].copy_from_slice(&number(*bound));
    }
    let mut end = 510;
    for (index, list) in lists.iter().enumerate() {
        end = (end - list.len()) / 2 * 2;
        page[end..end + list.len()].copy_from_slice(list);
        page[bounds.len() * 4 + index * width] = u8::try_from(end / 2).unwrap();
    }
    page
}

/// A Word document with a piece for each run, and its flags.
pub(crate) fn streams(paragraphs: &[Paragraph<'_>], flags: u16) -> [Vec<u8>; 2] {
    let mut main = vec![0; 1024];
    main[..4].copy_from_slice(&[0xec, 0xa5, 0xc1, 0]);
    main[0x0a..0x0c].copy_from_slice(&flags.to_le_bytes());
    let (mut count, mut firsts, mut pieces) = (0, vec![0], vec![]);
    let (mut run_bounds, mut runs) = (vec![1024], vec![]);
    let (mut paragraph_bounds, mut formats) = (vec![1024], vec![]);
    for (texts, format) in paragraphs {
        for (text, list) in *texts {
            let narrow: Option<Vec<u8>> = text
                .chars()
                .map(|c| if c == '–' { Some(0x96) } else { u8::try_from(c).ok() })
                .collect();
            pieces.extend([0, 0]);
            pieces.extend(number(
                narrow.as_ref().map_or(main.len(), |_| (main.len() * 2) | 0x4000_0000),
            ));
            pieces.extend([0, 0]);
            count += text.encode_utf16().count();
            firsts.push(count);
            main.extend(narrow.unwrap_or_else(|| wide(text)));
            run_bounds.push(main.len());
            runs.push([&[u8::try_from(list.len()).unwrap()], *list].concat());
        }
        paragraph_bounds.push(main.len());
        let words = u8::try_from(format.len().div_ceil(2)).unwrap();
        formats.push([&[0, words], *format, &[0][..format.len() % 2]].concat());
    }
    main[0x4c..0x50].copy_from_slice(&number(count));
    main.resize(main.len().next_multiple_of(512), 0);
    let first = main.len() / 512;
    main.extend(page(&run_bounds, &runs, 1));
    main.extend(page(&paragraph_bounds, &formats, 13));
    let list: Vec<u8> = firsts.into_iter().flat_map(number).chain(pieces).collect();
    let font: Vec<u8> = [vec![0; 39], wide("Symbol\0")].concat();
    let parts = [
        (0xfa, [1024, 1 << 24, first].map(number).concat()),
        (0x102, [1024, 1 << 24, first + 1].map(number).concat()),
        (0x112, [&[1, 0, 0, 0, u8::try_from(font.len()).unwrap()], &font[..]].concat()),
        (0x1a2, [&[2], &number(list.len())[..], &list].concat()),
    ];
    let mut table = vec![];
    for (at, part) in parts {
        main[at..at + 4].copy_from_slice(&number(table.len()));
        main[at + 4..at + 8].copy_from_slice(&number(part.len()));
        table.extend(part);
    }
    [main, table]
}

pub(crate) fn document(paragraphs: &[Paragraph<'_>]) -> Vec<u8> {
    let [main, table] = streams(paragraphs, 0x0200);
    compound(&[("/WordDocument", &main), ("/1Table", &table)])
}

/// The end of a row with borders at these places.
pub(crate) fn row_end(borders: &[i16]) -> Vec<u8> {
    let borders: Vec<u8> = borders.iter().flat_map(|border| border.to_le_bytes()).collect();
    let cells = u8::try_from(borders.len() / 2 - 1).unwrap();
    let length = u16::try_from(borders.len() + 2).unwrap().to_le_bytes();
    [CELL, &[0x17, 0x24, 1, 0x08, 0xd6], &length, &[cells], &borders].concat()
}

/// A document with everything that is read of one.
pub(crate) fn doc() -> Vec<u8> {
    let (two, one) = (row_end(&[0, 1000, 2000]), row_end(&[5, 2010]));
    document(&[
        (&[("Read this – it is short\r", &[])], &[1, 0]),
        (
            &[
                ("Это вторая часть, ", &[]),
                ("10", &[]),
                ("6", RAISED),
                (" of CO", &[]),
                ("2", LOWERED),
                ("\r", &[]),
            ],
            PLAIN,
        ),
        (
            &[
                ("One ", &[]),
                ("old ", DELETED),
                ("new ", &[]),
                ("secret ", HIDDEN),
                ("word\r", &[]),
            ],
            PLAIN,
        ),
        (&[("Name\x07", &[])], CELL),
        (&[("Dose\x07", &[])], CELL),
        (&[("\x07", &[])], &two),
        (&[("Aspirin\x07", &[])], CELL),
        (&[("5 ", &[]), ("(", &[0x09, 0x6a, 0, 0, 0x6d, 0xf0]), ("g\x07", &[])], CELL),
        (&[("\x07", &[])], &two),
        (&[("Both\x07", &[])], CELL),
        (&[("\x07", &[])], &one),
        (&[("\x13HYPERLINK \"https://a.example\" \x01\x14the site\x15\x01\x0cEnd\r", &[])], PLAIN),
        (&[("First\r", &[])], &[0, 0, 0x0a, 0x26, 1, 0x0b, 0x46, 1, 0]),
    ])
}

pub(crate) fn record(version: u16, kind: u16, body: &[u8]) -> Vec<u8> {
    [&version.to_le_bytes(), &kind.to_le_bytes(), &number(body.len())[..], body].concat()
}

pub(crate) fn text(kind: usize, words: &str) -> Vec<u8> {
    let narrow: Option<Vec<u8>> = words.chars().map(|c| u8::try_from(c).ok()).collect();
    let words = match narrow {
        Some(bytes) => record(0, 0x0fa8, &bytes),
        None => record(0, 0x0fa0, &wide(words)),
    };
    [record(0, 0x0f9f, &number(kind)), words].concat()
}

pub(crate) fn shape(parts: &[&[u8]]) -> Vec<u8> {
    record(0xf, 0xf004, &parts.concat())
}

/// A presentation of two slides, which stand the other way round in the file.
pub(crate) fn ppt() -> Vec<u8> {
    let listed =
        |place: usize, id: usize| record(0, 0x03f3, &[place, 0, 0, id, 0].map(number).concat());
    let list = [listed(3, 256), text(0, "Read this"), text(1, "Первый"), listed(2, 257)].concat();
    let master = record(0x1f, 0x0ff0, &listed(9, 9));
    let document = record(0xf, 0x03e8, &[master, record(0xf, 0x0ff0, &list)].concat());
    let outline = |index| shape(&[&record(0, 0x0f9e, &number(index))]);
    let slide = |shapes: &[Vec<u8>]| record(0xf, 0x03ee, &record(0xf, 0x040c, &shapes.concat()));
    // A paragraph of level 1; two plain characters, then one that is raised.
    let levels = [&number(8)[..], &[1, 0], &number(0)].concat();
    let scripts = [&[2, 0, 1, 0x8_0000].map(number).concat()[..], &[30, 0]].concat();
    let style = [levels, scripts].concat();
    let first = slide(&[
        outline(0),
        outline(1),
        shape(&[&text(4, "106 m\u{b}x"), &record(0, 0x0fa1, &style)]),
    ]);
    let number_of_slide = shape(&[&record(0, 0x0420, &[0; 8]), &text(4, "*")]);
    let picture = shape(&[
        &record(75 << 4, 0xf00a, &[0; 8]),
        &record(0x13, 0xf122, &[0x9f, 0x03, 1, 0, 0, 0]),
    ]);
    let second = slide(&[
        shape(&[&text(6, "Second")]),
        shape(&[&text(1, "a\rb")]),
        number_of_slide,
        picture,
    ]);
    let about = record(0, 0x03f1, &number(256));
    let notes = record(0xf, 0x03f0, &[about, shape(&[&text(2, "Say it")])].concat());
    let places =
        [(3 << 20) | 1, 0, document.len(), document.len() + second.len()].map(number).concat();
    let stream = [document, second, first, notes, record(0, 0x1772, &places)].concat();
    compound(&[("/PowerPoint Document", &stream), ("/Current User", &[0; 20])])
}

/// A document of pieces that each name one text.
pub(crate) fn pieces() -> Vec<u8> {
    let words = "long words ".repeat(9_000);
    let [mut main, mut table] = streams(&[(&[(&words, &[])], PLAIN)], 0);
    let firsts = (0..=40_000).flat_map(|index| number(index * words.len()));
    let pieces = [&[0; 2], &number(0x4000_0800)[..], &[0; 2]].concat().repeat(40_000);
    let list: Vec<u8> = firsts.chain(pieces).collect();
    main[0x4c..0x50].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f]);
    main[0x1a2..0x1a6].copy_from_slice(&number(table.len()));
    main[0x1a6..0x1aa].copy_from_slice(&number(list.len() + 5));
    table.extend([&[2], &number(list.len())[..], &list].concat());
    compound(&[("/WordDocument", &main), ("/0Table", &table)])
}

/// A presentation that lists its only slide many times.
pub(crate) fn slides() -> Vec<u8> {
    let slide = record(0xf, 0x03ee, &shape(&[&text(1, &"long words ".repeat(9_000))]));
    let listed = record(0, 0x03f3, &[1, 0, 0, 256, 0].map(number).concat()).repeat(100_000);
    let document = record(0xf, 0x03e8, &record(0xf, 0x0ff0, &listed));
    let places = record(0, 0x1772, &[(1 << 20) | 1, 0].map(number).concat());
    compound(&[("/PowerPoint Document", &[slide, document, places].concat())])
}
