//! Pages that a browser saved with their pictures in one file (MHTML, RFC 2557): mail without
//! people, whose first page is the document.
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Encoding, MessageParser, MessagePart, MimeHeaders, PartType};

use super::{decoded, document};
use crate::container::refusal;
use crate::parsed::{Parsed, Refusal};
use crate::room::MAX_PICTURE_BYTES;
use crate::writer::Writer;

pub(crate) fn read(bytes: &[u8]) -> Result<Parsed, Refusal> {
    let broken = || refusal("the saved page is incomplete", "save it again, as HTML or MHTML");
    let message = MessageParser::default().parse(bytes).ok_or_else(broken)?;
    let mut pages = message.parts.iter().filter(|part| part.is_text_html());
    let page = pages.next().ok_or_else(broken)?;
    let charset = page.content_type().and_then(|kind| kind.attribute("charset"));
    let text = decoded(&transferred(bytes, page).ok_or_else(broken)?, charset)?;
    let addresses = |part| {
        let id = MessagePart::content_id(part).map(|id| format!("cid:{id}"));
        id.into_iter().chain(part.content_location().map(str::to_owned)).map(move |a| (a, part))
    };
    let by_address: HashMap<String, _> = message.parts.iter().flat_map(addresses).collect();
    let room = Cell::new(MAX_PICTURE_BYTES);
    let pictures = |address: &str| {
        let part = by_address.get(address)?;
        let kind = part.content_type()?;
        let (PartType::Binary(image) | PartType::InlineBinary(image)) = &part.body else {
            return None;
        };
        room.set(room.get().checked_sub(image.len())?);
        Some((format!("{}/{}", kind.ctype(), kind.subtype()?), image.to_vec()))
    };
    let mut writer = Writer::new("mhtml");
    let frames = pages.count();
    if frames > 0 {
        writer.warn(format!("{frames} frames of the page are not read; save each by itself"));
    }
    let mut parsed = document(text, writer, &pictures);
    parsed.title = parsed.title.or_else(|| message.subject().map(str::to_owned));
    parsed.url = parsed.url.or_else(|| page.content_location().map(str::to_owned));
    Ok(parsed)
}

/// The bytes of a page as they were before they were sent.
fn transferred<'a>(bytes: &'a [u8], part: &MessagePart<'_>) -> Option<Cow<'a, [u8]>> {
    let body = bytes.get(part.offset_body as usize..part.offset_end as usize)?;
    match part.encoding {
        Encoding::None => Some(Cow::Borrowed(body)),
        Encoding::QuotedPrintable => quoted_printable_decode(body).map(Cow::Owned),
        Encoding::Base64 => base64_decode(body).map(Cow::Owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check;

    fn saved(headers: &str, parts: &[(&str, &[u8])]) -> Parsed {
        let mut bytes = headers.as_bytes().to_vec();
        bytes.extend(b"MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=\"b-1\"\r\n");
        for (headers, body) in parts {
            bytes.extend(format!("\r\n--b-1\r\n{headers}\r\n\r\n").as_bytes());
            bytes.extend(*body);
        }
        bytes.extend(b"\r\n--b-1--\r\n");
        let options = crate::ParseOptions::default();
        let parsed = crate::parse("saved.mht", &bytes, &options).unwrap();
        check(&parsed);
        parsed
    }

    #[test]
    fn a_page_saved_by_chrome_is_read_with_its_picture() {
        let parsed = saved(
            "From: <Saved by Blink>\r\nSnapshot-Content-Location: https://a.example/x\r\n\
             Subject: =?utf-8?Q?Br=C3=BChl?=\r\n",
            &[
                (
                    "Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\
                     Content-Location: https://a.example/x",
                    b"<p>Das M=C3=BCnster <img src=3D\"https://a.example/m.png\" alt=3D\"Turm\"> ste=\r\nht.",
                ),
                (
                    "Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\
                     Content-Location: https://a.example/m.png",
                    b"AQID",
                ),
            ],
        );
        assert_eq!(parsed.format, "mhtml");
        assert!(parsed.text.starts_with("Das Münster steht."), "{}", parsed.text);
        assert_eq!(parsed.title.as_deref(), Some("Brühl"));
        assert_eq!(parsed.url.as_deref(), Some("https://a.example/x"));
        assert_eq!(parsed.figures[0].image, Some(("image/png".to_owned(), vec![1, 2, 3])));
        assert!(parsed.warnings.is_empty(), "{:?}", parsed.warnings);
    }

    #[test]
    fn a_page_saved_by_internet_explorer_keeps_its_encoding() {
        let parsed = saved(
            "From: <Saved by Windows Internet Explorer 8>\r\nSubject: x\r\n",
            &[(
                "Content-Type: text/html;\r\n\tcharset=\"windows-1251\"\r\n\
                 Content-Transfer-Encoding: base64",
                b"PHRpdGxlPs/w6OLl8jwvdGl0bGU+PHA+zO7x6uLgLg==",
            )],
        );
        assert_eq!((parsed.title.as_deref(), parsed.text.as_str()), (Some("Привет"), "Москва.\n"));
    }

    #[test]
    fn the_page_may_name_its_encoding_itself_and_frames_are_warned_of() {
        let frame = ("Content-Type: text/html", &b"<p>An advertisement"[..]);
        let page = b"<meta charset=windows-1252><p>Caf\xe9 <img src=cid:a@b alt=x>";
        let parsed = saved(
            "",
            &[("Content-Type: text/html\r\nContent-Transfer-Encoding: 8bit", page), frame],
        );
        assert!(parsed.text.starts_with("Café"), "{}", parsed.text);
        assert!(parsed.warnings[0].starts_with("1 frames"), "{:?}", parsed.warnings);
    }
}
