//! Mail: the headers that readers look at, then the body. Attached files are given as they are.
mod attached;
mod eml;
mod lzfu;
mod mbox;
mod msg;

use self::attached::Attached;
use crate::detect::Format;
use crate::html;
use halma_text::dates::normalise_stamp;

use crate::metadata::line;
use crate::parsed::{Parsed, Refusal};
use crate::writer::Writer;
use crate::writer::inline::Inline;

/// A message as its format states it.
#[derive(Debug, Default)]
struct Message {
    subject: Option<String>,
    /// Name and address of the sender.
    sender: Person,
    to: Vec<Person>,
    copies: Vec<Person>,
    date: Option<String>,
    bodies: Vec<MailBody>,
    attached: Attached,
}

#[derive(Debug)]
enum MailBody {
    Plain(String),
    Html(String),
}

#[derive(Debug, Default)]
struct Person {
    name: Option<String>,
    address: Option<String>,
}

impl Person {
    /// As in `Ann <ann@a.example>`; empty when nothing is known.
    fn shown(&self) -> String {
        match (&self.name, &self.address) {
            (Some(name), Some(address)) if name != address => format!("{name} <{address}>"),
            (name, address) => name.clone().or_else(|| address.clone()).unwrap_or_default(),
        }
    }
}

/// Reads mail of one of the formats of this folder.
pub(crate) fn read(format: Format, bytes: &[u8]) -> Result<Parsed, Refusal> {
    let message = match format {
        Format::Mbox => return Ok(mbox::read(bytes)),
        Format::Msg => msg::read(bytes)?,
        _ => eml::read(bytes)?,
    };
    let mut writer = Writer::new(format.name());
    write(&message, &mut writer);
    let attachments = message.attached.finish(&mut writer);
    if message.bodies.is_empty() {
        let hint = "open it in the mail program and save it again, or as PDF";
        writer.warn(format!("it has no text, or one that cannot be read: {hint}"));
    }
    let mut parsed = Parsed { attachments, ..writer.finish() };
    parsed.title = message.subject.as_deref().and_then(line);
    let Person { name, address } = message.sender;
    parsed.author = name.or(address).as_deref().and_then(line);
    parsed.date = message.date.as_deref().and_then(normalise_stamp);
    Ok(parsed)
}

/// The headers and the text of a message.
fn write(message: &Message, writer: &mut Writer) {
    writer.paragraph(&headers(message));
    for body in &message.bodies {
        match body {
            MailBody::Plain(text) => {
                let text = text.replace("\r\n", "\n");
                text.split("\n\n").for_each(|part| writer.paragraph(&Inline::lines(part)));
            }
            MailBody::Html(page) => {
                html::page(page, writer, &|_| None);
            }
        }
    }
}

fn headers(message: &Message) -> Inline {
    let people =
        |people: &[Person]| people.iter().map(Person::shown).collect::<Vec<_>>().join(", ");
    let lines = [
        ("Subject", message.subject.clone().unwrap_or_default()),
        ("From", message.sender.shown()),
        ("To", people(&message.to)),
        ("CC", people(&message.copies)),
        ("Date", message.date.clone().unwrap_or_default()),
        ("Attached files", message.attached.names().join(", ")),
    ];
    let lines = lines.into_iter().filter(|(_, value)| !value.is_empty());
    let lines: Vec<String> = lines.map(|(name, value)| format!("{name}: {value}")).collect();
    Inline::lines(&lines.join("\n"))
}
