//! Mailboxes (RFC 4155): messages one after the other, each below a line that begins with `From `.
use std::ops::Range;

use super::attached::Attached;
use super::{eml, write};
use crate::detect::{Format, SEPARATOR, is_header, is_separator};
use crate::parsed::Parsed;
use crate::writer::Writer;
use crate::writer::inline::Inline;

/// Every message is a section under its subject.
pub(super) fn read(bytes: &[u8]) -> Parsed {
    let mut writer = Writer::new(Format::Mbox.name());
    let mut attached = Attached::default();
    let mut broken = 0;
    for range in messages(bytes) {
        let Ok(message) = eml::read(&unquoted(&bytes[range])) else {
            broken += 1;
            continue;
        };
        let subject = message.subject.as_deref().map(str::trim).filter(|words| !words.is_empty());
        writer.heading(1, &Inline::words(subject.unwrap_or("Without a subject")));
        write(&message, &mut writer);
        attached.append(message.attached);
    }
    let attachments = attached.finish(&mut writer);
    if broken > 0 {
        writer.warn(format!("{broken} of its messages cannot be read; export the mailbox again"));
    }
    Parsed { attachments, ..writer.finish() }
}

/// The messages, without the lines above them.
fn messages(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut messages: Vec<Range<usize>> = vec![];
    let mut at = 0;
    let mut after_empty = true;
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        let begins =
            after_empty && is_separator(line) && lines.peek().is_some_and(|next| is_header(next));
        if begins {
            messages.push(at + line.len()..at + line.len());
        } else if let Some(message) = messages.last_mut() {
            message.end = at + line.len();
        }
        after_empty = line.trim_ascii().is_empty();
        at += line.len();
    }
    messages
}

/// A message without the mark in front of its lines that begin like the line above a message.
fn unquoted(message: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(message.len());
    for line in message.split_inclusive(|byte| *byte == b'\n') {
        let marks = line.iter().take_while(|byte| **byte == b'>').count();
        let is_quoted = marks > 0 && line[marks..].starts_with(SEPARATOR);
        plain.extend_from_slice(&line[usize::from(is_quoted)..]);
    }
    plain
}

#[cfg(test)]
mod tests {
    use crate::check::{check, outline};
    use crate::detect::detect;

    use super::*;

    const BOX: &str = "From a@x Mon Jan  1 00:00:00 2024\nFrom: a@x\nSubject: =?utf-8?Q?Pr=C3=BCfung?=\n\
                       \nPlums are ripe.\n\n>From the tree.\nFrom here on.\n\
                       \nFrom b@x Tue Jan  2 00:00:00 2024\nFrom: b@x\nContent-Type: text/plain\n\
                       Content-Transfer-Encoding: base64\n\nUGVhcnMgYXJlIG5vdC4=\n";

    #[test]
    fn a_mailbox_has_a_section_for_each_message() {
        assert_eq!(detect("all.txt", BOX.as_bytes()).unwrap(), Format::Mbox);
        let parsed = read(BOX.as_bytes());
        check(&parsed);
        assert_eq!(
            outline(&parsed),
            [
                "h1 # Prüfung",
                "p Subject: Prüfung From: a@x",
                "p Plums are ripe.",
                "p From the tree. From here on.",
                "h1 # Without a subject",
                "p From: b@x",
                "p Pears are not.",
            ]
        );
    }

    #[test]
    fn a_letter_is_not_a_mailbox() {
        for letter in ["From here to there\nis far.", "From my desk\nDate: 2024-01-01\n\nText"] {
            assert_eq!(detect("a.txt", letter.as_bytes()).unwrap(), Format::Text);
        }
    }
    #[test]
    fn a_line_that_begins_with_from_stays_in_its_message() {
        let letter = "From a@x Mon Jan  1 00:00:00 2024\nFrom: a@x\nSubject: One\n\nHi\n\n\
                      From Mon to Fri at 10:00:00\nwe are open.\n\n>>From b@x said.\n\n\
                      From 10:00:00 on: the fair\n\nFrom b@x Tue Jan  2 00:00:00 2024\n\
                      Subject: Two\n\nBye\n";
        for text in [letter.to_owned(), letter.replace('\n', "\r\n")] {
            let parsed = read(text.as_bytes());
            check(&parsed);
            let headings = outline(&parsed).into_iter().filter(|line| line.starts_with('h'));
            assert_eq!(headings.collect::<Vec<_>>(), ["h1 # One", "h1 # Two"]);
            assert!(parsed.text.contains("From Mon to Fri at 10:00:00\nwe are open."));
            assert!(parsed.text.contains("\n>From b@x said.") && parsed.text.contains("the fair"));
        }
    }
}
