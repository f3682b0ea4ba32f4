//! What a call means: its arguments by their places, and words in the place of those left out.
use super::Call;
use super::call::Operator;
use super::repair::RepairKind;
use super::tokens::{only, tokens};

/// The calls that one operator stands for, with the rules that were used.
pub(super) struct Lowered {
    pub(super) calls: Vec<Call>,
    pub(super) repairs: Vec<RepairKind>,
}

/// An argument is a group of texts: a list has several. No call where there is no argument.
pub(super) fn calls(operator: Operator, groups: Vec<Vec<String>>, question: &str) -> Lowered {
    let mut lowered = Lowered { calls: vec![], repairs: vec![] };
    if groups.is_empty() {
        return lowered;
    }
    match operator {
        Operator::Search => lowered.search(groups),
        Operator::Relate => lowered.relate(groups, question),
        Operator::Filter => lowered.filter(groups, question),
    }
    lowered
}

impl Lowered {
    fn search(&mut self, groups: Vec<Vec<String>>) {
        let mut groups = groups.into_iter();
        let names = groups.next().unwrap_or_default();
        let descriptors: Vec<String> = groups.flatten().collect();
        if descriptors.len() > 1 {
            self.repairs.push(RepairKind::MoreArguments);
        }
        let descriptor = Some(descriptors.join(", ")).filter(|text| !text.is_empty());
        let of = |name| Call::Search { name, descriptor: descriptor.clone() };
        self.calls.extend(names.into_iter().map(of));
    }

    /// Of two arguments a second that is nothing but a reference is the other entity (Equation 3);
    /// so is, of three, the one that is, or else the last.
    fn relate(&mut self, groups: Vec<Vec<String>>, question: &str) {
        let mut groups = groups.into_iter();
        let heads = groups.next().unwrap_or_default();
        let mut rest: Vec<String> = groups.map(|group| group.join(", ")).collect();
        let (relation, tail) = match rest.len() {
            0 => {
                self.repairs.push(RepairKind::FewerArguments);
                for head in heads {
                    let relation = relation_in(question);
                    let search = relation.is_empty();
                    self.calls.push(if search {
                        Call::Search { name: head, descriptor: None }
                    } else {
                        Call::Relate { head, relation, tail: None }
                    });
                }
                return;
            }
            1 if only(&rest[0]) => (String::new(), rest.pop()),
            1 => (rest.remove(0), None),
            _ => {
                self.repairs.push(RepairKind::MoreArguments);
                let named = rest[..1].iter().all(|text| only(text)) && !only(&rest[1]);
                let tail = if named { rest.remove(0) } else { rest.split_off(1).join(", ") };
                (rest.join(", "), Some(tail))
            }
        };
        let of = |head| Call::Relate { head, relation: relation.clone(), tail: tail.clone() };
        self.calls.extend(heads.into_iter().map(of));
    }

    /// The last argument is the condition; those before it are entities, unless only the first is
    /// and the others are further conditions.
    fn filter(&mut self, mut groups: Vec<Vec<String>>, question: &str) {
        let alone = groups.len() == 1;
        let list = groups[0].len() > 1 || only(&groups[0][0]);
        let (entities, condition) = if alone && list {
            self.repairs.push(RepairKind::FewerArguments);
            (groups.remove(0), relation_in(question))
        } else if alone {
            self.repairs.push(RepairKind::FewerArguments);
            let named: Vec<String> = tokens(question)
                .into_iter()
                .map(|token| question[token.range].to_owned())
                .collect();
            (named, groups.remove(0).remove(0))
        } else {
            let more = groups.len() > 2;
            self.repairs.extend(more.then_some(RepairKind::MoreArguments));
            let end = groups.split_off(groups.len() - 1);
            let conditions: Vec<Vec<String>> =
                if more && !groups[1..].iter().flatten().all(|one| only(one)) {
                    groups.split_off(1).into_iter().chain(end).collect()
                } else {
                    end
                };
            let entities = groups.into_iter().flatten().collect();
            (entities, conditions.concat().join(", "))
        };
        let condition = if condition.is_empty() { plain(question) } else { condition };
        self.calls.push(if entities.is_empty() {
            Call::Search { name: condition, descriptor: None }
        } else {
            Call::Filter { entities, condition }
        });
    }
}

/// The question that a call answers, where the plan has none for it. Names stand as they are, since
/// nothing tells how many there are or what words would bind them.
pub(super) fn worded(call: &Call) -> String {
    match call {
        Call::Search { name, descriptor: None } => format!("Which {name}?"),
        Call::Search { name, descriptor: Some(of) } => format!("Which {name} ({of})?"),
        Call::Relate { head, relation, tail: Some(tail) } if relation.is_empty() => {
            format!("How are {head} and {tail} related?")
        }
        Call::Relate { head, relation, tail: None } => format!("For {head}: {relation}?"),
        Call::Relate { head, relation, tail: Some(tail) } => {
            format!("For {head} with {tail}: {relation}?")
        }
        Call::Filter { entities, condition } => {
            format!("Which of {}: {condition}?", entities.join(", "))
        }
    }
}

/// Words with which a question about earlier answers begins.
const CONCLUDES: [&str; 8] =
    ["given", "based", "among", "from", "considering", "according", "of", "how many"];

/// The step that a question without one can only mean; none: it is concluded from the answers that
/// it names. In the recorded plans 97 % of the leaves that name one answer are operators on it,
/// 84 % of those that name several are concluded from them.
pub(super) fn step_of(question: &str) -> Option<Call> {
    let named: Vec<String> = tokens(question).into_iter().flat_map(|token| token.labels).collect();
    let lower = question.to_lowercase();
    match named.as_slice() {
        [] => Some(Call::Search { name: plain(question), descriptor: None }),
        [_] if CONCLUDES.iter().any(|word| lower.starts_with(word)) => None,
        [one] => {
            let (head, relation) = (format!("[{one}]"), relation_in(question));
            Some(if relation.is_empty() {
                Call::Search { name: head, descriptor: None }
            } else {
                Call::Relate { head, relation, tail: None }
            })
        }
        _ => None,
    }
}

/// A question without its mark.
fn plain(question: &str) -> String {
    let text = question.trim().trim_end_matches(['?', '.', ' ']);
    // A question of nothing but marks is itself.
    if text.is_empty() { question.to_owned() } else { text.to_owned() }
}

/// The relation that a question asks for: its words without references, without those that ask
/// and those that bind. "Who is the founder of [3]?" asks for the founder.
fn relation_in(question: &str) -> String {
    const ASK: [&str; 18] = [
        "who", "what", "which", "is", "are", "was", "were", "did", "does", "do", "has", "have",
        "had", "the", "a", "an", "be", "s",
    ];
    const BIND: [&str; 9] = ["of", "by", "in", "on", "at", "from", "to", "for", "with"];
    let mut text = question.to_owned();
    for token in tokens(question).into_iter().rev() {
        text.replace_range(token.range, " ");
    }
    let mark = |c: char| !c.is_alphanumeric();
    let mut words: Vec<&str> =
        text.split_whitespace().map(|word| word.trim_matches(mark)).collect();
    words.retain(|word| !word.is_empty() && !ASK.contains(&word.to_lowercase().as_str()));
    let binds =
        |word: Option<&&str>| word.is_some_and(|word| BIND.contains(&word.to_lowercase().as_str()));
    while binds(words.last()) {
        words.pop();
    }
    while binds(words.first()) {
        words.remove(0);
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_without_a_step_means_what_it_names() {
        let step = |question: &str| step_of(question).map(|call| call.to_string());
        for (question, meant) in [
            ("Who is the founder of [3]?", Some("Relate([3], \"founder\")")),
            ("When was [4] released?", Some("Relate([4], \"When released\")")),
            ("Who is [1]?", Some("Search([1])")),
            ("What is Varn?", Some("Search(\"What is Varn\")")),
            ("Based on [2], who is older?", None),
            ("Is [1] older than [2]?", None),
        ] {
            assert_eq!(step(question).as_deref(), meant, "{question}");
        }
    }
}
