//! Quotes within an argument: recorded plans have `"Both Sides Now'` for `'Both Sides Now'`.

/// The text with each double quote that has no other made single, and whether any was.
pub(super) fn mended(text: &str) -> (String, bool) {
    let mut out: Vec<char> = text.chars().collect();
    let mut changed = false;
    let mut open: Option<usize> = None;
    for at in 0..out.len() {
        let c = out[at];
        let before = at.checked_sub(1).map(|at| out[at]);
        let within = before.is_some_and(char::is_alphanumeric)
            && out.get(at + 1).copied().is_some_and(char::is_alphanumeric);
        match (c, open) {
            ('"', None) => open = Some(at),
            ('"', Some(first)) => {
                // A quote before which a word begins opens another: the one before had none.
                let begins = before.is_none_or(|c| c.is_whitespace() || c == '(');
                if begins {
                    out[first] = '\'';
                    changed = true;
                }
                open = begins.then_some(at);
            }
            ('\'', Some(first)) if !within && closed_so(&out, at) => {
                out[first] = '\'';
                changed = true;
                open = None;
            }
            _ => {}
        }
    }
    if let Some(first) = open {
        out[first] = '\'';
        changed = true;
    }
    (out.into_iter().collect(), changed)
}

/// Whether a single quote closes what a double one opened: no double one does before the next
/// opens.
fn closed_so(text: &[char], at: usize) -> bool {
    let next = text[at + 1..].iter().position(|c| *c == '"').map(|next| at + 1 + next);
    next.is_none_or(|next| text[next - 1].is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::mended;

    #[test]
    fn a_quote_without_its_other_becomes_single() {
        for (written, meant) in [
            ("Poznań \"56", "Poznań '56"),
            ("follows \"Waiting for the Summer'", "follows 'Waiting for the Summer'"),
            ("songs \"Both Sides Now' and \"Big Taxi'", "songs 'Both Sides Now' and 'Big Taxi'"),
            ("said the term \"a b' operates", "said the term 'a b' operates"),
        ] {
            assert_eq!(mended(written), (meant.to_owned(), true), "{written}");
        }
        for whole in ["Hamilton \"Tony\" James", "\"the Beatles' album\"", "Foo's bar", ""] {
            assert_eq!(mended(whole), (whole.to_owned(), false), "{whole}");
        }
    }
}
