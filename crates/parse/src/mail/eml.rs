//! Mail as it is sent (RFC 5322 and MIME).
use mail_parser::{Address, MessageParser, MimeHeaders};

use super::{MailBody, Message, Person};
use crate::container::refusal;
use crate::parsed::Refusal;

/// Messages inside messages that are read; deeper ones are named as attachments.
const DEEPEST: usize = 5;

pub(super) fn read(bytes: &[u8]) -> Result<Message, Refusal> {
    let message = MessageParser::default().parse(bytes).ok_or_else(|| {
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

/// The text of a message; its web page where there is no text by itself.
fn bodies(message: &mail_parser::Message<'_>, depth: usize, out: &mut Message) {
    for part in message.text_bodies() {
        if let Some(text) = part.text_contents() {
            let is_page = part.is_text_html();
            out.bodies.push(if is_page {
                MailBody::Html(text.into())
            } else {
                MailBody::Plain(text.into())
            });
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
