//! Scanned pages that were not read: a warning for each reason, with the pages that it holds for.

/// Ranges of pages that a warning names.
const NAMED: usize = 20;

#[derive(Debug, Default)]
pub(super) struct UnreadScans {
    reasons: Vec<Unread>,
}

#[derive(Debug)]
struct Unread {
    why: String,
    /// First and last of pages that follow one another, counted from 1.
    ranges: Vec<(u32, u32)>,
    pages: usize,
}

impl UnreadScans {
    /// Pages come in order.
    pub(super) fn add(&mut self, page: u32, why: String) {
        match self.reasons.iter_mut().find(|unread| unread.why == why) {
            Some(unread) => unread.add(page),
            None => self.reasons.push(Unread { why, ranges: vec![(page, page)], pages: 1 }),
        }
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        self.reasons.iter().map(Unread::warning).collect()
    }
}

impl Unread {
    fn add(&mut self, page: u32) {
        self.pages += 1;
        match self.ranges.last_mut() {
            Some((_, last)) if *last + 1 == page => *last = page,
            _ => self.ranges.push((page, page)),
        }
    }

    fn warning(&self) -> String {
        let range = |(first, last): &(u32, u32)| {
            if first == last { first.to_string() } else { format!("{first}–{last}") }
        };
        let named: Vec<String> = self.ranges.iter().take(NAMED).map(range).collect();
        let more = if self.ranges.len() > NAMED { " and more" } else { "" };
        let (named, why) = (named.join(", "), &self.why);
        match self.pages {
            1 => format!("page {named} is a scan and is not read: {why}"),
            pages => format!("{pages} pages are scans and are not read ({named}{more}): {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_are_not_read_for_the_same_reason_are_one_warning() {
        let mut unread = UnreadScans::default();
        for page in [2, 3, 4, 7, 9, 10] {
            unread.add(page, "the time is up".into());
        }
        unread.add(11, "it cannot be drawn".into());
        assert_eq!(
            unread.warnings(),
            [
                "6 pages are scans and are not read (2–4, 7, 9–10): the time is up",
                "page 11 is a scan and is not read: it cannot be drawn",
            ]
        );
    }
}
