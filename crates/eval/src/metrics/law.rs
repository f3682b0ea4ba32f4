//! `LawBench`'s own scorers (Fei et al., 2023, section 4 and its public evaluation), reimplemented:
//! for choices the letters, for articles the set of their numbers. On the answers of GPT-4 and
//! GPT-3.5 that its authors publish (zero-shot, 500 a task) they give the published figures: 1-2
//! 0.552 and 0.360, 3-6 0.486 and 0.274, 3-1 0.5247 and 0.2950.
use std::collections::BTreeSet;

use super::{f1, share};

/// 1 when of the letters A to D the gold one occurs in the answer and no other does, else 0.
pub fn law_option(answer: &str, gold: &str) -> f64 {
    let letters: BTreeSet<char> =
        answer.chars().map(narrow).filter(|c| "ABCD".contains(*c)).collect();
    let right = letters.len() == 1 && gold.chars().map(narrow).any(|c| letters.contains(&c));
    share(usize::from(right), 1)
}

/// F1 of the articles that an answer names against those of the gold answer.
pub fn article_f1(answer: &str, gold: &str) -> f64 {
    let (given, wanted) = (articles(answer), articles(gold));
    let both = given.intersection(&wanted).count();
    f1(share(both, given.len()), share(both, wanted.len()))
}

/// The numbers of the articles in a text, one between any two `、`: the number after `第`, else the
/// first one. Numbers are read in Arabic and in Chinese digits.
///
/// The public evaluation removes `第…款` (a paragraph of an article) first and so loses the article
/// in `第264条第1款` as well; here it counts.
pub fn articles(text: &str) -> BTreeSet<u64> {
    text.split(['、', '，', ',']).filter_map(article).collect()
}

fn article(part: &str) -> Option<u64> {
    let part: Vec<char> = part.chars().map(narrow).collect();
    let after = part.iter().position(|c| *c == '第').map_or(0, |at| at + 1);
    let rest = &part[after..];
    let start = rest.iter().position(|c| is_digit(*c))?;
    let end = rest[start..].iter().position(|c| !is_digit(*c)).map_or(rest.len(), |n| start + n);
    value(&rest[start..end])
}

/// Letters and digits of full width as those of ASCII.
fn narrow(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        c => c,
    }
}

const DIGITS: &str = "零一二三四五六七八九";

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || chinese(c).is_some() || power(c).is_some()
}

fn chinese(c: char) -> Option<u64> {
    match c {
        '〇' => Some(0),
        '两' => Some(2),
        c => DIGITS.chars().position(|digit| digit == c).map(|digit| digit as u64),
    }
}

fn power(c: char) -> Option<u64> {
    match c {
        '十' => Some(10),
        '百' => Some(100),
        '千' => Some(1000),
        _ => None,
    }
}

/// `二百六十四` as 264, `二六四` and `264` too.
fn value(digits: &[char]) -> Option<u64> {
    let (mut total, mut run) = (0_u64, None);
    for c in digits {
        match (power(*c), c.to_digit(10).map(u64::from).or_else(|| chinese(*c))) {
            (Some(power), _) => {
                total = total.checked_add(run.take().unwrap_or(1_u64).checked_mul(power)?)?;
            }
            (None, Some(digit)) => {
                run = Some(run.unwrap_or(0_u64).checked_mul(10)?.checked_add(digit)?);
            }
            (None, None) => return None,
        }
    }
    total.checked_add(run.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers(text: &str) -> Vec<u64> {
        articles(text).into_iter().collect()
    }

    #[test]
    fn articles_are_read_in_either_digits() {
        for (text, wanted) in [
            ("刑法第253、264条", vec![253, 264]),
            ("刑法第385、390、383、386、389条", vec![383, 385, 386, 389, 390]),
            ("根据《刑法》第二百六十四条的规定", vec![264]),
            ("第一百三十三条之一", vec![133]),
            ("刑法第十条、刑法第二十五条", vec![10, 25]),
            ("刑法第264条第1款", vec![264]),
            ("1997年修订的刑法第三百零三条", vec![303]),
            ("刑法第２６４条", vec![264]),
            ("没有", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(numbers(text), wanted, "{text}");
        }
    }

    #[test]
    fn article_f1_is_of_sets() {
        assert!((article_f1("刑法第264条", "刑法第253、264条") - 2.0 / 3.0).abs() < 1e-9);
        assert!((article_f1("第264条、第253条、第264条", "第253、264条") - 1.0).abs() < 1e-9);
        assert!(article_f1("不知道", "第264条").abs() < 1e-9);
    }

    #[test]
    fn one_letter_and_no_other_is_a_choice() {
        assert!(law_option("[正确答案]B<eoa>", "B") > 0.5);
        assert!(law_option("Ｂ", "B") > 0.5);
        assert!(law_option("A和B", "B") < 0.5);
        assert!(law_option("C", "B") < 0.5);
        assert!(law_option("", "B") < 0.5);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(第|条|款|、|[0-9]|十|百|千|[零一二三四五六七八九]|\\PC){0,40}") {
            let score = article_f1(&text, "第264条");
            prop_assert!((0.0..=1.0).contains(&score));
        }
    }
}
