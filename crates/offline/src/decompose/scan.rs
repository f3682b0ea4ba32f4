//! Where phrases and clauses begin and end, told by verbs, articles and commas.
use super::super::verbs::{Form, Verbs};
use super::nouns::is_noun;
use super::tokens::{Tag, Token};

pub(crate) const PREPOSITIONS: &[&str] = &[
    "of", "in", "at", "on", "by", "from", "to", "with", "for", "near", "during", "under", "over",
    "as", "into", "behind", "about", "after", "before", "than",
];

const DETERMINERS: &[&str] = &[
    "the", "a", "an", "its", "his", "her", "their", "this", "these", "those", "which", "what",
    "whose", "each", "every", "some", "any", "no", "many", "much", "first", "last", "same",
];

/// Words after which a further verb belongs to the same clause.
const GOES_ON: &[&str] = &["when", "while", "after", "before", "since", "because", "to", "and"];

/// A verb that the question still waits for where a phrase begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pending {
    Nothing,
    /// `did … leave`
    Base,
    /// `was … born`
    Done,
}

/// The form of the token at `at` where it is a verb in its place. Base forms are verbs only where
/// `base` says that one may come.
pub(crate) fn verb(tokens: &[Token], at: usize, base: bool, verbs: &Verbs) -> Option<Form> {
    let token = tokens.get(at).filter(|token| token.tag == Tag::Word)?;
    let form = verbs.form(&token.lower)?;
    if form == Form::Auxiliary {
        return Some(form);
    }
    let Some(before) = at.checked_sub(1).map(|i| &tokens[i]) else { return Some(form) };
    // `the mill which burnt`, and not `which mill`.
    let relative = ["which", "what", "whose"].contains(&before.lower.as_str())
        && at.checked_sub(2).is_some_and(|i| is_noun(&tokens[i]) || tokens[i].names());
    if relative {
        return Some(form);
    }
    let noun = DETERMINERS.contains(&before.lower.as_str())
        || before.owns()
        || (PREPOSITIONS.contains(&before.lower.as_str()) && before.lower != "to");
    match form {
        _ if noun => None,
        Form::Base if !base => None,
        _ => Some(form),
    }
}

/// What stands open where word `at` begins.
pub(crate) fn pending(tokens: &[Token], at: usize, verbs: &Verbs) -> Pending {
    let mut open = Pending::Nothing;
    for i in 0..at {
        open = match (open, verb(tokens, i, open == Pending::Base, verbs)) {
            // `did` waits for its verb, whatever clause comes between.
            (Pending::Base, Some(Form::Base)) => Pending::Nothing,
            (Pending::Base, _) | (_, None) => open,
            (_, Some(Form::Auxiliary)) => match tokens[i].lower.as_str() {
                "is" | "are" | "was" | "were" | "be" | "been" | "has" | "have" | "had" => {
                    Pending::Done
                }
                _ => Pending::Base,
            },
            (_, Some(_)) => Pending::Nothing,
        }
    }
    open
}

/// The end of the clause that begins at `from` and whose first verb is at `from` or later: the
/// next break, or the verb that the sentence around it waits for. `None` where it has no verb or
/// holds another clause, which is to be taken first.
pub(crate) fn clause_end(
    tokens: &[Token],
    from: usize,
    open: Pending,
    verbs: &Verbs,
) -> Option<usize> {
    let (mut verb_at, mut goes_on): (Option<usize>, bool) = (None, false);
    for at in from..tokens.len() {
        let token = &tokens[at];
        if at > from && ["where", "which", "who", "whose", "whom"].contains(&token.lower.as_str()) {
            return None;
        }
        if let Some(last) = verb_at
            && awaited(tokens, at, open, verbs)
            && !grouped(tokens, last, at, Form::Done, verbs)
            && !goes_on
        {
            return Some(at);
        }
        let base = at == from || open == Pending::Base || verb_at.is_some_and(|i| i + 1 == at);
        if let Some(form) = verb(tokens, at, base, verbs) {
            match verb_at {
                None => verb_at = Some(at),
                Some(last) if grouped(tokens, last, at, form, verbs) => verb_at = Some(at),
                Some(_) if goes_on => {}
                // `the album recorded in Oslo` within the clause, where nobody waits for a verb.
                Some(_)
                    if form == Form::Done && open != Pending::Done && tells_more(tokens, at) => {}
                Some(_) => return Some(at),
            }
            goes_on = false;
        } else if GOES_ON.contains(&token.lower.as_str()) {
            goes_on = true;
        }
        if verb_at.is_some() && token.breaks() {
            return Some(at + 1);
        }
    }
    verb_at.map(|_| tokens.len())
}

/// Whether the verb that the sentence around waits for stands here, be it after a preposition:
/// `the company it is part of dissolve`.
fn awaited(tokens: &[Token], at: usize, open: Pending, verbs: &Verbs) -> bool {
    let stranded = at.checked_sub(2).is_some_and(|i| {
        PREPOSITIONS.contains(&tokens[i + 1].lower.as_str())
            && tokens[i + 1].lower != "to"
            && !tokens[i + 1].breaks()
    });
    let form = verbs.form(&tokens[at].lower);
    stranded
        && match open {
            Pending::Nothing => false,
            Pending::Base => form == Some(Form::Base),
            Pending::Done => form == Some(Form::Done),
        }
}

/// Verbs whose participle is like their base.
const UNCHANGED: &[&str] = &["set", "put", "cast", "cut", "let", "broadcast", "run", "shut", "hit"];

/// Whether two verbs are one: `was born`, `has been found`, `did not win`.
fn grouped(tokens: &[Token], last: usize, at: usize, form: Form, verbs: &Verbs) -> bool {
    if verbs.form(&tokens[last].lower) != Some(Form::Auxiliary) {
        return false;
    }
    let between = &tokens[last + 1..at];
    let adverbs = |token: &Token| {
        token.lower.ends_with("ly") || ["not", "also", "first"].contains(&&*token.lower)
    };
    if between.len() > 1 || !between.iter().all(adverbs) {
        return false;
    }
    match tokens[last].lower.as_str() {
        "is" | "are" | "was" | "were" | "has" | "have" | "had" => {
            matches!(form, Form::Done | Form::Going)
                || ["been", "had"].contains(&&*tokens[at].lower)
                || UNCHANGED.contains(&&*tokens[at].lower)
        }
        _ => true,
    }
}

/// Whether a participle stands right after a noun and before `by`, `in` or the like.
fn tells_more(tokens: &[Token], at: usize) -> bool {
    let noun = at.checked_sub(1).is_some_and(|i| is_noun(&tokens[i]) || tokens[i].names());
    let leads = tokens.get(at + 1).is_some_and(|next| PREPOSITIONS.contains(&&*next.lower));
    noun && leads
}
