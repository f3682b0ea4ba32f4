//! Mail of Outlook (MS-OXMSG): properties, each in a stream of a compound file.
use encoding_rs::{Encoding, UTF_8, UTF_16LE, WINDOWS_1252};

use super::{MailBody, Message, Person};
use crate::container::{Compound, compound_file, stream};
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
const CODEPAGE: u16 = 0x3fde;
const SUBMIT_TIME: u16 = 0x0039;
const DELIVERY_TIME: u16 = 0x0e06;
const ATTACHMENT_LONG_NAME: u16 = 0x3707;
const ATTACHMENT_NAME: u16 = 0x3704;

/// Bytes before the first property in the list of a message (MS-OXMSG 2.4.1.1).
const LIST_HEADER: usize = 32;
/// Seconds from 1601, where the clock of Windows begins, to 1970.
const WINDOWS_EPOCH: u64 = 11_644_473_600;

pub(super) fn read(bytes: &[u8]) -> Result<Message, Refusal> {
    let mut file = compound_file(bytes)?;
    let list = stream(&mut file, "/__properties_version1.0").unwrap_or_default();
    let codepage = number(&list, CODEPAGE).and_then(|page| u32::try_from(page & 0xffff).ok());
    let mut storage = Storage { encoding: encoding(codepage), file: &mut file };
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
    let body = plain.or_else(|| storage.page().map(MailBody::Html));
    message.bodies.extend(body);
    for path in storage.attachments() {
        let name = storage.text(&path, ATTACHMENT_LONG_NAME);
        let name = name.or_else(|| storage.text(&path, ATTACHMENT_NAME));
        message.attachments.push(name.unwrap_or_else(|| "without a name".to_owned()));
    }
    Ok(message)
}

struct Storage<'a, 'b> {
    file: &'b mut Compound<'a>,
    /// Of texts that are not UTF-16.
    encoding: &'static Encoding,
}

impl Storage<'_, '_> {
    /// A property that is a text, of the message (`""`) or of one of its attachments.
    fn text(&mut self, path: &str, property: u16) -> Option<String> {
        let wide = stream(self.file, &format!("{path}/__substg1.0_{property:04X}001F"));
        let text = if let Some(bytes) = wide {
            UTF_16LE.decode_without_bom_handling(&bytes).0.into_owned()
        } else {
            let bytes = stream(self.file, &format!("{path}/__substg1.0_{property:04X}001E"))?;
            self.encoding.decode_without_bom_handling(&bytes).0.into_owned()
        };
        Some(text.trim_end_matches('\0').to_owned()).filter(|text| !text.is_empty())
    }

    /// The body as a web page, which is a text or bytes.
    fn page(&mut self) -> Option<String> {
        self.text("", HTML).or_else(|| {
            let bytes = stream(self.file, &format!("/__substg1.0_{HTML:04X}0102"))?;
            Some(crate::decode::decode(&bytes, Some(self.encoding.name())).ok()?.text)
        })
    }

    fn attachments(&self) -> Vec<String> {
        let entries = self.file.read_root_storage();
        let paths = entries.map(|entry| entry.path().to_string_lossy().into_owned());
        paths.filter(|path| path.starts_with("/__attach_")).collect()
    }
}

/// The value of a property that has a fixed length (MS-OXMSG 2.4.2.1).
fn number(list: &[u8], property: u16) -> Option<u64> {
    let entry = list
        .get(LIST_HEADER..)?
        .chunks_exact(16)
        .find(|entry| entry[2..4] == property.to_le_bytes())?;
    Some(u64::from_le_bytes(entry[8..16].try_into().ok()?))
}

fn encoding(codepage: Option<u32>) -> &'static Encoding {
    match codepage {
        Some(65_001) => UTF_8,
        Some(page) => {
            Encoding::for_label(format!("windows-{page}").as_bytes()).unwrap_or(WINDOWS_1252)
        }
        None => WINDOWS_1252,
    }
}

/// A time of Windows (100 ns since 1601) as a day, as in `2023-01-31`.
fn day(time: u64) -> Option<String> {
    let seconds = (time / 10_000_000).checked_sub(WINDOWS_EPOCH)?;
    // From days to a date of the Gregorian calendar (Howard Hinnant, `civil_from_days`).
    let shifted = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    Some(format!("{year:04}-{month:02}-{day:02}"))
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
        let time: u64 = (WINDOWS_EPOCH + 1_675_166_400) * 10_000_000;
        list.extend([0x40, 0, 0x39, 0, 0, 0, 0, 0]);
        list.extend(time.to_le_bytes());
        let mut add = |path: &str, bytes: &[u8]| {
            file.create_stream(path).unwrap().write_all(bytes).unwrap();
        };
        add("/__properties_version1.0", &list);
        add("/__substg1.0_0037001F", &wide("The sharks"));
        add("/__substg1.0_0C1A001F", &wide("Ann"));
        add("/__substg1.0_1000001E", b"Sharks are fish\x85");
        file.create_storage("/__attach_version1.0_#00000000").unwrap();
        let name = "/__attach_version1.0_#00000000/__substg1.0_3707001F";
        file.create_stream(name).unwrap().write_all(&wide("list.txt")).unwrap();
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
        assert!(parsed.warnings[0].contains("`list.txt`"));
    }
}
