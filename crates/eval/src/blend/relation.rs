//! Questions and phrases from the label of a graph's relation, by its shape: `date of birth` is a
//! noun, `discovered by` says what was done to the head, `orbits` what the head does.
use halma_core::text::capitalize;

/// How a label is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LabelShape<'l> {
    Noun,
    /// `discovered`, `by`.
    Done(&'l str, &'l str),
    /// `flow`, without the `s`, and ` through`, or nothing.
    Does(&'l str, &'l str),
}

const PREPOSITIONS: &[&str] = &[
    "about", "after", "at", "by", "for", "from", "in", "into", "of", "on", "through", "to", "with",
];

/// Participles that do not end in `ed` or `en`.
const PARTICIPLES: &[&str] = &[
    "born", "bought", "built", "drawn", "flown", "held", "kept", "known", "led", "made", "run",
    "sent", "sold", "sung", "taught", "worn",
];

/// Ends of nouns that only look like a verb's.
const NOUNS: &[&str] = &["ss", "us", "is", "ics", "ies"];

fn shape(label: &str) -> LabelShape<'_> {
    let placed = label.rsplit_once(' ').filter(|(_, last)| PREPOSITIONS.contains(last));
    let said = placed.map_or(label, |(said, _)| said);
    let participle = said.split(' ').next().unwrap_or(said);
    let done = participle.ends_with("ed")
        || participle.ends_with("en")
        || PARTICIPLES.contains(&participle);
    if let Some((said, preposition)) = placed.filter(|_| done) {
        return LabelShape::Done(said, preposition);
    }
    if said.contains(' ') || NOUNS.iter().any(|end| said.ends_with(end)) {
        return LabelShape::Noun;
    }
    let after = &label[said.len()..];
    said.strip_suffix('s').map_or(LabelShape::Noun, |verb| LabelShape::Does(verb, after))
}

/// The question for the tail of a fact about `head`; a value that is a date is asked for by when.
pub(super) fn for_tail(label: &str, head: &str, date: bool) -> String {
    match shape(label) {
        LabelShape::Done(done, "in" | "on") if date => format!("When was {head} {done}?"),
        LabelShape::Done(done, "in" | "at") => format!("Where was {head} {done}?"),
        LabelShape::Done(done, preposition) => {
            format!("{} what or whom was {head} {done}?", capitalize(preposition))
        }
        LabelShape::Does(verb, after) => format!("What does {head} {verb}{after}?"),
        LabelShape::Noun => format!("What is the {label} of {head}?"),
    }
}

/// The question for the head of a fact that ends in `tail`.
pub(super) fn for_head(label: &str, tail: &str, kind: &str) -> String {
    match shape(label) {
        LabelShape::Done(..) => format!("Which {kind} was {label} {tail}?"),
        LabelShape::Does(..) => format!("Which {kind} {label} {tail}?"),
        LabelShape::Noun => format!("Which {kind} has {tail} as its {label}?"),
    }
}

/// The tail, told by its head.
pub(super) fn tail_of(label: &str, head: &str, kind: &str) -> String {
    match shape(label) {
        LabelShape::Done(..) => format!("the {kind} that {head} was {label}"),
        LabelShape::Does(..) => format!("the {kind} that {head} {label}"),
        LabelShape::Noun => format!("the {kind} that is the {label} of {head}"),
    }
}

/// The head, told by its tail.
pub(super) fn head_of(label: &str, tail: &str, kind: &str) -> String {
    match shape(label) {
        LabelShape::Done(..) => format!("the {kind} that was {label} {tail}"),
        LabelShape::Does(..) => format!("the {kind} that {label} {tail}"),
        LabelShape::Noun => format!("the {kind} whose {label} is {tail}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_of_a_label_gives_the_words() {
        let all = |label: &str| {
            [
                for_tail(label, "Titan", false),
                for_head(label, "Huygens", "moon"),
                tail_of(label, "Titan", "person"),
                head_of(label, "Huygens", "moon"),
            ]
        };
        assert_eq!(
            all("discovered by"),
            [
                "By what or whom was Titan discovered?",
                "Which moon was discovered by Huygens?",
                "the person that Titan was discovered by",
                "the moon that was discovered by Huygens",
            ]
        );
        assert_eq!(
            all("place of birth"),
            [
                "What is the place of birth of Titan?",
                "Which moon has Huygens as its place of birth?",
                "the person that is the place of birth of Titan",
                "the moon whose place of birth is Huygens",
            ]
        );
        assert_eq!(
            all("orbits"),
            [
                "What does Titan orbit?",
                "Which moon orbits Huygens?",
                "the person that Titan orbits",
                "the moon that orbits Huygens",
            ]
        );
    }

    #[test]
    fn a_verb_keeps_its_preposition() {
        assert_eq!(for_tail("flows through", "Lenn", false), "What does Lenn flow through?");
        assert_eq!(tail_of("flows through", "Lenn", "town"), "the town that Lenn flows through");
        assert_eq!(for_tail("born in", "Ada", false), "Where was Ada born?");
    }

    #[test]
    fn a_date_is_asked_for_by_when() {
        assert_eq!(for_tail("founded in", "Halma", true), "When was Halma founded?");
        assert_eq!(for_tail("mass", "Juno", false), "What is the mass of Juno?");
    }
}
