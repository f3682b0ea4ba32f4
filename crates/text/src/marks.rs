//! The numbers of sources in a text: `… in 1931 [2].`

/// Bytes between the brackets of a mark at most; what is longer is text. No search for a closing
/// bracket goes further, so that a long text full of brackets is read once.
const LONGEST_MARK: usize = 24;

/// The number of a mark, from after its opening bracket, with what follows the closing one; `None`
/// for brackets that hold anything else.
///
/// ```
/// use halma_text::marks::split_mark;
///
/// assert_eq!(split_mark("2]."), Some((2, ".")));
/// assert_eq!(split_mark("sic]"), None);
/// ```
pub fn split_mark(inside: &str) -> Option<(usize, &str)> {
    let end = inside.bytes().take(LONGEST_MARK).position(|byte| byte == b']')?;
    let number = inside[..end].trim_matches(' ');
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    Some((number.parse().ok().filter(|_| is_number)?, &inside[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_a_number_in_brackets() {
        assert_eq!(split_mark("12] é"), Some((12, " é")));
        assert_eq!(split_mark(" 3 ]"), Some((3, "")));
        for text in ["", "]", " ]", "x]", "+1]", "1, 2]", "1", "99999999999999999999999]", "é1]"] {
            assert_eq!(split_mark(text), None, "{text}");
        }
        assert_eq!(split_mark(&format!("{}1]", " ".repeat(24))), None);
    }
}
