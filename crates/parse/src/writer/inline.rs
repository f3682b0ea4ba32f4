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
                if !c.is_control() {
                    self.text.push(c);
                }
            } else if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
                self.text.push(' ');
            }
        }
    }

    /// Adds words that stand above or below the line.
    pub(crate) fn push_script(&mut self, text: &str, script: Script) {
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
    fn lines_are_kept_where_they_are_meant() {
        assert_eq!(Inline::lines("a  b\n\n\n c\n").text, "a b\nc");
        assert_eq!(Inline::lines("a\nb").on_one_line().text, "a b");
    }
}
