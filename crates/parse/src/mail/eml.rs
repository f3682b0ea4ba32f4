//! Mail as it is sent (RFC 5322 and MIME).
use std::borrow::Cow;

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Address, ContentType, Encoding, MessageParser, MessagePart, MimeHeaders};

use super::{MailBody, Message, Person};
use crate::container::refusal;
use crate::decode::decode;
use crate::detect::find;
use crate::parsed::Refusal;

/// Messages inside messages that are read; deeper ones are attached files.
const DEEPEST: usize = 5;

pub(super) fn read(bytes: &[u8]) -> Result<Message, Refusal> {
    let bytes = with_readable_headers(bytes);
    let message = MessageParser::default().parse(&*bytes).ok_or_else(|| {
        refusal("it cannot be read as mail", "export it from the mail program again")
    })?;
    let mut out = Message {
        subject: message.subject().map(str::to_owned),
        sender: people(message.from()).into_iter().next().unwrap_or_default(),
        to: people(message.to()),
        copies: people(message.cc()),
        date: message.date().map(mail_parser::DateTime::to_rfc3339),
        ..Message::default()
    };
    bodies(&message, 0, &mut out);
    Ok(out)
}

fn people(addresses: Option<&Address<'_>>) -> Vec<Person> {
    let person = |address: &mail_parser::Addr<'_>| Person {
        name: address.name().map(str::to_owned),
        address: address.address().map(str::to_owned),
    };
    addresses.into_iter().flat_map(Address::iter).map(person).collect()
}

/// The message with headers in UTF-8 that say so. Headers are ASCII by the standard, and some programs write
/// them in the encoding of the text.
fn with_readable_headers(bytes: &[u8]) -> Cow<'_, [u8]> {
    let end = find(bytes, b"\r\n\r\n").or_else(|| find(bytes, b"\n\n")).unwrap_or(bytes.len());
    let (headers, rest) = bytes.split_at(end);
    let Ok(decoded) = decode(headers, None) else { return Cow::Borrowed(bytes) };
    let text = relabelled(&decoded.text);
    if text.as_bytes() == headers {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned([text.as_bytes(), rest].concat())
}

/// Headers with the charset of each encoded word (RFC 2047) as it is, not as it is stated.
fn relabelled(headers: &str) -> String {
    let relabelled = |word: &str| {
        let parts: Vec<&str> = word.splitn(4, '?').collect();
        let [charset, encoding @ ("B" | "b" | "Q" | "q"), text, rest] = parts[..] else {
            return word.to_owned();
        };
        let is_base64 = encoding.eq_ignore_ascii_case("b");
        let decode = if is_base64 { base64_decode } else { quoted_printable_decode };
        let is_utf_8 = decode(text.as_bytes()).is_some_and(|bytes| is_utf_8(&bytes));
        let charset = if is_utf_8 { "utf-8".to_owned() } else { label(charset) };
        [&charset, encoding, text, rest].join("?")
    };
    headers.split("=?").map(relabelled).collect::<Vec<_>>().join("=?")
}

/// The name of a charset; also of one that is written like `cp-1252`.
fn label(charset: &str) -> String {
    let digits = || charset.chars().filter(char::is_ascii_digit).collect::<String>();
    let is_usual = charset_decoder(charset.as_bytes()).is_some();
    if is_usual { charset.to_owned() } else { format!("windows-{}", digits()) }
}

/// Whether bytes are UTF-8 and no plain ASCII.
fn is_utf_8(bytes: &[u8]) -> bool {
    !bytes.is_ascii() && std::str::from_utf8(bytes).is_ok()
}

/// The text of a part. UTF-8 is recognised whatever the message names; where it names no encoding,
/// or one that does not fit, it is guessed.
fn text(message: &mail_parser::Message<'_>, part: &MessagePart<'_>) -> Option<String> {
    let mut text = part.text_contents()?.to_owned();
    let stated = |name| part.content_type().and_then(|about| about.attribute(name));
    let Some(bytes) = raw(message, part) else { return Some(text) };
    if is_utf_8(&bytes) || text.contains([char::REPLACEMENT_CHARACTER, '\u{1b}']) {
        let label = label(stated("charset").unwrap_or_default());
        text = decode(&bytes, Some(&label)).map_or(text, |decoded| decoded.text);
    }
    // Lines that were broken (RFC 3676) end in a space; quotations stay as they are.
    if stated("format").is_some_and(|format| format.eq_ignore_ascii_case("flowed")) {
        let joins_words = stated("delsp").is_some_and(|delsp| delsp.eq_ignore_ascii_case("yes"));
        let text_of_lines =
            text.replace("\r\n", "\n").replace("-- \n", "--\n").replace(" \n>", "\n>");
        text = text_of_lines.replace(" \n", if joins_words { "" } else { " " });
    }
    Some(text)
}

/// The bytes of a part.
fn raw<'a>(message: &'a mail_parser::Message<'_>, part: &MessagePart<'_>) -> Option<Cow<'a, [u8]>> {
    let (start, end) = (part.offset_body as usize, part.offset_end as usize);
    let bytes = message.raw_message.get(start..end)?;
    match part.encoding {
        Encoding::None => Some(Cow::Borrowed(bytes)),
        Encoding::QuotedPrintable => quoted_printable_decode(bytes).map(Cow::Owned),
        Encoding::Base64 => base64_decode(bytes).map(Cow::Owned),
    }
}

/// The text of a message; its web page where there is no text by itself.
fn bodies(message: &mail_parser::Message<'_>, depth: usize, out: &mut Message) {
    for part in message.text_bodies() {
        if let Some(text) = text(message, part) {
            let is_page = part.is_text_html();
            out.bodies.push(if is_page { MailBody::Html(text) } else { MailBody::Plain(text) });
        }
    }
    for part in message.attachments() {
        match part.message() {
            Some(inner) if depth < DEEPEST => {
                if let Some(subject) = inner.subject() {
                    out.bodies.push(MailBody::Plain(format!("Subject: {subject}")));
                }
                bodies(inner, depth + 1, out);
            }
            _ if part.is_content_type("application", "ms-tnef") => {
                out.attached.add(Some("winmail.dat"), None);
            }
            _ if is_signature(part) || is_picture_of_text(part) => {}
            _ => out.attached.add(part.attachment_name(), raw(message, part).map(Cow::into_owned)),
        }
    }
}

/// Whether a part proves who sent the message.
fn is_signature(part: &MessagePart<'_>) -> bool {
    ["pkcs7-signature", "x-pkcs7-signature", "pgp-signature"]
        .iter()
        .any(|subtype| part.is_content_type("application", subtype))
}

/// Whether a part is a picture that the web page of the message shows, like a logo.
fn is_picture_of_text(part: &MessagePart<'_>) -> bool {
    let is_picture = part.content_type().is_some_and(|about| about.ctype() == "image");
    let is_attached = part.content_disposition().is_some_and(ContentType::is_attachment);
    is_picture && part.content_id().is_some() && !is_attached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::Format;
    use crate::parsed::Parsed;

    fn plain(bytes: &[u8]) -> (String, String) {
        let message = read(bytes).unwrap();
        let [MailBody::Plain(text)] = &message.bodies[..] else { panic!("{:?}", message.bodies) };
        (message.subject.unwrap(), text.trim().to_owned())
    }

    #[test]
    fn a_message_that_names_no_encoding_is_read() {
        let words = "Grüße aus München, der Stadt an der Isar";
        let (latin, _, _) = encoding_rs::WINDOWS_1252.encode(words);
        let mail = |headers: &str, body: &[u8]| {
            let head = b"From: a@x\nMessage-ID: <1>\nSubject: ";
            [&head[..], &latin, b"\n", headers.as_bytes(), b"\n", body].concat()
        };
        let quoted = b"Gr=FC=DFe aus M=FCnchen, der Stadt an der Isar";
        for (headers, body) in [
            ("", &latin[..]),
            ("Content-Type: text/plain; charset=us-ascii\n", &latin[..]),
            ("Content-Type: text/plain; charset=utf-8\n", &latin[..]),
            ("Content-Transfer-Encoding: quoted-printable\n", &quoted[..]),
        ] {
            let read = plain(&mail(headers, body));
            assert_eq!(read, (words.to_owned(), words.to_owned()), "{headers}");
        }
    }
    #[test]
    fn utf_8_is_read_whatever_the_headers_say() {
        let words = "Żółta łódź, Grüße €5";
        let quoted: Vec<String> = words.bytes().map(|byte| format!("={byte:02X}")).collect();
        for charset in ["us-ascii", "iso-8859-1", "\"utf8\"", "cp-1252", "unknown-8bit", "big5"] {
            let mail = |encoding: &str, body: &str| {
                let head = format!("From: a@x\nMessage-ID: <1>\nSubject: {words}\n");
                let about = format!("Content-Type: text/plain; charset={charset}\n");
                plain(format!("{head}{about}{encoding}\n{body}").as_bytes())
            };
            let expected = (words.to_owned(), words.to_owned());
            assert_eq!(mail("", words), expected, "{charset}");
            let encoding = "Content-Transfer-Encoding: quoted-printable\n";
            assert_eq!(mail(encoding, &quoted.concat()), expected, "{charset}");
        }
        // In encoded words, too.
        let subject =
            "=?iso-8859-1?Q?M=C3=BCnchen_=C3=8Dsland?= =?us-ascii?b?0J3QsNGP?= =?cp-1252?Q?=FC?=";
        let mail = format!("From: =?cp_1251?Q?=CC=EE?= <a@x>\nSubject: Q? {subject}\n\nHi");
        let message = read(mail.as_bytes()).unwrap();
        assert_eq!(message.subject.as_deref(), Some("Q? München ÍslandНаяü"));
        assert_eq!(message.sender.name.as_deref(), Some("Мо"));
    }

    #[test]
    fn mail_in_other_encodings_stays_as_it_is() {
        let mail = |charset: &str, body: &[u8]| {
            let head =
                format!("Message-ID: <1>\nSubject: a\nContent-Type: text/plain; {charset}\n\n");
            plain(&[head.as_bytes(), body].concat()).1
        };
        assert_eq!(mail("charset=iso-2022-jp", b"\x1b$BEl5~\x1b(B 5"), "東京 5");
        assert_eq!(mail("charset=cp-1251", b"\xcc\xee\xf1\xea\xe2\xe0"), "Москва");
        assert_eq!(mail("charset=windows1252", b"\x805"), "€5");
        assert_eq!(mail("charset=koi8-r", b"\xed\xcf\xd3\xcb\xd7\xc1"), "Москва");
    }

    #[test]
    fn lines_that_a_mail_program_broke_are_whole() {
        let mail = |about: &str, body: &str| {
            let about = format!("Content-Type: text/plain; charset=utf-8; {about}");
            plain(format!("Message-ID: <1>\nSubject: a\n{about}\n\n{body}").as_bytes()).1
        };
        let text = "The fee is \r\n550 euros. \r\n> Which \r\n> fee?\r\n\r\n-- \r\nAnn";
        let whole = "The fee is 550 euros.\n> Which\n> fee?\n\n--\nAnn";
        assert_eq!(mail("format=flowed", text).replace(" \n", "\n"), whole);
        assert_eq!(mail("Format=Flowed; DelSp=Yes", "東京 \nの塔"), "東京の塔");
        assert_eq!(mail("format=fixed", "The fee \nis 5"), "The fee \nis 5");
    }

    /// A mail of these parts: their headers and bodies.
    fn mail(parts: &[(&str, &str)]) -> Parsed {
        let part = |(headers, body): &(&str, &str)| format!("--b\n{headers}\n\n{body}\n");
        let head = "Message-ID: <1>\nSubject: a\nContent-Type: multipart/mixed; boundary=b\n\n";
        let parts: String = parts.iter().map(part).collect();
        crate::mail::read(Format::Eml, format!("{head}{parts}--b--\n").as_bytes()).unwrap()
    }

    #[test]
    fn attached_files_are_given_as_they_are() {
        let text = ("Content-Type: text/plain", "See the plans.");
        let parsed = mail(&[
            text,
            (
                "Content-Type: application/pdf; name=\"plan.pdf\"\n\
                 Content-Transfer-Encoding: base64\nContent-Disposition: attachment",
                "JVBERi0=",
            ),
            ("Content-Type: text/csv; name=plan.pdf\nContent-Disposition: attachment", "a,b\n1,2"),
            ("Content-Type: image/png; name=logo.png\nContent-ID: <logo>", "x"),
            ("Content-Type: application/pkcs7-signature; name=smime.p7s", "x"),
            (
                "Content-Type: message/rfc822",
                "Subject: b\nContent-Type: text/csv; name=c.csv\nContent-Disposition: attachment\n\n3,4",
            ),
        ]);
        let files: Vec<_> =
            parsed.attachments.iter().map(|file| (file.name.as_str(), &file.bytes[..])).collect();
        let expected: [(&str, &[u8]); 3] =
            [("plan.pdf", b"%PDF-"), ("plan (2).pdf", b"a,b\n1,2"), ("c.csv", b"3,4")];
        assert_eq!(files, expected);
        assert!(parsed.text.contains("Attached files: plan.pdf, plan.pdf, c.csv"));
        assert!(parsed.warnings.is_empty(), "{:?}", parsed.warnings);
    }

    #[test]
    fn what_cannot_be_given_on_is_named() {
        let parsed =
            mail(&[("Content-Type: text/plain", "Hi"), ("Content-Type: application/ms-tnef", "x")]);
        assert!(parsed.warnings[0].contains("`winmail.dat`"), "{:?}", parsed.warnings);
        let empty =
            "Message-ID: <1>\nSubject: a\nContent-Type: application/pdf; name=a.pdf\n\n%PDF";
        let parsed = crate::mail::read(Format::Eml, empty.as_bytes()).unwrap();
        assert_eq!(parsed.attachments[0].name, "a.pdf");
        assert!(parsed.warnings[0].contains("has no text"), "{:?}", parsed.warnings);
    }
}
