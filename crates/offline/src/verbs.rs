//! The forms of English verbs, by which verbs and nouns are distinguished.
use std::collections::HashMap;

use crate::lists::list;

/// A verb a line: base, past and participle; lines that start with `#` are comments.
const VERBS: &str = include_str!("data/verbs.txt");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Auxiliary,
    Base,
    /// `plays`
    Third,
    /// `fell`: past and no participle.
    Past,
    /// `played`: past and participle alike, or the participle of an irregular verb.
    Done,
    /// `playing`
    Going,
}

/// All forms of the listed verbs, computed once.
#[derive(Debug, Clone)]
pub(crate) struct Verbs {
    forms: HashMap<String, Form>,
    /// The base of each irregular form.
    bases: HashMap<&'static str, &'static str>,
}

impl Verbs {
    pub(crate) fn new() -> Self {
        let mut forms: HashMap<String, Form> = HashMap::new();
        let mut bases = HashMap::new();
        for line in VERBS.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split_whitespace();
            let Some(base) = words.next() else { continue };
            let mut put = |word: String, form| {
                forms.entry(word).or_insert(form);
            };
            put(base.to_owned(), Form::Base);
            if let (Some(past), Some(done)) = (words.next(), words.next()) {
                bases.extend([(past, base), (done, base)]);
                if past != done {
                    put(past.to_owned(), Form::Past);
                }
                put(done.to_owned(), Form::Done);
            } else {
                for past in pasts(base) {
                    put(past, Form::Done);
                }
            }
            put(third(base), Form::Third);
            for going in goings(base) {
                put(going, Form::Going);
            }
        }
        forms.extend(list("auxiliaries").map(|word| (word.to_owned(), Form::Auxiliary)));
        Self { forms, bases }
    }

    /// The base of an irregular past or participle: `build` of `built`.
    pub(crate) fn base(&self, word: &str) -> Option<&'static str> {
        self.bases.get(word).copied()
    }

    /// The form of a word in lower case, regardless of its sentence.
    pub(crate) fn form(&self, word: &str) -> Option<Form> {
        match self.forms.get(word) {
            Some(form) => Some(*form),
            // Verbs outside the list are recognised by their ending.
            None if word.len() > 4 && word.ends_with("ed") => Some(Form::Done),
            None => None,
        }
    }
}

fn takes_es(base: &str) -> bool {
    ["s", "x", "ch", "sh", "o"].iter().any(|end| base.ends_with(end))
}

/// `carry` without its `y`, if a consonant stands before it.
fn without_y(base: &str) -> Option<&str> {
    base.strip_suffix('y').filter(|rest| !rest.ends_with(['a', 'e', 'o', 'u']))
}

fn third(base: &str) -> String {
    match without_y(base) {
        Some(rest) => format!("{rest}ies"),
        None if takes_es(base) => format!("{base}es"),
        None => format!("{base}s"),
    }
}

fn pasts(base: &str) -> Vec<String> {
    match (without_y(base), base.strip_suffix('e')) {
        (Some(rest), _) => vec![format!("{rest}ied")],
        (_, Some(rest)) => vec![format!("{rest}ed")],
        _ => vec![format!("{base}ed"), format!("{}ed", doubled(base))],
    }
}

fn goings(base: &str) -> Vec<String> {
    match base.strip_suffix('e') {
        Some(rest) => vec![format!("{rest}ing")],
        None => vec![format!("{base}ing"), format!("{}ing", doubled(base))],
    }
}

/// The base with its last letter doubled, as in `dropped`.
fn doubled(base: &str) -> String {
    let last = base.chars().next_back().unwrap_or_default();
    format!("{base}{last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_distinguished() {
        let verbs = Verbs::new();
        for (word, form) in [
            ("was", Some(Form::Auxiliary)),
            ("die", Some(Form::Base)),
            ("died", Some(Form::Done)),
            ("dropped", Some(Form::Done)),
            ("carries", Some(Form::Third)),
            ("fell", Some(Form::Past)),
            ("born", Some(Form::Done)),
            ("making", Some(Form::Going)),
            ("embroidered", Some(Form::Done)),
            ("river", None),
            ("étranglé", None),
        ] {
            assert_eq!(verbs.form(word), form, "{word}");
        }
    }
}
