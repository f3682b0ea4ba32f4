//! Chunks by structure: below a heading, between sentences; tables, lists and code stay whole.
use std::ops::Range;

use halma_parse::Parsed;

use super::pieces::{Grain, is_longer, pack, units};

/// Cuts a range into pieces of at most `limit` characters that tile it.
pub(super) fn pieces(parsed: &Parsed, range: Range<usize>, limit: usize) -> Vec<Range<usize>> {
    if !is_longer(&parsed.text[range.clone()], limit) {
        return vec![range];
    }
    pack(&parsed.text, units(parsed, &range, limit, Grain::Sentence), limit)
}

#[cfg(test)]
mod tests {
    use halma_parse::Parsed;

    use crate::Chunks;
    use crate::cut::testing::{markdown, plain, settings, texts};

    fn cut(parsed: &Parsed, limit: usize) -> Vec<&str> {
        texts(parsed, &settings(Chunks::Structure, limit))
    }

    #[test]
    fn a_short_text_is_one_chunk_and_a_long_one_is_cut_between_sentences() {
        let text = "One two three. Four five six. Seven eight nine.";
        let parsed = plain(text);
        assert_eq!(cut(&parsed, 100), [text]);
        let pieces = ["One two three. ", "Four five six. ", "Seven eight nine."];
        assert_eq!(cut(&parsed, 20), pieces);
        assert_eq!(cut(&parsed, 30), ["One two three. Four five six. ", pieces[2]]);
    }

    #[test]
    fn tables_list_items_and_code_stay_whole() {
        let parsed = markdown(
            "Intro one. Intro two.\n\n| a | b |\n|---|---|\n| one. Two | x |\n\n- item one. \
             With more. And more.\n- item two\n\n```\nlet a = 1. B\n```\nEnd.\n",
        );
        let chunks = cut(&parsed, 45);
        for whole in
            ["| a | b |\n|---|---|\n| one. Two | x |\n", "- item one. With more. And more."]
        {
            assert!(chunks.iter().any(|chunk| chunk.contains(whole)), "{chunks:?}");
        }
        assert!(chunks.iter().any(|chunk| chunk.contains("```\nlet a = 1. B\n```")), "{chunks:?}");
        assert_eq!(chunks.concat(), parsed.text);
    }

    #[test]
    fn a_list_item_longer_than_the_limit_is_cut_between_sentences() {
        let parsed = markdown("- One two three four. Five six seven eight.\n- Nine.\n");
        assert_eq!(
            cut(&parsed, 25),
            ["- One two three four. ", "Five six seven eight.\n", "- Nine.\n"]
        );
    }

    #[test]
    fn a_heading_stays_with_what_follows() {
        let text =
            format!("## Crew\n\n{}\n\n## Cast\n\nScheider.\n", "Spielberg made it. ".repeat(4));
        for limit in [30, 40, 60] {
            let parsed = markdown(&text);
            for chunk in cut(&parsed, limit) {
                assert!(!["## Crew", "## Cast"].contains(&chunk.trim()), "{limit}: {chunk}");
            }
        }
    }

    #[test]
    fn a_word_longer_than_the_limit_is_cut() {
        assert_eq!(cut(&plain("abcdefgh"), 3), ["abc", "def", "gh"]);
    }
}
