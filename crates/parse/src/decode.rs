//! Bytes of a text file to characters: by the mark at its beginning, as UTF-8, else as what it
//! looks like.
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::parsed::Refusal;

/// Text, and the encoding where it had to be guessed.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    pub(crate) guessed: Option<&'static str>,
}

/// `declared` is what the file says of itself (`<meta charset>`), if anything.
pub(crate) fn decode(bytes: &[u8], declared: Option<&str>) -> Result<Decoded, Refusal> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        let (text, broken) = encoding.decode_without_bom_handling(&bytes[mark..]);
        return finish(text.into_owned(), broken.then_some(encoding.name()));
    }
    // The file's own word counts for nothing when the bytes are UTF-8.
    if !bytes.contains(&0)
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return finish(text.to_owned(), None);
    }
    if let Some(encoding) = utf_16(bytes) {
        let (text, _) = encoding.decode_without_bom_handling(bytes);
        return finish(text.into_owned(), Some(encoding.name()));
    }
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        return Err(binary(&format!("it is binary: byte {at} is NUL")));
    }
    let declared = declared.and_then(|name| Encoding::for_label(name.as_bytes()));
    let declared = declared.filter(|encoding| ![UTF_8, UTF_16LE, UTF_16BE].contains(encoding));
    let encoding = declared.unwrap_or_else(|| detect(bytes));
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    finish(text.into_owned(), declared.is_none().then_some(encoding.name()))
}

pub(crate) fn binary(reason: &str) -> Refusal {
    Refusal {
        reason: reason.to_owned(),
        hint: "give documents, tables, pictures or text; convert other files first".into(),
    }
}

fn finish(text: String, guessed: Option<&'static str>) -> Result<Decoded, Refusal> {
    if let Some(at) = text.find('\0') {
        return Err(binary(&format!("it is binary: character {at} is NUL")));
    }
    // Bytes of a program decode as well as anything; what gives them away are control characters.
    let sample: Vec<char> = text.chars().take(10_000).collect();
    let strange = |c: &&char| c.is_control() && !"\t\n\r\x0b\x0c\x1b\u{85}\u{9c}".contains(**c);
    if sample.iter().filter(strange).count() * 50 > sample.len() {
        return Err(binary("it is binary: it is full of control characters"));
    }
    Ok(Decoded { text, guessed })
}

fn detect(bytes: &[u8]) -> &'static Encoding {
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Allow);
    // Enough to tell, and quick.
    detector.feed(&bytes[..bytes.len().min(200_000)], true);
    detector.guess(None, chardetng::Utf8Detection::Allow)
}

/// UTF-16 without a mark: Latin text has a NUL in every other byte.
fn utf_16(bytes: &[u8]) -> Option<&'static Encoding> {
    let sample = &bytes[..bytes.len().min(2_000)];
    if sample.len() < 8 || !bytes.len().is_multiple_of(2) {
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

    #[test]
    fn marks_and_guesses_are_followed() {
        assert_eq!(read("\u{feff}Grüße".as_bytes()), "Grüße");
        let wide: Vec<u8> = "Grüße, Welt".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(read(&wide), "Grüße, Welt");
        assert_eq!(read(&[&[0xff, 0xfe][..], &wide].concat()), "Grüße, Welt");
        let wide: Vec<u8> = "Grüße, Welt".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(read(&[&[0xfe, 0xff][..], &wide].concat()), "Grüße, Welt");
    }

    #[test]
    fn eight_bit_text_is_recognised_by_its_letters() {
        let latin = b"Die Stra\xdfe f\xfchrt \xfcber die Br\xfccke nach M\xfcnchen.";
        let decoded = decode(latin, None).unwrap();
        assert_eq!(decoded.text, "Die Straße führt über die Brücke nach München.");
        assert_eq!(decoded.guessed, Some("windows-1252"));
        let (russian, _, _) =
            encoding_rs::WINDOWS_1251.encode("Все счастливые семьи похожи друг на друга.");
        assert_eq!(read(&russian), "Все счастливые семьи похожи друг на друга.");
        assert_eq!(decode(b"\xe4", Some("iso-8859-5")).unwrap().text, "ф");
    }

    #[test]
    fn what_is_binary_is_refused() {
        assert!(decode(b"text\0more", None).unwrap_err().reason.contains("byte 4 is NUL"));
        let noise: Vec<u8> = (1..=255).cycle().take(4_000).collect();
        assert!(decode(&noise, None).unwrap_err().reason.contains("control characters"));
    }
}
