//! Words of scripts that run from right to left: a PDF draws them from left to right, as they are
//! seen.
use super::page::Word;

/// The Arabic letters of the presentation forms from U+FE80 on; the last eight follow a lam.
const LETTERS: &str = "ءآآأأؤؤإإئئئئااببببةةتتتتثثثثججججححححخخخخددذذررززسسسسششششصصصصضضضضططططظظظظععععغغغغففففققققككككللللممممننننههههووىىييييآآأأإإاا";

fn is_right_to_left(c: char) -> bool {
    let is_letter =
        matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}');
    is_letter && !c.is_numeric()
}

/// The characters of one glyph in the order in which they are seen, not in that of reading.
pub(super) fn as_seen(text: String) -> String {
    if !text.contains(is_right_to_left) {
        return text;
    }
    let letter = |c: char| LETTERS.chars().nth((c as usize).wrapping_sub(0xfe80)).unwrap_or(c);
    let lam = |c: char| ('\u{fef5}'..='\u{fefc}').contains(&c).then_some('ل');
    text.chars().rev().flat_map(|c| [letter(c)].into_iter().chain(lam(c))).collect()
}

/// Puts the words of a line, given from left to right, in the order in which they are read.
pub(super) fn order(words: &mut [Word]) {
    let letters = || words.iter().flat_map(|word| word.text.chars()).filter(|c| c.is_alphabetic());
    let right_to_left = letters().filter(|c| is_right_to_left(*c)).count();
    if right_to_left * 2 > letters().count() {
        words.reverse();
        // Numbers and words of other scripts keep their order among themselves.
        let is_other = |word: &Word| !word.text.contains(is_right_to_left);
        words.chunk_by_mut(|a, b| is_other(a) && is_other(b)).for_each(<[Word]>::reverse);
        let rest = words.iter_mut().filter(|word| !is_other(word));
        rest.for_each(|word| word.text = reversed(&word.text));
    } else if right_to_left > 0 {
        let inner = |word: &Word| word.text.trim_matches(|c| !is_right_to_left(c)).to_owned();
        for run in words.chunk_by_mut(|a, b| inner(a).is_empty() == inner(b).is_empty()) {
            // The marks around these words are those of the line.
            let inner: Vec<String> = run.iter().map(inner).collect();
            for ((word, old), new) in run.iter_mut().zip(&inner).zip(inner.iter().rev()) {
                word.text = word.text.replace(old, &reversed(new));
            }
        }
    }
}

/// The letters in reverse, numbers and Latin words among them as they are.
fn reversed(text: &str) -> String {
    let mut letters: Vec<char> = text.chars().rev().map(mirrored).collect();
    let is_inner = |c: &char| c.is_alphanumeric() && !is_right_to_left(*c);
    for run in letters.chunk_by_mut(|a, b| !is_right_to_left(*a) && !is_right_to_left(*b)) {
        if let Some(from) = run.iter().position(is_inner) {
            let to = run.iter().rposition(is_inner).unwrap_or(from);
            run[from..=to].reverse();
        }
    }
    letters.into_iter().collect()
}

fn mirrored(c: char) -> char {
    let pairs = [('(', ')'), ('[', ']'), ('«', '»')];
    let pair = pairs.into_iter().find(|pair| pair.0 == c || pair.1 == c);
    pair.map_or(c, |(open, close)| if c == open { close } else { open })
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
