//! The tree as a model writes it: an outline of numbered questions, or lists of sub-questions.
use serde::Deserialize;

use super::confidence::{Tokens, of_groups, of_lists};

/// A tree in one of the two forms.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Written")]
pub(super) enum Planned {
    /// `1. …`, `1.1. …`, `2. …`: the parts of the question and the parts of these.
    Outline(Vec<Line>),
    /// A list for each question, the whole question first.
    Lists(Vec<ListedQuestion>),
}

/// What stands in a reply.
#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    questions: Option<Vec<String>>,
    #[serde(default)]
    nodes: Option<Vec<ListedQuestion>>,
}

/// A question with its sub-questions.
#[derive(Debug, Deserialize)]
pub(super) struct ListedQuestion {
    pub(super) question: String,
    pub(super) sub_questions: Vec<String>,
}

/// A line of an outline: `2.1. Who …?` is the first part of the second part.
#[derive(Debug, PartialEq)]
pub(super) struct Line {
    /// Empty where it has no number, which makes it a part of the whole question.
    path: Vec<usize>,
    text: String,
}

impl TryFrom<Written> for Planned {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        match written {
            Written { questions: Some(lines), .. } => {
                Ok(Self::Outline(lines.iter().map(|line| Line::parse(line)).collect()))
            }
            Written { nodes: Some(nodes), .. } => Ok(Self::Lists(nodes)),
            _ => Err("missing field `questions`"),
        }
    }
}

impl Line {
    fn parse(line: &str) -> Self {
        let line = line.trim();
        let text = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ')');
        let number = &line[..line.len() - text.len()];
        // A year or a quantity at the beginning of a question is not its number.
        if !number.ends_with(['.', ')']) || !text.starts_with(char::is_whitespace) {
            return Self { path: vec![], text: line.to_owned() };
        }
        let parts = number.split(['.', ')']).filter(|part| !part.is_empty());
        let path = parts.map(|part| part.parse().unwrap_or(0)).collect();
        Self { path, text: text.trim().to_owned() }
    }

    /// The number of the nearest line that this one is a part of; none for parts of the whole
    /// question.
    fn above(&self, lines: &[Self]) -> &[usize] {
        let mut above = &self.path[..];
        while let Some((_, shorter)) = above.split_last() {
            above = shorter;
            if lines.iter().any(|line| line.path == above) {
                break;
            }
        }
        above
    }
}

impl Planned {
    /// The sub-questions of each question, the whole one first, with the confidence of the list.
    pub(super) fn lists(self, whole: &str, tokens: &Tokens) -> Vec<(ListedQuestion, f32)> {
        let lines = match self {
            Self::Lists(nodes) => {
                let confidences = of_lists(tokens, "sub_questions", nodes.len());
                return nodes.into_iter().zip(confidences).collect();
            }
            Self::Outline(lines) => lines,
        };
        let above = std::iter::once((&[][..], whole));
        let above = above.chain(lines.iter().map(|line| (&line.path[..], line.text.as_str())));
        let (mut lists, mut groups) = (vec![], vec![]);
        for (i, (path, question)) in above.enumerate() {
            // A line without a number has no parts.
            if i > 0 && path.is_empty() {
                continue;
            }
            let below = |(_, line): &(usize, &Line)| line.above(&lines) == path;
            let (places, parts): (Vec<usize>, Vec<&Line>) =
                lines.iter().enumerate().filter(below).unzip();
            let sub_questions: Vec<String> = parts.iter().map(|line| line.text.clone()).collect();
            if i == 0 || !sub_questions.is_empty() {
                lists.push(ListedQuestion { question: question.to_owned(), sub_questions });
                groups.push(places);
            }
        }
        let confidences = of_groups(tokens, "questions", lines.len(), &groups);
        lists.into_iter().zip(confidences).collect()
    }
}

#[cfg(test)]
mod tests {
    use halma_core::parse_json;

    use super::*;

    fn lists(reply: &str) -> Vec<(String, Vec<String>)> {
        let planned: Planned = parse_json(reply).unwrap();
        let lists = planned.lists("Whole?", &[(reply.to_owned(), -0.5)]);
        let sure = |(list, confidence): &(ListedQuestion, f32)| {
            list.sub_questions.is_empty() || (confidence + 0.5).abs() < 1e-6
        };
        assert!(lists.iter().all(sure));
        lists.into_iter().map(|(list, _)| (list.question, list.sub_questions)).collect()
    }

    fn owned(question: &str, parts: &[&str]) -> (String, Vec<String>) {
        (question.to_owned(), parts.iter().map(|&part| part.to_owned()).collect())
    }

    #[test]
    fn an_outline_is_the_same_as_lists() {
        let outline = r#"{"questions": ["1. When was A born?", "1.1. Who is A?",
            "1.2) When was #1 born?", "2. Is #1 before 1900?"]}"#;
        let nested = r#"{"nodes": [
            {"question": "Whole?", "sub_questions": ["When was A born?", "Is #1 before 1900?"]},
            {"question": "When was A born?", "sub_questions": ["Who is A?", "When was #1 born?"]}]}"#;
        assert_eq!(lists(outline), lists(nested));
    }

    #[test]
    fn lines_without_numbers_are_parts_of_the_whole_question() {
        let parts = ["Who is A?", "1900 census: who is #1?"];
        let outline = r#"{"questions": ["Who is A?", "1900 census: who is #1?"]}"#;
        assert_eq!(lists(outline), [owned("Whole?", &parts)]);
        let orphan = r#"{"questions": ["Who is A?", "2.1. 1900 census: who is #1?"]}"#;
        assert_eq!(lists(orphan), lists(outline));
        assert_eq!(lists(r#"{"questions": []}"#), [owned("Whole?", &[])]);
        assert!(parse_json::<Planned>(r#"{"thinking": "none"}"#).is_err());
    }
}
