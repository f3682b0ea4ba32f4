//! Bytes of a text file to characters: by the mark at its beginning, as UTF-8, else as what it
//! looks like.
use std::borrow::Cow;

use encoding_rs::{EUC_KR, Encoding, GBK, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};

use crate::detect::find;
use crate::parsed::Refusal;

/// Text, with a warning of each thing that had to be guessed or could not be read.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    pub(crate) warnings: Vec<String>,
}

/// `declared` is what the file says of itself (`<meta charset>`), if anything.
pub(crate) fn decode(bytes: &[u8], declared: Option<&str>) -> Result<Decoded, Refusal> {
    if let Some(text) = utf_32(bytes) {
        return finish((text.into(), true), "UTF-32", false);
    }
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return read(&bytes[mark..], encoding, false);
    }
    let declared = declared.and_then(|name| Encoding::for_label(name.as_bytes()));
    let escape = find(bytes, b"\x1b$").and_then(|at| bytes.get(at + 2..at + 4));
    if let Some([b'B' | b'@', _]) = escape {
        return read(bytes, ISO_2022_JP, declared != Some(ISO_2022_JP));
    }
    if let Some((text, name)) = seven_bits(bytes, escape) {
        return finish((text.into(), false), name, true);
    }
    // The file's own word counts for nothing when the bytes are UTF-8.
    if !bytes.contains(&0)
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return finish((text.into(), false), UTF_8.name(), false);
    }
    if let Some(encoding) = utf_16(bytes) {
        return read(bytes, encoding, true);
    }
    if bytes.contains(&0) {
        return Err(binary("it is binary: it has bytes that are NUL"));
    }
    if is_damaged_utf_8(bytes, declared == Some(UTF_8)) {
        return read(bytes, UTF_8, false);
    }
    let declared = declared.filter(|encoding| ![UTF_8, UTF_16LE, UTF_16BE].contains(encoding));
    read(bytes, declared.unwrap_or_else(|| detect(bytes)), declared.is_none())
}

pub(crate) fn binary(reason: &str) -> Refusal {
    Refusal {
        reason: reason.to_owned(),
        hint: "give documents, tables, pictures or text; convert other files first".into(),
    }
}

fn read(bytes: &[u8], encoding: &'static Encoding, guessed: bool) -> Result<Decoded, Refusal> {
    finish(encoding.decode_without_bom_handling(bytes), encoding.name(), guessed)
}

/// `text` comes with whether some bytes of it fit no character.
fn finish(text: (Cow<'_, str>, bool), name: &str, guessed: bool) -> Result<Decoded, Refusal> {
    let (text, broken) = text;
    if text.contains('\0') {
        return Err(binary("it is binary: it has bytes that are NUL"));
    }
    // Bytes of a program decode as well as anything; what gives them away are control characters.
    let sample: Vec<char> = text.chars().take(10_000).collect();
    let strange = |c: &&char| c.is_control() && !"\t\n\r\x0b\x0c\x1b\u{85}\u{9c}".contains(**c);
    if sample.iter().filter(strange).count() * 50 > sample.len() {
        return Err(binary("it is binary: it is full of control characters"));
    }
    let mut warnings = vec![];
    if guessed {
        warnings.push(format!("its encoding is guessed to be {name}; save it as UTF-8"));
    }
    if let Some(at) = text.find(char::REPLACEMENT_CHARACTER).filter(|_| broken) {
        let line = text[..at].matches('\n').count() + 1;
        let count = text[at..].matches(char::REPLACEMENT_CHARACTER).count();
        warnings.push(format!(
            "line {line} holds bytes that are not {name}, read as `\u{fffd}` ({count} in the file); \
             correct them, or copy the file again"
        ));
    }
    Ok(Decoded { text: text.into_owned(), warnings })
}

/// Whether a text that is not UTF-8 was: it holds more characters of several bytes than bytes that
/// fit none. In other encodings such characters come about by chance, at most one for two such
/// bytes. A character that is cut off at the end does not count.
fn is_damaged_utf_8(bytes: &[u8], declared: bool) -> bool {
    let (mut whole, mut broken) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        whole += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    let is_cut = std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none());
    whole > 0 && (is_cut || whole > broken || (declared && whole * 2 >= broken))
}

/// Chinese and Korean text of seven bits, with the name of its encoding.
fn seven_bits(bytes: &[u8], escape: Option<&[u8]>) -> Option<(String, &'static str)> {
    let (marks, encoding, name): ([&[u8]; 2], _, _) = match escape {
        Some(b")C") => ([b"\x0e", b"\x0f"], EUC_KR, "ISO-2022-KR"),
        Some(b")A") => ([b"\x0e", b"\x0f"], GBK, "ISO-2022-CN"),
        _ => ([b"~{", b"~}"], GBK, "HZ-GB-2312"),
    };
    find(bytes, marks[0]).filter(|_| bytes.is_ascii())?;
    // Between the marks, bytes are those of the encoding without their highest bit.
    let (mut eight, mut high, mut rest) = (vec![], 0, bytes);
    while let [first, after @ ..] = rest {
        if let Some(after) = rest.strip_prefix(marks[usize::from(high > 0)]) {
            (high, rest) = (high ^ 0x80, after);
        } else {
            eight.push(first | high);
            rest = after;
        }
    }
    let (text, broken) = encoding.decode_without_bom_handling(&eight);
    // Text of another kind may hold the marks: what is between them gives no Chinese.
    let is_private = |c: char| matches!(c, '\u{e000}'..='\u{f8ff}');
    let is_open = high > 0 && escape.is_none();
    let is_other = broken || is_open || text.is_ascii() || text.contains(is_private);
    let extra = ["\x1b$)C", "\x1b$)A", "~\n"];
    let text = extra.iter().fold(text.into_owned(), |text, mark| text.replace(mark, ""));
    (!is_other).then_some((text, name))
}

/// UTF-32 with its mark.
fn utf_32(bytes: &[u8]) -> Option<String> {
    let little = bytes.starts_with(&[0xff, 0xfe, 0, 0]);
    if !little && !bytes.starts_with(&[0, 0, 0xfe, 0xff]) {
        return None;
    }
    let character = |bytes: &[u8]| {
        let bytes = bytes.try_into().ok()?;
        char::from_u32(if little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    };
    let characters = bytes[4..].chunks(4).map(character);
    Some(characters.map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

fn detect(bytes: &[u8]) -> &'static Encoding {
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Allow);
    // Enough to tell, and quick.
    detector.feed(&bytes[..bytes.len().min(200_000)], false);
    detector.guess(None, chardetng::Utf8Detection::Deny)
}

/// UTF-16 without a mark: Latin text has a NUL in every other byte.
fn utf_16(bytes: &[u8]) -> Option<&'static Encoding> {
    let sample = &bytes[..bytes.len().min(2_000)];
    if sample.len() < 8 {
        return None;
    }
    let nuls = |odd: usize| sample.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (nuls(0), nuls(1));
    let half = sample.len() / 2;
    if odd * 10 > half * 6 && even * 20 < half {
        return Some(UTF_16LE);
    }
    (even * 10 > half * 6 && odd * 20 < half).then_some(UTF_16BE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> String {
        decode(bytes, None).unwrap().text
    }

    /// The text and its only warning.
    fn warned(bytes: &[u8], declared: Option<&str>) -> (String, String) {
        let Decoded { text, warnings } = decode(bytes, declared).unwrap();
        let [warning] = &warnings[..] else { panic!("{text}: {warnings:?}") };
        (text, warning.clone())
    }

    #[test]
    fn marks_and_guesses_are_followed() {
        assert_eq!(read("\u{feff}Grüße".as_bytes()), "Grüße");
        let wide: Vec<u8> = "Grüße, Welt".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(read(&wide), "Grüße, Welt");
        assert_eq!(read(&[&[0xff, 0xfe][..], &wide].concat()), "Grüße, Welt");
        let wide: Vec<u8> = "Grüße, Welt".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(read(&[&[0xfe, 0xff][..], &wide].concat()), "Grüße, Welt");
        let wide: Vec<u8> =
            "\u{feff}Grüße 😀".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
        assert_eq!(read(&wide), "Grüße 😀");
        let wide: Vec<u8> =
            "\u{feff}Grüße".chars().flat_map(|c| u32::from(c).to_be_bytes()).collect();
        assert_eq!(read(&wide), "Grüße");
    }

    #[test]
    fn eight_bit_text_is_recognised_by_its_letters() {
        let latin = b"Die Stra\xdfe f\xfchrt \xfcber die Br\xfccke nach M\xfcnchen.";
        let (text, warning) = warned(latin, None);
        assert_eq!(text, "Die Straße führt über die Brücke nach München.");
        assert!(warning.contains("windows-1252"), "{warning}");
        // A page that says by mistake that it is UTF-8.
        assert_eq!(warned(latin, Some("utf-8")).0, text);
        let (russian, _, _) =
            encoding_rs::WINDOWS_1251.encode("Все счастливые семьи похожи друг на друга.");
        assert_eq!(read(&russian), "Все счастливые семьи похожи друг на друга.");
        assert_eq!(decode(b"\xe4", Some("iso-8859-5")).unwrap().text, "ф");
    }

    #[test]
    fn east_asian_text_is_not_taken_for_damaged_utf_8() {
        let chinese = "北京故宫是中国明清两代的皇家宫殿，旧称紫禁城，位于北京中轴线的中心。";
        let korean =
            "서울특별시는 대한민국의 수도이자 최대 도시이다. 백제의 첫 수도인 위례성이었다.";
        let japanese = "東京電灯は千八百八十三年に設立された会社で、社長は矢島作郎です。ﾃﾞｰﾀﾍﾞｰｽ";
        for (encoding, words) in [
            (encoding_rs::GBK, chinese),
            (encoding_rs::EUC_KR, korean),
            (encoding_rs::SHIFT_JIS, japanese),
            (encoding_rs::EUC_JP, japanese),
        ] {
            let (bytes, _, _) = encoding.encode(words);
            assert_eq!(read(&bytes), words, "{}", encoding.name());
        }
        let (short, _, _) = encoding_rs::WINDOWS_1252.encode("Das macht Spaß – „groß“, é");
        assert_eq!(read(&short), "Das macht Spaß – „groß“, é");
    }

    #[test]
    fn a_text_with_one_bad_byte_stays_utf_8() {
        let bytes = ["Grüße\nvon der Brücke ".as_bytes(), b"\x96 Ende"].concat();
        let (text, warning) = warned(&bytes, None);
        assert_eq!(text, "Grüße\nvon der Brücke \u{fffd} Ende");
        assert!(warning.starts_with("line 2 holds bytes that are not UTF-8"), "{warning}");
        // Several, and a mark.
        let bytes = ["\u{feff}Łódź i Kraków ".as_bytes(), b"\xff\n\xfe"].concat();
        let (text, warning) = warned(&bytes, None);
        assert_eq!(text, "Łódź i Kraków \u{fffd}\n\u{fffd}");
        assert!(warning.contains("line 1") && warning.contains("2 in the file"), "{warning}");
        // The page says what it is.
        let bytes = ["für ".as_bytes(), b"\x80 und \x81"].concat();
        assert_eq!(warned(&bytes, Some("utf8")).0, "für \u{fffd} und \u{fffd}");
    }

    #[test]
    fn a_text_that_is_cut_in_a_character_loses_that_one_only() {
        let (cut, _, _) =
            encoding_rs::SHIFT_JIS.encode("日本語のテキストです。文字コードはシフトJISです。");
        assert!(read(&[&cut[..], b"\x81"].concat()).ends_with("シフトJISです。\u{fffd}"));
        for (whole, rest) in
            [("Müller aus Köln", &b"\xc3"[..]), ("für 5 ", b"\xe2\x82"), ("東", b"\xe4")]
        {
            let (text, warning) = warned(&[whole.as_bytes(), rest].concat(), None);
            assert_eq!(text, format!("{whole}\u{fffd}"));
            assert!(warning.contains("not UTF-8"), "{warning}");
        }
        let wide: Vec<u8> = "Grüße, Welt".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let (text, warning) = warned(&[&[0xff, 0xfe][..], &wide[..21]].concat(), None);
        assert_eq!(text, "Grüße, Wel\u{fffd}");
        assert!(warning.contains("not UTF-16LE"), "{warning}");
        assert!(decode(&wide[..21], None).unwrap().text.starts_with("Grüße, Wel"));
        // The last letter of a text that is not UTF-8.
        assert_eq!(read(b"Wir treffen uns im Caf\xe9"), "Wir treffen uns im Café");
    }

    #[test]
    fn japanese_mail_of_seven_bits_is_read() {
        let words = "東京電灯は1883年に設立された。";
        let (bytes, _, _) = ISO_2022_JP.encode(words);
        let (text, warning) = warned(&bytes, None);
        assert_eq!(text, words);
        assert!(warning.contains("ISO-2022-JP"), "{warning}");
        assert_eq!(decode(&bytes, Some("iso-2022-jp")).unwrap().warnings, [""; 0]);
        let logged = b"\x1b[32mok\x1b[0m 5\x1b(B $B";
        assert_eq!(read(logged).as_bytes(), logged);
    }

    #[test]
    fn chinese_and_korean_of_seven_bits_is_read() {
        let low = |encoding: &'static Encoding, words: &str| -> Vec<u8> {
            encoding.encode(words).0.iter().map(|byte| byte & 0x7f).collect()
        };
        let korean = [b"\x1b$)CA \x0e", &low(EUC_KR, "서울은")[..], b"\x0f 2024\n"].concat();
        let (text, warning) = warned(&korean, None);
        assert_eq!(text, "A 서울은 2024\n");
        assert!(warning.contains("ISO-2022-KR"), "{warning}");
        let chinese = [b"Hi ~{", &low(GBK, "中文")[..], b"~} ok ~\nend"].concat();
        let (text, warning) = warned(&chinese, None);
        assert_eq!(text, "Hi 中文 ok end");
        assert!(warning.contains("HZ-GB-2312"), "{warning}");
        for lisp in ["(format t \"~{~a~^, ~}\" list)", "~{~A~}", "~{ab", "a ~{1,2~} b", "~{~}"] {
            assert_eq!(decode(lisp.as_bytes(), None).unwrap().text, lisp);
        }
    }

    #[test]
    fn what_is_binary_is_refused() {
        assert!(decode(b"text\0more", None).unwrap_err().reason.contains("bytes that are NUL"));
        let noise: Vec<u8> = (1..=255).cycle().take(4_000).collect();
        assert!(decode(&noise, None).unwrap_err().reason.contains("control characters"));
    }
}
