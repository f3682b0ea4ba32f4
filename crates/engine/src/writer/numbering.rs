//! The numbers of the sources in a text that is being written.

/// The longest mark, in bytes; what is longer is text.
const LONGEST_MARK: usize = 24;

/// Renumbers marks such as `[3]` in the order of their first appearance, removes those that name
/// no source, and moves marks after a full stop before it. It takes the text in pieces.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbering {
    sources: usize,
    /// The original numbers in the order of their first appearance.
    pub(super) order: Vec<usize>,
    /// Text that may be the beginning of a mark.
    pending: String,
    /// The end of what was shown last, as long as the longest mark.
    tail: String,
}

/// What stands at the head of a text.
enum Head {
    /// It may be a mark or not: the rest has not arrived yet.
    Open,
    /// Marks of these numbers, and their length in bytes.
    Marks(Vec<usize>, usize),
    Text,
}

impl Numbering {
    pub(super) fn new(sources: usize) -> Self {
        Self { sources, ..Self::default() }
    }

    /// Takes a piece and returns what can be shown.
    pub(super) fn push(&mut self, piece: &str) -> String {
        self.drain(piece, false)
    }

    /// Takes the last piece.
    pub(super) fn finish(&mut self, piece: &str) -> String {
        self.drain(piece, true)
    }

    fn drain(&mut self, piece: &str, ended: bool) -> String {
        self.pending.push_str(piece);
        let mut out = std::mem::take(&mut self.tail);
        let before = out.len();
        self.renumber(ended, &mut out);
        let new = out.split_off(before);
        out.push_str(&new);
        let tail = out.len().saturating_sub(LONGEST_MARK);
        self.tail = out.split_off(out.floor_char_boundary(tail));
        new
    }

    fn renumber(&mut self, ended: bool, out: &mut String) {
        let text = std::mem::take(&mut self.pending);
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let after = at + c.len_utf8();
            let (stop, blank) = (matches!(c, '.' | '!' | '?' | '。'), c == ' ');
            // A mark that names no source goes with the blank before it.
            if blank && after == text.len() && !ended {
                break;
            }
            let opens = stop || c == '[' || (blank && text[after..].starts_with('['));
            let from = if c == '[' { at } else { after };
            match if opens { head(&text[from..], stop || blank, ended) } else { Head::Text } {
                Head::Open => break,
                Head::Marks(numbers, length) => {
                    let names = numbers.iter().any(|n| self.names_source(*n));
                    let rest = &text[from + length..];
                    if blank && !names && rest.is_empty() && !ended {
                        break;
                    }
                    let goes_on = blank && rest.starts_with(char::is_alphanumeric);
                    if goes_on || (names && (blank || (stop && !out.ends_with(']')))) {
                        out.push(' ');
                    }
                    self.mark(&numbers, out);
                    out.extend(stop.then_some(c));
                    at = from + length;
                }
                Head::Text => {
                    out.push(c);
                    at = after;
                }
            }
        }
        text[at..].clone_into(&mut self.pending);
    }

    fn names_source(&self, number: usize) -> bool {
        (1..=self.sources).contains(&number)
    }

    fn mark(&mut self, numbers: &[usize], out: &mut String) {
        for &number in numbers {
            if !self.names_source(number) {
                continue;
            }
            let position = self.order.iter().position(|other| *other == number);
            let place = position.unwrap_or_else(|| {
                self.order.push(number);
                self.order.len() - 1
            });
            let mark = format!("[{}]", place + 1);
            if !out.ends_with(&mark) {
                out.push_str(&mark);
            }
        }
    }
}

/// Marks at the head of `text`, all in a row where they follow a full stop.
fn head(text: &str, in_row: bool, ended: bool) -> Head {
    let mut numbers = vec![];
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let blanks = if in_row { rest.len() - rest.trim_start_matches(' ').len() } else { 0 };
        let rest = &rest[blanks..];
        if rest.is_empty() && !ended && in_row && blanks < LONGEST_MARK {
            return Head::Open;
        }
        let inner = rest.strip_prefix('[');
        let mark = inner.and_then(|inner| {
            let end = inner.find(|c: char| !c.is_ascii_digit() && !" ,;".contains(c));
            let end = end.unwrap_or(inner.len()).min(LONGEST_MARK);
            let fits = inner[end..].starts_with(']') && inner[..end].contains(char::is_numeric);
            let open = end == inner.len() && end < LONGEST_MARK && !ended;
            (fits || open).then_some((inner, end, open))
        });
        match mark {
            Some((_, _, true)) => return Head::Open,
            Some((inner, end, false)) => {
                let parsed =
                    inner[..end].split([' ', ',', ';']).filter_map(|n| n.parse::<usize>().ok());
                numbers.extend(parsed);
                at += blanks + end + 2;
                if !in_row {
                    return Head::Marks(numbers, at);
                }
            }
            None if at == 0 => return Head::Text,
            None => return Head::Marks(numbers, at),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn renumber(text: &str) -> (String, Vec<usize>) {
        let mut numbering = Numbering::new(3);
        let text = numbering.finish(text);
        (text, numbering.order)
    }

    #[test]
    fn marks_are_numbered_as_they_appear() {
        assert_eq!(
            renumber("A [3]. B [1, 3]. C [9]x. D [9]. E [9] e").0,
            "A [1]. B [2][1]. C x. D. E e"
        );
        assert_eq!(renumber("A [3].").1, [3]);
        assert_eq!(renumber("A in 1931. [2] [3] B was. C.").0, "A in 1931 [1][2]. B was. C.");
        assert_eq!(renumber("A [2]. [2] B [x] [sic] [").0, "A [1]. B [x] [sic] [");
        assert_eq!(renumber("array[] and [ ] stay").0, "array[] and [ ] stay");
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(text in "[ab .!\\[\\]0-4,é]{0,30}", size in 1_usize..5) {
            let mut numbering = Numbering::new(3);
            let chars: Vec<char> = text.chars().collect();
            let mut out: String = chars
                .chunks(size)
                .map(|piece| numbering.push(&piece.iter().collect::<String>()))
                .collect();
            out.push_str(&numbering.finish(""));
            prop_assert_eq!(out, renumber(&text).0);
        }
    }
}
