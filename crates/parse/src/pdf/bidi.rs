//! Words of scripts that run from right to left: a PDF draws them from left to right, as they are
//! seen.
use super::page::Word;

fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}')
}

/// Puts the words of a line, given from left to right, in the order in which they are read.
pub(super) fn order(words: &mut [Word]) {
    let letters = || words.iter().flat_map(|word| word.text.chars()).filter(|c| c.is_alphabetic());
    let right_to_left = letters().filter(|c| is_right_to_left(*c)).count();
    if right_to_left * 2 <= letters().count() {
        return;
    }
    words.reverse();
    let is_latin = |word: &Word| !word.text.chars().any(is_right_to_left);
    // Numbers and words of other scripts keep their order among themselves.
    words.chunk_by_mut(|a, b| is_latin(a) && is_latin(b)).for_each(|run| {
        if run.len() > 1 {
            run.reverse();
        }
    });
    words
        .iter_mut()
        .filter(|word| !is_latin(word))
        .for_each(|word| word.text = reversed(&word.text));
}

/// The letters in reverse, digits among them as they are.
fn reversed(text: &str) -> String {
    let mut letters: Vec<char> = text.chars().rev().map(mirrored).collect();
    let is_digit = |c: &char| c.is_numeric();
    letters.chunk_by_mut(|a, b| is_digit(a) && is_digit(b)).for_each(<[char]>::reverse);
    letters.into_iter().collect()
}

fn mirrored(c: char) -> char {
    match c {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        '«' => '»',
        '»' => '«',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_put_in_reading_order() {
        let word = |text: &str| Word { text: text.into(), ..Word::default() };
        let mut words = ["12", "34", "גב", "(דה)"].map(word);
        order(&mut words);
        assert_eq!(words.map(|word| word.text), ["(הד)", "בג", "12", "34"]);
        let mut latin = ["a", "b"].map(word);
        order(&mut latin);
        assert_eq!(latin[0].text, "a");
    }
}
