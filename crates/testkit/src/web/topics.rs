//! Which reply a query gets: the one that has most of its words.
use std::collections::BTreeSet;

use serde_json::Value;

use super::{Shape, Topic};

/// Words of more than two letters, in lower case.
pub(crate) fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 2);
    words.map(str::to_lowercase).collect()
}

pub(crate) fn best(topics: &[Topic], shape: Shape, query: &str) -> Option<Value> {
    let query = words(query);
    let shared = |words: &BTreeSet<String>| query.intersection(words).count();
    let of_shape = topics.iter().filter(|(of, _, _)| *of == shape);
    // The first of those that are equally good.
    let best = of_shape.rev().max_by_key(|(_, words, _)| shared(words))?;
    (!query.is_empty() && shared(&best.1) * 2 >= query.len()).then(|| best.2.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_query_gets_the_reply_that_has_its_words() {
        let topic = |text: &str| (Shape::Brave, words(text), json!(text));
        let topics =
            [topic("The harbour bridge opened in 1932"), topic("Salt is mined in the harbour")];
        let reply_to = |query: &str| best(&topics, Shape::Brave, query);
        assert_eq!(reply_to("When did the harbour bridge open?"), Some(topics[0].2.clone()));
        assert_eq!(reply_to("harbour"), Some(topics[0].2.clone()));
        assert_eq!(reply_to("Where is salt mined?"), Some(topics[1].2.clone()));
        assert_eq!(reply_to("Who painted this ceiling?"), None);
        assert_eq!(reply_to(""), None);
        assert_eq!(best(&topics, Shape::Tavily, "harbour bridge"), None);
    }
}
