//! Mail: the headers that readers look at, then the body. What is attached is not read.
mod eml;
mod lzfu;
mod mbox;
mod msg;

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
    /// Names of attached files.
    attachments: Vec<String>,
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

/// Attached files that a warning names.
const NAMED: usize = 100;

/// Reads mail of one of the formats of this folder.
pub(crate) fn read(format: Format, bytes: &[u8]) -> Result<Parsed, Refusal> {
    let message = match format {
        Format::Mbox => return Ok(mbox::read(bytes)),
        Format::Msg => msg::read(bytes)?,
        _ => eml::read(bytes)?,
    };
    let mut writer = Writer::new(format.name());
    write(&message, &mut writer);
    warn_of(&message.attachments, &mut writer);
    if message.bodies.is_empty() {
        let hint = "open it in the mail program and save it again, or as PDF";
        writer.warn(format!("it has no text, or one that cannot be read: {hint}"));
    }
    let mut parsed = writer.finish();
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

/// Warns of what is not read.
fn warn_of(attachments: &[String], writer: &mut Writer) {
    let names: Vec<String> =
        attachments.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    let (names, more) = (names.join(", "), attachments.len().saturating_sub(NAMED));
    match attachments.len() {
        0 => {}
        1 => writer.warn(format!("the attached file {names} is not read; give it by itself")),
        _ => {
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let files = format!("the attached files {names}{more}");
            writer.warn(format!("{files} are not read; give them by themselves"));
        }
    }
    if attachments.iter().any(|name| name.eq_ignore_ascii_case("winmail.dat")) {
        let lost = "`winmail.dat` holds texts and files in a form that only Outlook reads";
        writer.warn(format!("{lost}; save the mail in Outlook as .msg, or ask for it as HTML"));
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
    ];
    let lines = lines.into_iter().filter(|(_, value)| !value.is_empty());
    let lines: Vec<String> = lines.map(|(name, value)| format!("{name}: {value}")).collect();
    Inline::lines(&lines.join("\n"))
}
