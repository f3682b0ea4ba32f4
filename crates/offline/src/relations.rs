//! Nouns that name one thing by another: `director`, `birthplace`, `continent`.

/// `sort: noun noun …`; lines that start with `#` are comments.
const RELATIONS: &str = include_str!("data/relations.txt");

/// What such a noun leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leads {
    Person,
    Place,
    Thing,
}

/// What a noun in lower case leads to; `None` where it names nothing by something else.
pub(crate) fn leads(noun: &str) -> Option<Leads> {
    let one = |line: &'static str| line.split_once(':').filter(|_| !line.starts_with('#'));
    let holds = |nouns: &str| {
        nouns.split_whitespace().any(|known| known == noun || noun.strip_suffix('s') == Some(known))
    };
    let (sort, _) = RELATIONS.lines().filter_map(one).find(|(_, nouns)| holds(nouns))?;
    Some(match sort {
        "person" => Leads::Person,
        "place" => Leads::Place,
        _ => Leads::Thing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noun_leads_somewhere_or_nowhere() {
        assert_eq!(leads("director"), Some(Leads::Person));
        assert_eq!(leads("directors"), Some(Leads::Person));
        assert_eq!(leads("birthplace"), Some(Leads::Place));
        assert_eq!(leads("continent"), Some(Leads::Thing));
        assert_eq!(leads("gravel"), None);
    }
}
