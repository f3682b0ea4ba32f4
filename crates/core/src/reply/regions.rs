//! Where a JSON value may stand in a text. Each of these reads the text a fixed number of times,
//! however it is nested: a reply may be long, and full of brackets that nothing closes.

/// Every outermost balanced `{…}` or `[…]`, quotes respected where that balances.
pub(super) fn regions(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let Some(first) = bytes.iter().position(|byte| is_opening(*byte)) else { return vec![] };
    let (mut quoted, mut plain) = (None, None);
    let mut regions = vec![];
    let mut at = first;
    while let Some(start) = bytes[at..].iter().position(|byte| is_opening(*byte)) {
        let start = at + start;
        let quoted = quoted.get_or_insert_with(|| closing(bytes, true));
        let end = quoted[start]
            .get()
            .or_else(|| plain.get_or_insert_with(|| closing(bytes, false))[start].get());
        match end {
            Some(end) => {
                regions.push(&text[start..=end]);
                at = end + 1;
            }
            None => at = start + 1,
        }
    }
    regions
}

/// From the first opening bracket to the last closing one: where quotes that are not escaped hide
/// how the brackets belong together.
pub(super) fn widest(text: &str) -> Option<&str> {
    let start = text.find(['{', '['])?;
    let end = text.rfind(['}', ']']).filter(|end| *end > start)?;
    Some(&text[start..=end])
}

/// A position in a reply, or none.
#[derive(Clone, Copy)]
struct Place(u32);

impl Place {
    const NONE: Self = Self(u32::MAX);

    fn new(at: usize) -> Self {
        u32::try_from(at).map_or(Self::NONE, Self)
    }

    fn get(self) -> Option<usize> {
        (self.0 != u32::MAX).then_some(self.0 as usize)
    }
}

/// For each byte, the place of the bracket that closes it, if it is an opening bracket outside of a
/// string and one does. Found from the end: what closes a bracket is the first closing bracket after
/// it that closes nothing else.
fn closing(bytes: &[u8], quotes: bool) -> Vec<Place> {
    let mut closed_by = vec![Place::NONE; bytes.len()];
    // Of the text from a byte on: the first bracket that nothing in it opens, if the text begins
    // outside of a string, or within one.
    let mut outside = vec![Place::NONE; bytes.len() + 2];
    let mut within = vec![Place::NONE; if quotes { bytes.len() + 2 } else { 0 }];
    for (at, byte) in bytes.iter().enumerate().rev() {
        if quotes {
            within[at] = match byte {
                b'\\' => within[at + 2],
                b'"' => outside[at + 1],
                _ => within[at + 1],
            };
        }
        outside[at] = match byte {
            b'"' if quotes => within[at + 1],
            b'{' | b'[' => {
                closed_by[at] = outside[at + 1];
                closed_by[at].get().map_or(Place::NONE, |close| outside[close + 1])
            }
            b'}' | b']' => Place::new(at),
            _ => outside[at + 1],
        };
    }
    closed_by
}

fn is_opening(byte: u8) -> bool {
    matches!(byte, b'{' | b'[')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a bracket is closed by, read from each bracket to the end.
    fn balanced(bytes: &[u8], quotes: bool) -> Option<usize> {
        let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
        for (i, byte) in bytes.iter().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' if quotes => in_string = !in_string,
                _ if in_string => {}
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(i);
                    }
                }
                _ => {}
            }
        }
        None
    }

    #[test]
    fn brackets_that_nothing_closes_are_read_once() {
        let open = "{".repeat(500_000);
        assert!(regions(&open).is_empty());
        assert_eq!(regions(&format!("{open}\"[{{}}")), ["{}"]);
        assert!(regions(&"{\"".repeat(250_000)).is_empty());
        assert_eq!(regions(&"[] ".repeat(200_000)).len(), 200_000);
    }

    #[test]
    fn the_widest_region_is_from_the_first_bracket_to_the_last() {
        assert_eq!(widest("a {b] c] d"), Some("{b] c]"));
        assert_eq!(widest("} {"), None);
        assert_eq!(widest("none"), None);
    }

    proptest! {
        #[test]
        fn any_bracket_is_closed_as_if_read_from_it_alone(text in "[\\[\\]{}\"\\\\a]{0,24}") {
            let bytes = text.as_bytes();
            for quotes in [true, false] {
                let closed_by = closing(bytes, quotes);
                for start in (0..bytes.len()).filter(|at| is_opening(bytes[*at])) {
                    let alone = balanced(&bytes[start..], quotes).map(|length| start + length);
                    prop_assert_eq!(closed_by[start].get(), alone, "{} from {}", text, start);
                }
            }
        }
    }
}
