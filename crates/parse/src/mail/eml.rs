//! Mail as it is sent (RFC 5322 and MIME).
use std::borrow::Cow;

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Address, Encoding, MessageParser, MessagePart, MimeHeaders};

use super::{MailBody, Message, Person};
use crate::container::refusal;
use crate::decode::decode;
use crate::detect::find;
use crate::parsed::Refusal;

/// Messages inside messages that are read; deeper ones are named as attachments.
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

/// The message with headers in UTF-8. Headers are ASCII by the standard, and some programs write
/// them in the encoding of the text.
fn with_readable_headers(bytes: &[u8]) -> Cow<'_, [u8]> {
    let end = find(bytes, b"\r\n\r\n").or_else(|| find(bytes, b"\n\n")).unwrap_or(bytes.len());
    let (headers, rest) = bytes.split_at(end);
    if std::str::from_utf8(headers).is_ok() {
        return Cow::Borrowed(bytes);
    }
    match decode(headers, None) {
        Ok(decoded) => Cow::Owned([decoded.text.as_bytes(), rest].concat()),
        Err(_) => Cow::Borrowed(bytes),
    }
}

/// The text of a part. Where it is not in the encoding that the message names, or none is named, the
/// encoding is guessed.
fn text(message: &mail_parser::Message<'_>, part: &MessagePart<'_>) -> Option<String> {
    let text = part.text_contents()?;
    if !text.contains(char::REPLACEMENT_CHARACTER) {
        return Some(text.to_owned());
    }
    let guessed = raw(message, part).and_then(|bytes| decode(&bytes, None).ok());
    Some(guessed.map_or_else(|| text.to_owned(), |decoded| decoded.text))
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
            _ => {
                out.attachments.push(part.attachment_name().unwrap_or("without a name").to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
