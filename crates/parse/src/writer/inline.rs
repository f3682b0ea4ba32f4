//! The words of one block with the links among them, while they are gathered.
use super::script::{Script, plain};
use crate::parsed::Link;

/// Text without line ends other than those meant, and links whose ranges count from its start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Inline {
    pub(crate) text: String,
    pub(crate) links: Vec<Link>,
}

impl Inline {
    /// The words as they stand, with white space run together.
    pub(crate) fn words(text: &str) -> Self {
        let mut inline = Self::default();
        inline.push(text);
        inline.trimmed()
    }

    /// The lines as they stand, without those that are empty.
    pub(crate) fn lines(text: &str) -> Self {
        let mut inline = Self::default();
        for line in text.lines() {
            inline.push(line);
            inline.break_line();
        }
        inline.trimmed()
    }

    /// Adds words; runs of white space become one space, and none begins a line.
    pub(crate) fn push(&mut self, text: &str) {
        for c in text.chars() {
            if !c.is_whitespace() {
                // A NUL or its kin is never meant to be read.
                if !c.is_control() && !is_invisible(c, &self.text) {
                    self.text.push(c);
                }
            } else if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
                self.text.push(' ');
            }
        }
    }

    /// Adds words that stand above or below the line. A mark in brackets is that of a note.
    pub(crate) fn push_script(&mut self, text: &str, script: Script) {
        if text.trim_start().starts_with('[') {
            return self.push(text);
        }
        let written = plain(&self.text, text, script);
        self.push(&written);
    }

    pub(crate) fn break_line(&mut self) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.clamp();
    }

    /// Adds another text on a line of its own.
    pub(crate) fn append(&mut self, line: &Self) {
        self.break_line();
        let by = self.text.len();
        self.text.push_str(&line.text);
        self.links.extend(line.links.iter().map(|link| moved(link, by)));
    }

    /// Makes a link of everything from `start` on, if there are words.
    pub(crate) fn link_from(&mut self, start: usize, target: &str) {
        let start = start.min(self.text.len());
        let words = &self.text[start..];
        let begin = start + (words.len() - words.trim_start().len());
        let text = words.trim().to_owned();
        let target = target.trim();
        if !text.is_empty() && !target.is_empty() {
            let range = begin..begin + text.len();
            self.links.push(Link { range, text, target: target.to_owned() });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Without white space around it.
    pub(crate) fn trimmed(mut self) -> Self {
        let before = self.text.len() - self.text.trim_start().len();
        if before > 0 {
            self.text.drain(..before);
            for link in &mut self.links {
                link.range =
                    link.range.start.saturating_sub(before)..link.range.end.saturating_sub(before);
            }
        }
        self.text.truncate(self.text.trim_end().len());
        self.clamp();
        self
    }

    /// On one line; every byte keeps its place.
    pub(crate) fn on_one_line(&self) -> Self {
        Self { text: self.text.replace('\n', " "), links: self.links.clone() }
    }

    /// Cuts off the first bytes; links that begin there go with them.
    pub(crate) fn cut_front(&mut self, bytes: usize) {
        self.text.drain(..bytes);
        self.links.retain(|link| link.range.start >= bytes);
        for link in &mut self.links {
            link.range = link.range.start - bytes..link.range.end - bytes;
        }
    }

    fn clamp(&mut self) {
        let end = self.text.len();
        self.links.retain(|link| link.range.end <= end);
    }
}

/// Whether a character after `before` is for setting type and not for reading: soft hyphens, marks
/// of direction, spaces and joiners without width, save where a script or an emoji needs them.
fn is_invisible(c: char, before: &str) -> bool {
    let follows = |letters: fn(u32) -> bool| {
        before.chars().next_back().is_some_and(|letter| letters(u32::from(letter)))
    };
    match u32::from(c) {
        0xad | 0x61c | 0x180e | 0x200e..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0xfeff => {
            true
        }
        // Thai, Lao, Burmese and Khmer words stand side by side.
        0x200b => !follows(|c| matches!(c, 0xe00..=0xeff | 0x1000..=0x109f | 0x1780..=0x17ff)),
        0x200c | 0x200d => !follows(|c| {
            matches!(c, 0x600..=0x109f | 0x1780..=0x1cff | 0x2190..=0x2bff | 0xa800..=0xabff)
                || matches!(c, 0xfb50..=0xfdff | 0xfe0f | 0xfe70..=0xfefc | 0x1_1000..=0x1_1fff)
                || matches!(c, 0x1_f000..=0x1_faff)
        }),
        _ => false,
    }
}

/// A text without the characters that nobody sees. A word that ends a line in a soft hyphen goes on
/// in the next one.
pub(crate) fn visible(text: String) -> String {
    // What such characters begin with in UTF-8; to look for a byte is fast.
    let begins = [0xc2, 0xd8, 0xe1, 0xe2, 0xef].iter().any(|byte| text.as_bytes().contains(byte));
    if !begins || !text.contains(|c| is_invisible(c, "")) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if !is_invisible(c, &out) {
            out.push(c);
        } else if c == '\u{ad}' {
            let next = rest.as_str().trim_start_matches('\r').strip_prefix('\n');
            if let Some(next) = next.filter(|next| next.starts_with(char::is_lowercase)) {
                rest = next.chars();
            }
        }
    }
    out
}

/// The same link, `by` bytes further on.
pub(crate) fn moved(link: &Link, by: usize) -> Link {
    Link { range: link.range.start + by..link.range.end + by, ..link.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_runs_together_and_links_keep_their_words() {
        let mut inline = Inline::default();
        inline.push("  See ");
        let start = inline.text.len();
        inline.push(" the\n book ");
        inline.link_from(start, "b.html");
        inline.push(" now\0 ");
        let inline = inline.trimmed();
        assert_eq!(inline.text, "See the book now");
        assert_eq!(&inline.text[inline.links[0].range.clone()], "the book");
    }

    #[test]
    fn words_are_whole_without_what_nobody_sees() {
        let words = |text: &str| Inline::words(text).text;
        assert_eq!(words("Quer\u{ad}balken\u{ad}werk"), "Querbalkenwerk");
        assert_eq!(
            words("Zahn\u{200b}rad\u{2060}pumpe\u{feff}n Auf\u{200c}lage"),
            "Zahnradpumpen Auflage"
        );
        assert_eq!(words("\u{202b}שלום\u{202c}\u{200f} \u{2066}abc\u{2069}"), "שלום abc");
        // Needed: Persian, Hindi, a family, Khmer words.
        for kept in [
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "👨\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}\u{200d}🔥",
            "ខ្ញុំ\u{200b}ស្រលាញ់",
        ] {
            assert_eq!(words(kept), kept);
            assert_eq!(visible(kept.to_owned()), kept);
        }
        assert_eq!(
            visible("Quer\u{ad}\r\nbalken\u{ad}\n\nEnde\u{ad}\nX".into()),
            "Querbalken\n\nEnde\nX"
        );
    }

    #[test]
    fn marks_of_notes_stay_and_powers_are_raised() {
        let mut inline = Inline::default();
        inline.push("in 1975");
        inline.push_script("[1]", Script::Super);
        inline.push(" of 10");
        inline.push_script("6", Script::Super);
        assert_eq!(inline.text, "in 1975[1] of 10⁶");
    }

    #[test]
    fn lines_are_kept_where_they_are_meant() {
        assert_eq!(Inline::lines("a  b\n\n\n c\n").text, "a b\nc");
        assert_eq!(Inline::lines("a\nb").on_one_line().text, "a b");
    }
}
