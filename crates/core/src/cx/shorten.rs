//! Showing a model less, where its context is too small for all of it.
use std::collections::BTreeMap;

use minijinja::Value;
use minijinja::value::ValueKind;

/// Variables of which less is shown.
pub(crate) struct Shorter {
    pub(crate) variables: Value,
    pub(crate) note: String,
}

/// Keeps the first half of the longest list among the variables: passages and candidates are
/// listed best first. `None` when no list has two items.
pub(crate) fn shorten(variables: &Value) -> Option<Shorter> {
    let mut named: Vec<(String, Value)> = vec![];
    for key in variables.try_iter().ok()? {
        let value = variables.get_item(&key).ok()?;
        named.push((key.as_str()?.to_owned(), value));
    }
    let several = |value: &Value| value.kind() == ValueKind::Seq && value.len() > Some(1);
    let lists = named.iter().enumerate().filter(|(_, (_, value))| several(value));
    let (longest, _) = lists.max_by_key(|(_, (_, value))| value.to_string().len())?;
    let (name, value) = &mut named[longest];
    let all = value.len()?;
    let shown = all / 2;
    let note = format!("only {shown} of {all} items of `{name}` are shown");
    *value = value.try_iter().ok()?.take(shown).collect();
    Some(Shorter { variables: named.into_iter().collect::<BTreeMap<_, _>>().into(), note })
}

#[cfg(test)]
mod tests {
    use minijinja::context;

    use super::*;

    #[test]
    fn the_first_half_of_the_longest_list_is_shown() {
        let long = context! { question => "Who?", few => [1, 2], context => ["aaa", "bbb", "ccc"] };
        let shorter = shorten(&long).unwrap();
        let expected = context! { question => "Who?", few => [1, 2], context => ["aaa"] };
        assert_eq!(shorter.variables, expected);
        assert_eq!(shorter.note, "only 1 of 3 items of `context` are shown");
        assert!(shorten(&context! { question => "Who?", context => ["aaa"] }).is_none());
    }
}
