//! Mail of Outlook (MS-OXMSG): properties, each in a stream of a compound file.
use encoding_rs::UTF_16LE;
use halma_text::dates::normalise_stamp;
use mail_parser::DateTime;

use super::{MailBody, Message, Person, lzfu};
use crate::container::{Compound, compound_file, stream};
use crate::decode::decode;
use crate::detect::contains;
use crate::office::rtf::{self, CodePage};
use crate::parsed::Refusal;

/// Property identifiers (MS-OXPROPS).
const SUBJECT: u16 = 0x0037;
const SENDER_NAME: u16 = 0x0c1a;
const SENDER_ADDRESS: u16 = 0x0c1f;
const SENDER_SMTP_ADDRESS: u16 = 0x5d01;
const DISPLAY_TO: u16 = 0x0e04;
const DISPLAY_CC: u16 = 0x0e03;
const BODY: u16 = 0x1000;
const HTML: u16 = 0x1013;
const RTF: u16 = 0x1009;
/// Of the web page, and of the texts; where only one is stated, it is that of both.
const INTERNET_CODEPAGE: u16 = 0x3fde;
const MESSAGE_CODEPAGE: u16 = 0x3ffd;
const SUBMIT_TIME: u16 = 0x0039;
const DELIVERY_TIME: u16 = 0x0e06;
const ATTACHMENT_LONG_NAME: u16 = 0x3707;
const ATTACHMENT_NAME: u16 = 0x3704;
const ATTACHMENT_DATA: u16 = 0x3701;
const ATTACHMENT_HIDDEN: u16 = 0x7ffe;

/// Bytes before the first property in the list of a message, and of what is attached to it
/// (MS-OXMSG 2.4.1).
const LIST_HEADER: usize = 32;
const ATTACHED_LIST_HEADER: usize = 8;
/// Seconds from 1601, where the clock of Windows begins, to 1970.
const WINDOWS_EPOCH: i64 = 11_644_473_600;

pub(super) fn read(bytes: &[u8]) -> Result<Message, Refusal> {
    let mut file = compound_file(bytes)?;
    let list = stream(&mut file, "/__properties_version1.0").unwrap_or_default();
    let mut storage = Storage { list: &list, file: &mut file };
    let person = |name| Person { name: Some(name), address: None };
    let people = |names: Option<String>| -> Vec<Person> {
        let names = names.unwrap_or_default();
        let names = names.split(';').map(|name| name.trim().to_owned());
        names.filter(|name| !name.is_empty()).map(person).collect()
    };
    let address =
        storage.text("", SENDER_SMTP_ADDRESS).or_else(|| storage.text("", SENDER_ADDRESS));
    let mut message = Message {
        subject: storage.text("", SUBJECT),
        sender: Person { name: storage.text("", SENDER_NAME), address },
        to: people(storage.text("", DISPLAY_TO)),
        copies: people(storage.text("", DISPLAY_CC)),
        date: number(&list, SUBMIT_TIME).or_else(|| number(&list, DELIVERY_TIME)).and_then(day),
        ..Message::default()
    };
    let plain = storage.text("", BODY).filter(|text| !text.trim().is_empty()).map(MailBody::Plain);
    let body = plain.or_else(|| storage.page().map(MailBody::Html)).or_else(|| storage.rtf());
    message.bodies.extend(body);
    // Streams may share the bytes of the file, but no file that Outlook writes has such.
    let mut left = bytes.len();
    for path in storage.attachments() {
        if storage.is_hidden(&path) {
            continue;
        }
        let name = storage.text(&path, ATTACHMENT_LONG_NAME);
        let name = name.or_else(|| storage.text(&path, ATTACHMENT_NAME));
        let data = stream(storage.file, &format!("{path}/__substg1.0_{ATTACHMENT_DATA:04X}0102"));
        let data = data.filter(|data| data.len() <= left);
        left -= data.as_ref().map_or(0, Vec::len);
        message.attached.add(name.as_deref(), data);
    }
    Ok(message)
}

struct Storage<'a, 'b> {
    file: &'b mut Compound<'a>,
    /// Properties of a fixed length.
    list: &'a [u8],
}

impl Storage<'_, '_> {
    /// A property that is a text, of the message (`""`) or of one of its attachments.
    fn text(&mut self, path: &str, property: u16) -> Option<String> {
        let wide = stream(self.file, &format!("{path}/__substg1.0_{property:04X}001F"));
        let text = if let Some(bytes) = wide {
            UTF_16LE.decode_without_bom_handling(&bytes).0.into_owned()
        } else {
            let bytes = stream(self.file, &format!("{path}/__substg1.0_{property:04X}001E"))?;
            self.decoded(&bytes, [MESSAGE_CODEPAGE, INTERNET_CODEPAGE])?
        };
        Some(text.trim_end_matches('\0').to_owned()).filter(|text| !text.is_empty())
    }

    /// The body as a web page, which is a text or bytes.
    fn page(&mut self) -> Option<String> {
        self.text("", HTML).or_else(|| {
            let bytes = stream(self.file, &format!("/__substg1.0_{HTML:04X}0102"))?;
            self.decoded(&bytes, [INTERNET_CODEPAGE, MESSAGE_CODEPAGE])
        })
    }

    /// The body that is only there as RTF, which may have been a web page.
    fn rtf(&mut self) -> Option<MailBody> {
        let bytes = lzfu::unpacked(&stream(self.file, &format!("/__substg1.0_{RTF:04X}0102"))?)?;
        if contains(&bytes[..bytes.len().min(1_000)], b"\\fromhtml") {
            return rtf::unwrapped(&bytes).map(MailBody::Html);
        }
        Some(MailBody::Plain(rtf::read(&bytes).text))
    }

    /// The characters of bytes: UTF-8, or in the first code page that is stated.
    fn decoded(&self, bytes: &[u8], pages: [u16; 2]) -> Option<String> {
        let bytes = bytes.split(|byte| *byte == 0).next()?;
        let page = pages.into_iter().find_map(|page| number(self.list, page));
        match (std::str::from_utf8(bytes), page) {
            (Ok(text), _) if !text.is_ascii() => Some(text.to_owned()),
            (_, Some(page)) => {
                Some(CodePage::for_number((page & 0xffff).cast_signed()).decode(bytes))
            }
            (_, None) => Some(decode(bytes, None).ok()?.text),
        }
    }

    /// Whether what is attached is a part of the text, like a logo.
    fn is_hidden(&mut self, path: &str) -> bool {
        let list = stream(self.file, &format!("{path}/__properties_version1.0"));
        let list = list.unwrap_or_default();
        let properties = list.get(ATTACHED_LIST_HEADER..).unwrap_or_default();
        value(properties, ATTACHMENT_HIDDEN).is_some_and(|hidden| hidden & 1 == 1)
    }

    fn attachments(&self) -> Vec<String> {
        let entries = self.file.read_root_storage();
        let paths = entries.map(|entry| entry.path().to_string_lossy().into_owned());
        paths.filter(|path| path.starts_with("/__attach_")).collect()
    }
}

/// A number among the properties of a message.
fn number(list: &[u8], property: u16) -> Option<u64> {
    value(list.get(LIST_HEADER..)?, property)
}

/// The value of a property that has a fixed length (MS-OXMSG 2.4.2.1).
fn value(properties: &[u8], property: u16) -> Option<u64> {
    let entry = properties.chunks_exact(16).find(|entry| entry[2..4] == property.to_le_bytes())?;
    Some(u64::from_le_bytes(entry[8..16].try_into().ok()?))
}

/// A time of Windows (100 ns since 1601) as a day, as in `2023-01-31`.
fn day(time: u64) -> Option<String> {
    let seconds = i64::try_from(time / 10_000_000).ok()?.checked_sub(WINDOWS_EPOCH)?;
    normalise_stamp(&DateTime::from_timestamp(seconds).to_rfc3339())
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use cfb::CompoundFile;

    use super::*;
    use crate::detect::{Format, detect};

    fn file() -> Vec<u8> {
        let mut file = CompoundFile::create(Cursor::new(vec![])).unwrap();
        let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        let mut list = vec![0; LIST_HEADER];
        let time = (WINDOWS_EPOCH + 1_675_166_400) * 10_000_000;
        list.extend([0x40, 0, 0x39, 0, 0, 0, 0, 0]);
        list.extend(time.to_le_bytes());
        let mut add = |path: &str, bytes: &[u8]| {
            file.create_stream(path).unwrap().write_all(bytes).unwrap();
        };
        add("/__properties_version1.0", &list);
        add("/__substg1.0_0037001F", &wide("The sharks"));
        add("/__substg1.0_0C1A001F", &wide("Ann"));
        add("/__substg1.0_1000001E", b"Sharks are fish\x85");
        let hidden =
            [&[0; 8][..], &[0x0b, 0, 0xfe, 0x7f, 6, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]].concat();
        for (number, name, data) in
            [(0, "list.txt", Some(b"Hai")), (1, "inner.msg", None), (2, "logo.png", Some(b"png"))]
        {
            let folder = format!("/__attach_version1.0_#{number:08}");
            file.create_storage(&folder).unwrap();
            let mut add = |path: &str, bytes: &[u8]| {
                let path = format!("{folder}/{path}");
                file.create_stream(path).unwrap().write_all(bytes).unwrap();
            };
            add("__substg1.0_3707001F", &wide(name));
            if let Some(data) = data {
                add("__substg1.0_37010102", data);
            }
            if number == 2 {
                add("__properties_version1.0", &hidden);
            }
        }
        file.into_inner().into_inner()
    }

    #[test]
    fn a_message_has_its_properties() {
        let bytes = file();
        assert_eq!(detect("a.msg", &bytes).unwrap(), Format::Msg);
        let parsed = crate::mail::read(Format::Msg, &bytes).unwrap();
        crate::check::check(&parsed);
        assert_eq!(
            (parsed.title.as_deref(), parsed.author.as_deref()),
            (Some("The sharks"), Some("Ann"))
        );
        assert_eq!(parsed.date.as_deref(), Some("2023-01-31"));
        assert!(parsed.text.ends_with("Sharks are fish…\n"), "{}", parsed.text);
        let [file] = &parsed.attachments[..] else { panic!("{:?}", parsed.attachments) };
        assert_eq!((file.name.as_str(), &file.bytes[..]), ("list.txt", &b"Hai"[..]));
        let [warning] = &parsed.warnings[..] else { panic!("{:?}", parsed.warnings) };
        assert!(warning.contains("`inner.msg`"), "{warning}");
    }
    /// The text of a message of these properties: numbers, then streams.
    fn text(numbers: &[(u16, u64)], streams: &[(&str, &[u8])]) -> String {
        let mut file = CompoundFile::create(Cursor::new(vec![])).unwrap();
        let mut list = vec![0; LIST_HEADER];
        for (property, number) in numbers {
            list.extend([3, 0]);
            list.extend(property.to_le_bytes());
            list.extend([0; 4]);
            list.extend(number.to_le_bytes());
        }
        file.create_stream("/__properties_version1.0").unwrap().write_all(&list).unwrap();
        for (property, bytes) in streams {
            let name = format!("/__substg1.0_{property}");
            file.create_stream(name).unwrap().write_all(bytes).unwrap();
        }
        let parsed = crate::mail::read(Format::Msg, &file.into_inner().into_inner()).unwrap();
        crate::check::check(&parsed);
        assert!(parsed.warnings.is_empty(), "{:?}", parsed.warnings);
        parsed.text
    }

    /// A text as Outlook stores it, not compressed.
    fn stored(rtf: &str) -> Vec<u8> {
        let length = u32::try_from(rtf.len()).unwrap();
        let header = [&(length + 12).to_le_bytes()[..], &length.to_le_bytes(), b"MELA", &[0; 4]];
        [&header.concat(), rtf.as_bytes()].concat()
    }

    #[test]
    fn a_body_that_is_only_there_as_rtf_is_read() {
        let plain = stored("{\\rtf1\\ansi\\deff0 The fee of {\\deleted 4}550 \\'80.\\par}");
        assert_eq!(text(&[], &[("10090102", &plain)]), "The fee of 550 €.\n");
        let page = stored(
            "{\\rtf1\\ansi\\fromhtml1{\\*\\htmltag <table><tr><th>}Fee{\\*\\htmltag <th>}Year\
             {\\*\\htmltag <tr><td>}\\htmlrtf \\par\\htmlrtf0 5{\\*\\htmltag <td>}2024}",
        );
        let shown = text(&[], &[("10090102", &page)]);
        assert_eq!(shown, "| Fee | Year |\n| --- | --- |\n| 5 | 2024 |\n");
        // A plain body counts for more, an empty one for nothing.
        assert_eq!(text(&[], &[("1000001E", b"Plain"), ("10090102", &plain)]), "Plain\n");
        assert_eq!(
            text(&[], &[("1000001E", b" \r\n"), ("10090102", &plain)]),
            "The fee of 550 €.\n"
        );
    }

    #[test]
    fn texts_of_one_byte_are_read_in_the_code_page_of_the_message() {
        let moscow: &[u8] = b"\xcc\xee\xf1\xea\xe2\xe0";
        for (numbers, body, read) in [
            (&[(MESSAGE_CODEPAGE, 1_251), (INTERNET_CODEPAGE, 28_591)][..], moscow, "Москва"),
            (&[(INTERNET_CODEPAGE, 1_251)], moscow, "Москва"),
            (&[(INTERNET_CODEPAGE, 20_866)], b"\xed\xcf\xd3\xcb\xd7\xc1", "Москва"),
            (&[(MESSAGE_CODEPAGE, 932)], b"\x93\x8c\x8b\x9e\0", "東京"),
            (&[(INTERNET_CODEPAGE, 50_220)], b"\x1b$BEl5~\x1b(B", "東京"),
            (&[(MESSAGE_CODEPAGE, 1_252)], "Łódź".as_bytes(), "Łódź"),
            (&[], "Łódź".as_bytes(), "Łódź"),
        ] {
            assert_eq!(text(numbers, &[("1000001E", body)]), format!("{read}\n"), "{numbers:?}");
        }
        let page: &[u8] = b"<p>\xcc\xee\xf1\xea\xe2\xe0";
        let numbers = [(MESSAGE_CODEPAGE, 1_252), (INTERNET_CODEPAGE, 1_251)];
        assert_eq!(text(&numbers, &[("10130102", page)]), "Москва\n");
    }
}
