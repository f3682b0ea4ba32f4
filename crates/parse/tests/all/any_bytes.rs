//! Any bytes: read or refused, never a crash, and the blocks are sound (`parse` of
//! these tests checks them).
use proptest::prelude::*;

use crate::{file, old_files, parse};

const NAMES: &[&str] =
    &["a", "a.txt", "a.md", "a.csv", "a.tsv", "a.html", "a.eml", "a.pdf", "a.docx"];

/// Cases of each test; `make attack` asks for more.
fn cases(usual: u32) -> u32 {
    let requested = std::env::var("HALMA_FUZZ").ok().and_then(|cases| cases.parse().ok());
    requested.unwrap_or(usual)
}

/// A reader that panics is caught, but should not panic.
fn sound(name: &str, bytes: &[u8]) -> Result<(), TestCaseError> {
    if let Err(refusal) = parse(name, bytes) {
        prop_assert!(
            !refusal.reason.contains("reader of this format failed"),
            "{}",
            refusal.reason
        );
        prop_assert!(!refusal.hint.is_empty());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(200), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_of_any_kind(name in prop::sample::select(NAMES), bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        sound(name, &bytes)?;
    }

    #[test]
    fn markdown_of_any_shape(text in "([-#>|*`_ \\[\\]()!:1.a\u{e4}<>&\t]|\n|\n\n|    |---\n|```\n|\\| a \\|\n\\|-\\|\n){0,60}") {
        sound("a.md", text.as_bytes())?;
        sound("a.txt", text.as_bytes())?;
        sound("a.csv", text.as_bytes())?;
    }

    #[test]
    fn pages_of_any_shape(
        parts in prop::collection::vec(prop::sample::select(&[
            "<table>", "</table>", "<tr>", "<td rowspan=3>", "<td colspan=0>", "<th>", "</tr>", "<li>", "<ul>",
            "</ul>", "<ol>", "<a href=x>", "</a>", "<h1>", "</h1>", "<p>", "<br>", "<pre>", "</pre>", "<b>", "<img src=a alt=b>",
            "<figure>", "</figure>", "<figcaption>", "word ", "\u{e4}|", "<svg>", "<template>", "<select>", "<!--", "-->",
            "<blockquote>", "</blockquote>", "<caption>", "<thead>", "<title>", "</title>", "&amp;", "<dd>", "<dt>",
        ][..]), 0..60)
    ) {
        let page = format!("<!doctype html>{}", parts.concat());
        sound("a.html", page.as_bytes())?;
        sound("a.md", parts.concat().as_bytes())?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Real files with a few bytes changed, and cut off somewhere.
    #[test]
    fn damaged_files(
        name in prop::sample::select(&["paper.pdf", "report.docx", "sheet.xlsx", "slides.pptx", "letter.odt",
            "sheet.ods", "book.epub", "mail.eml", "words.rtf", "square.png", "a.doc", "a.ppt"][..]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        keep in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let mut bytes = match name {
            "a.doc" => old_files::doc(),
            "a.ppt" => old_files::ppt(),
            name => file(name),
        };
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if cut {
            bytes.truncate(keep.index(bytes.len()));
        }
        // Readers of other crates may panic on damage: that is caught and reported.
        let _ = parse(name, &bytes);
    }
}
