//! Superscripts and subscripts: letters that are smaller than those of the word next to them, and
//! stand above or below its base line.
use super::page::Word;
use crate::writer::script::{Script, plain};

/// What `small` is to `base`. A drop cap is more than twice as large as the letters next to it.
fn script(small: &Word, base: &Word) -> Option<Script> {
    let above = (base.y - small.y) / base.size;
    let is_off_line = (0.2..0.7).contains(&above) || (-0.6..-0.07).contains(&above);
    let is_script = is_off_line && (0.45..0.86).contains(&(small.size / base.size));
    is_script.then_some(if above > 0.0 { Script::Super } else { Script::Sub })
}

/// Whether one of the two is a superscript or subscript of the other.
pub(super) fn differ(a: &Word, b: &Word) -> bool {
    script(a, b).or(script(b, a)).is_some()
}

/// Writes superscripts and subscripts as plain text, on the line and in the word that they belong
/// to. Words come in the order in which they are drawn.
pub(super) fn join(words: Vec<Word>) -> Vec<Word> {
    let mut joined: Vec<Word> = vec![];
    let mut words = words.into_iter().peekable();
    // A fraction that stands alone is read better in plain digits.
    let is_stroke = |word: &Word| word.text.starts_with(['/', '⁄']);
    while let Some(mut word) = words.next() {
        if let Some(last) = joined.last_mut().filter(|last| last.turned == word.turned) {
            let is_near = (-0.5..0.35).contains(&((word.x0 - last.x1) / last.size.max(word.size)));
            if let Some(script) = script(&word, last).filter(|_| is_near) {
                if !word.after_space || !words.peek().is_some_and(is_stroke) {
                    word.text = plain(&last.text, &word.text, script);
                }
                (word.y, word.size) = (last.y, last.size);
            } else if let Some(script) = script(last, &word).filter(|_| is_near) {
                if !is_stroke(&word) {
                    last.text = plain("", &last.text, script);
                }
                (last.y, last.size) = (word.y, word.size);
            }
            if last.is_beside(&word) {
                last.add(&word);
                continue;
            }
        }
        joined.push(word);
    }
    joined
}
