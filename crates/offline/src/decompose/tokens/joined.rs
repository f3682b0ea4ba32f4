//! Names that contain punctuation.
use super::{Tag, Token};

/// Joins tokens that are one name although punctuation separates them.
pub(super) fn joined(tokens: Vec<Token>) -> Vec<Token> {
    let mut joined: Vec<Token> = vec![];
    let mut rest = tokens.into_iter().peekable();
    let mut bracket = false;
    while let Some(token) = rest.next() {
        let Some(last) = joined.last_mut().filter(|last| last.tag == Tag::Name) else {
            joined.push(token);
            continue;
        };
        let opens = last.after == " " && token.text.starts_with('(');
        if opens || bracket || continues(last, &token, rest.peek()) {
            append(last, &token);
            bracket = (bracket || opens) && !last.text.ends_with(')');
        } else {
            joined.push(token);
        }
    }
    joined
}

/// Whether a name continues: `Saxby, Ohio`, `Min's Mill`, `Beware! The Mill`.
fn continues(last: &Token, token: &Token, next: Option<&Token>) -> bool {
    if token.tag != Tag::Name || token.text.starts_with(['"', '“']) {
        return false;
    }
    let listed = next.is_some_and(|next| ["and", "or"].contains(&next.lower.as_str()));
    match last.after.as_str() {
        ", " => !listed && !last.text.contains(", "),
        "! " | "? " | "... " | "’s " | "'s " | "'S " | "' " | "’ " => true,
        _ => false,
    }
}

fn append(last: &mut Token, token: &Token) {
    last.text = format!("{}{}{}", last.text, last.after, token.text);
    last.after.clone_from(&token.after);
    close(last);
    last.lower = last.text.to_lowercase();
}

/// Moves the mark that closes a bracket or quotation of the token into it.
pub(super) fn close(token: &mut Token) {
    for (open, shut) in [('(', ')'), ('"', '"'), ('“', '”')] {
        let (opened, closed) = (token.text.matches(open).count(), token.text.matches(shut).count());
        let lacks = if open == shut { opened % 2 == 1 } else { opened > closed };
        if lacks && token.after.starts_with(shut) {
            token.after.remove(0);
            token.text.push(shut);
        }
    }
}
