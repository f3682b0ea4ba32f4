//! The answer to a question with choices, as one of them.
use crate::reply::is_no_answer;
use crate::{Answer, Question};

impl Question {
    /// Puts the choice that an answer means in its place: by its letter (`B`, `(b)`, `B. Oslo`) or
    /// in another case. To abstain is to choose the one choice that says that there is no telling.
    /// An answer that means none of the choices stays as it is.
    pub(crate) fn choose(&self, answer: Answer) -> Answer {
        if answer.abstained {
            let mut open = self.options.iter().filter(|option| is_no_answer(option));
            return match (open.next(), open.next()) {
                (Some(option), None) => Answer { text: option.clone(), abstained: false, ..answer },
                _ => answer,
            };
        }
        match self.chosen(answer.text.trim()) {
            Some(option) => Answer { text: option.clone(), ..answer },
            None => answer,
        }
    }

    fn chosen(&self, text: &str) -> Option<&String> {
        let same = |option: &&String| option.trim().to_lowercase() == text.to_lowercase();
        if let Some(option) = self.options.iter().find(same) {
            return Some(option);
        }
        let marked = text.trim_start_matches(['(', '[']);
        let letter = marked.chars().next().filter(char::is_ascii_alphabetic)?;
        let option = self.options.get(usize::from(letter.to_ascii_lowercase() as u8 - b'a'))?;
        let rest = marked[1..].trim_start_matches([')', ']', '.', ':']).trim();
        let alone = rest.is_empty() && (marked.len() == 1 || !marked[1..].starts_with(' '));
        let with_text = marked[1..].starts_with([')', ']', '.', ':'])
            && rest.to_lowercase() == option.trim().to_lowercase();
        (alone || with_text).then_some(option)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_or_another_case_means_the_choice() {
        let options = ["Oslo", "Bergen", "Unknown"].map(str::to_owned).to_vec();
        let question = Question { options, ..Question::new("Where?") };
        let choose = |text: &str| {
            let abstained = text.is_empty();
            let answer = Answer { text: text.into(), abstained, ..Answer::default() };
            let Answer { text, abstained, .. } = question.choose(answer);
            assert!(!abstained);
            text
        };
        for text in ["B", "b.", "(B)", "[b]", "B. bergen", "BERGEN", " Bergen "] {
            assert_eq!(choose(text), "Bergen", "{text}");
        }
        assert_eq!(choose(""), "Unknown");
        for text in ["D", "Tromsø", "A Norwegian town", "Both", "B. Oslo"] {
            assert_eq!(choose(text), text);
        }
        let free = Question::new("Where?");
        assert!(free.choose(Answer { abstained: true, ..Answer::default() }).abstained);
    }
}
