//! Fonts whose letters are drawn as other signs: Symbol has Greek letters and signs of mathematics,
//! Wingdings arrows, bullets and check marks. A text in such a font reads as what is drawn.

/// The signs of a font, by the code of the first of them; `�` where Unicode has none.
type Signs = &'static [(u32, &'static str)];

const SYMBOL: Signs = &[
    (0x21, "!∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_"),
    (0x60, "‾αβχδεφγηιϕκλµνοπθρστυϖωξψζ{|}∼"),
    (0xa0, "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉"),
    (0xd0, "∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪�⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"),
];

/// Arrows of several weights are written as plain ones, which are read and searched for.
const WINGDINGS: Signs = &[
    (0x21, "✏✂✁👓🔔📖🕯☎✆✉✉📪📫📬📭📁📂📄📄📄🗄⌛⌨🖰🖲💻🖴💾💾✇✍"),
    (0x40, "✍✌👌👍👎☜☞☝☟🖐☺😐☹💣☠⚐🏱✈☼💧❄🕆✞🕈✠✡☪☯ॐ☸♈♉♊♋♌♍♎♏♐♑♒♓&&"),
    (0x6c, "●❍■□❐❑❒⬧⧫◆❖⬥⌧⮹⌘❀✿❝❞"),
    (0x80, "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿"),
    (0x9e, "·•▪○○○◉◎○▪☐"),
    (0xab, "★✦★✶✴✷"),
    (0xb7, "🕐🕑🕒🕓🕔🕕🕖🕗🕘🕙🕚🕛"),
    (0xd5, "⌫⌦�➢��←→↑↓←→↑↓↖↗↙↘←→↑↓↖↗↙↘⇦⇨⇧⇩⇔⇳⇖⇗⇙⇘▪▫✗✓☒☑"),
];

static FONTS: [(&str, Signs); 7] = [
    ("Symbol", SYMBOL),
    ("Wingdings", WINGDINGS),
    ("Wingdings 2", &[(0x4f, "✗✓☒☑☒☒"), (0xa2, "■☐")]),
    ("Wingdings 3", &[]),
    ("Webdings", &[(0x33, "◀▶▲▼"), (0x61, "✓"), (0x63, "☐"), (0x67, "■"), (0x72, "✗❓")]),
    ("ZapfDingbats", &[]),
    ("MT Extra", &[]),
];

/// A font of signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SymbolFont {
    pub(super) name: &'static str,
    signs: Signs,
}

/// The font of this name, if it is one of signs.
pub(super) fn find(name: &str) -> Option<SymbolFont> {
    let name = name.strip_suffix(" MT").or(name.strip_suffix("MT")).unwrap_or(name);
    let font = FONTS.iter().find(|(font, _)| font.eq_ignore_ascii_case(name.trim()));
    font.map(|(name, signs)| SymbolFont { name, signs })
}

impl SymbolFont {
    /// What a character of this font is read as, if Unicode has it. Programs write its code as it is
    /// or in the private area, from U+F000 on.
    pub(super) fn unicode(self, c: char) -> Option<char> {
        let code = match u32::from(c) {
            code @ 0xf000..=0xf0ff => code - 0xf000,
            code @ ..=0xff => code,
            _ => return Some(c).filter(|c| !is_private(*c)),
        };
        if code <= 0x20 {
            return Some(' ');
        }
        let (first, signs) = self.signs.iter().rev().find(|(first, _)| *first <= code)?;
        signs.chars().nth((code - first) as usize).filter(|sign| *sign != '�')
    }
}

/// Whether a character has no meaning outside its font.
pub(super) fn is_private(c: char) -> bool {
    ('\u{e000}'..='\u{f8ff}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signs(font: &str, text: &str) -> String {
        let font = find(font).unwrap();
        text.chars().map(|c| font.unicode(c).unwrap_or('�')).collect()
    }

    #[test]
    fn letters_of_symbol_are_greek_wherever_they_are_written() {
        assert_eq!(signs("Symbol", "abgdmpw DSW"), "αβγδµπω ΔΣΩ");
        assert_eq!(signs("symbol", "\u{f06d}\u{f0b1}\u{f0a3}\u{f0b3}\u{f0b4}\u{f0b0}"), "µ±≤≥×°");
        assert_eq!(signs("SymbolMT", "\u{b1}\u{ae}\u{a5}\u{d6}\u{e5}\u{fe}"), "±→∞√∑⎭");
        assert_eq!(
            signs("Symbol", "\u{f022}\u{f05e}\u{f060}\u{f07e}\u{f0a0}\u{f0cf}\u{f0d0}"),
            "∀⊥‾∼€∉∠"
        );
        // What is Greek is left as it is, and what has no sign is not guessed.
        assert_eq!(signs("Symbol", "μ\u{f0f0}\u{e001}"), "μ��");
    }

    #[test]
    fn arrows_and_marks_of_wingdings_are_plain() {
        assert_eq!(signs("Wingdings", "\u{e0}\u{df}\u{e8}\u{f3}\u{d8}"), "→←→⇔➢");
        assert_eq!(
            signs("Wingdings", "\u{f0fc}\u{f0fb}\u{f0fe}\u{f0fd}\u{f0a8}\u{f06f}"),
            "✓✗☑☒☐□"
        );
        assert_eq!(signs("Wingdings", "lnJKL\u{a7}\u{9f}\u{8c}\u{81}\u{ab}"), "●■☺😐☹▪•❶①★");
        assert_eq!(signs("Wingdings 2", "PRO\u{a3}"), "✓☑✗☐");
        assert_eq!(signs("Wingdings 3", "a"), "�");
        assert_eq!(find("Arial"), None);
    }
}
