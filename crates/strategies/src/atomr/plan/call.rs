//! Operator calls as a plan writes them.
use super::Call;

/// The call that a text is.
pub(super) fn read(text: &str) -> Option<Call> {
    let (operator, rest) = text.split_once('(')?;
    let inside = rest.rsplit_once(')')?.0;
    let unquoted = |text: &str| text.trim().trim_matches('"').to_owned();
    let mut parts = inside.splitn(2, ", ").map(unquoted);
    let (first, second) = (parts.next()?, parts.next());
    match operator.trim() {
        "Search" => Some(Call::Search { name: first, descriptor: second }),
        "Relate" => Some(Call::Relate { head: first, relation: second?, tail: None }),
        "Filter" => Some(Call::Filter { entities: vec![first], condition: second? }),
        _ => None,
    }
}
