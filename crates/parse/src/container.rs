//! Files that hold files: what a zip archive or a compound file is by the names inside, and
//! whether it may be unpacked at all.
use std::io::{Cursor, Read};

use cfb::CompoundFile;
use percent_encoding::percent_decode_str;
use quick_xml::events::BytesStart;
use zip::ZipArchive;

use crate::detect::{Format, contains};
use crate::parsed::Refusal;

/// An archive that unpacks to more bytes is refused.
const MAX_BYTES: u64 = 500_000_000;
/// Above [`RATIO_FROM`] bytes, an archive that unpacks to more than this many times its size is
/// refused: text shrinks to a twentieth at best, a bomb to a thousandth.
const MAX_RATIO: u64 = 200;
const RATIO_FROM: u64 = 50_000_000;
const MAX_FILES: usize = 50_000;
/// Elements inside elements in a part of a document. Word nests a few dozen.
const MAX_DEPTH: usize = 2_000;

pub(crate) type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

pub(crate) fn open(bytes: &[u8]) -> Result<Archive<'_>, Refusal> {
    let archive = ZipArchive::new(Cursor::new(bytes));
    archive.map_err(|error| broken(&error.to_string().to_lowercase()))
}

/// The format of a zip archive by its members.
pub(crate) fn archive(bytes: &[u8]) -> Result<Format, Refusal> {
    let mut archive = open(bytes)?;
    if let Some(kind) = member(&mut archive, "mimetype", 200) {
        let kind = String::from_utf8_lossy(&kind).trim().to_owned();
        let format = match kind.as_str() {
            "application/epub+zip" => Some(Format::Epub),
            "application/vnd.oasis.opendocument.text" => Some(Format::Odt),
            "application/vnd.oasis.opendocument.spreadsheet" => Some(Format::Ods),
            "application/vnd.oasis.opendocument.presentation" => Some(Format::Odp),
            _ => None,
        };
        if let Some(format) = format {
            return Ok(format);
        }
    }
    let has = |name: &str| archive.index_for_name(name).is_some();
    let format = if has("word/document.xml") || has("word/document2.xml") {
        Format::Docx
    } else if has("ppt/presentation.xml") {
        Format::Pptx
    } else if has("xl/workbook.xml") {
        Format::Xlsx
    } else if has("xl/workbook.bin") {
        Format::Xlsb
    } else if has("META-INF/container.xml") {
        Format::Epub
    } else {
        return Err(refusal(
            "it is a zip archive, not a document",
            "unpack it and give the files inside",
        ));
    };
    Ok(format)
}

/// The format of a compound file (the Office files before 2007, and encrypted ones since) by what its
/// root holds; of a damaged one by the names that occur in it.
pub(crate) fn compound(bytes: &[u8]) -> Result<Format, Refusal> {
    let names = CompoundFile::open(Cursor::new(bytes)).ok().map(|file| {
        file.read_root_storage().map(|entry| entry.name().to_owned()).collect::<Vec<_>>()
    });
    let has = |name: &str| {
        if let Some(names) = &names {
            return names.iter().any(|other| other.eq_ignore_ascii_case(name));
        }
        let wide: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        contains(bytes, &wide)
    };
    if has("EncryptedPackage") {
        return Err(locked());
    }
    if has("__properties_version1.0") {
        return Ok(Format::Msg);
    }
    if has("WordDocument") {
        return Err(refusal("it is a Word document from before 2007", "save it as .docx"));
    }
    if has("Workbook") || has("Book") {
        return Ok(Format::Xls);
    }
    if has("PowerPoint Document") {
        return Err(refusal(
            "it is a PowerPoint presentation from before 2007",
            "save it as .pptx",
        ));
    }
    let hint = "save it in a newer format, such as DOCX or PDF";
    Err(refusal("it is an Office file of an unknown kind", hint))
}

/// Unpacks everything once without keeping it, and refuses what is too large, too deep, or locked.
pub(crate) fn inspect(bytes: &[u8]) -> Result<(), Refusal> {
    let mut archive = open(bytes)?;
    if archive.len() > MAX_FILES {
        let hint = "split it into smaller documents";
        return Err(refusal(&format!("it holds {} files", archive.len()), hint));
    }
    let limit = MAX_BYTES.min(RATIO_FROM.max(bytes.len() as u64 * MAX_RATIO));
    let (mut declared, mut actual) = (0, 0);
    for index in 0..archive.len() {
        let file = archive.by_index_raw(index).map_err(|error| broken(&error.to_string()))?;
        if file.encrypted() {
            return Err(locked());
        }
        declared += file.size();
        if declared > limit {
            return Err(bomb(declared, bytes.len()));
        }
    }
    for index in 0..archive.len() {
        let file = archive.by_index(index).map_err(|error| broken(&error.to_string()))?;
        let name = file.name().map(std::borrow::Cow::into_owned).unwrap_or_default();
        // The directory may lie about sizes; what comes out does not.
        actual += inflate(file, &name, limit - actual).map_err(|inflated| match inflated {
            Inflated::TooMuch => bomb(limit, bytes.len()),
            Inflated::TooDeep => {
                let reason = format!("`{name}` inside nests more than {MAX_DEPTH} elements");
                refusal(&reason, "the file is corrupt or unsafe: save it again")
            }
            Inflated::Broken(error) => broken(&format!("`{name}`: {error}")),
        })?;
    }
    let manifest = member(&mut archive, "META-INF/manifest.xml", 1_000_000);
    if manifest.is_some_and(|manifest| contains(&manifest, b"encryption-data")) {
        return Err(locked());
    }
    Ok(())
}

enum Inflated {
    TooMuch,
    TooDeep,
    Broken(std::io::Error),
}

fn inflate(mut file: impl Read, name: &str, limit: u64) -> Result<u64, Inflated> {
    let xml = [".xml", ".rels", ".xhtml", ".opf"].iter().any(|end| name.ends_with(end));
    let mut buffer = vec![0; 1 << 16];
    let (mut total, mut depth) = (0, Depth::default());
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => return Ok(total),
            Ok(read) => read,
            Err(error) => return Err(Inflated::Broken(error)),
        };
        total += read as u64;
        if total > limit {
            return Err(Inflated::TooMuch);
        }
        if xml && depth.feed(&buffer[..read]) > MAX_DEPTH {
            return Err(Inflated::TooDeep);
        }
    }
}

/// Counts how deep the elements of an XML file nest, as its bytes go by.
#[derive(Default)]
struct Depth {
    now: usize,
    deepest: usize,
    inside: bool,
    /// The last byte, and the first after `<`.
    last: u8,
    first: u8,
}

impl Depth {
    fn feed(&mut self, bytes: &[u8]) -> usize {
        for &byte in bytes {
            if self.inside {
                if self.first == 0 {
                    self.first = byte;
                }
                if byte == b'>' {
                    self.inside = false;
                    match self.first {
                        b'/' => self.now = self.now.saturating_sub(1),
                        b'!' | b'?' => {}
                        _ if self.last == b'/' => {}
                        _ => self.now += 1,
                    }
                    self.deepest = self.deepest.max(self.now);
                }
            } else {
                self.inside = byte == b'<';
                self.first = 0;
            }
            self.last = byte;
        }
        self.deepest
    }
}

/// The bytes of a file inside, at most `most` of them.
pub(crate) fn member(archive: &mut Archive<'_>, name: &str, limit: u64) -> Option<Vec<u8>> {
    let file = archive.by_name(name).ok()?;
    let mut bytes = vec![];
    file.take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The path inside that an address (percent-encoded, perhaps with an anchor) in a file of `folder`
/// leads to.
pub(crate) fn address_path(folder: &str, address: &str) -> String {
    let path = address.split(['#', '?']).next().unwrap_or_default();
    joined(folder, &percent_decode_str(path).decode_utf8_lossy())
}

/// A path inside that may be relative to a folder.
pub(crate) fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> =
        if path.starts_with('/') { vec![] } else { folder.split('/').collect() };
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.join("/")
}

/// A file inside as text, by its mark or as UTF-8.
pub(crate) fn member_text(archive: &mut Archive<'_>, name: &str) -> Option<String> {
    let bytes = member(archive, name, MAX_BYTES)?;
    let decoded = crate::decode::decode(&bytes, None).map(|decoded| decoded.text);
    Some(decoded.unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned()))
}

/// An attribute of an XML tag by its local name.
pub(crate) fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = tag.attributes().flatten().find(|a| a.key.local_name().as_ref() == name)?;
    let value = attribute.value.into_owned();
    if !value.contains('&') {
        return Some(value);
    }
    quick_xml::escape::unescape(&value).ok().map(std::borrow::Cow::into_owned)
}

/// What `&name;` of an XML file stands for.
pub(crate) fn entity(name: &str) -> String {
    let escaped = format!("&{name};");
    quick_xml::escape::unescape(&escaped).map(std::borrow::Cow::into_owned).unwrap_or_default()
}

pub(crate) fn refusal(reason: &str, hint: &str) -> Refusal {
    Refusal { reason: reason.to_owned(), hint: hint.to_owned() }
}

pub(crate) fn locked() -> Refusal {
    refusal("it is encrypted", "remove the password: open it, and save it without one")
}

fn broken(error: &str) -> Refusal {
    refusal(
        &format!("it is a broken or cut off archive: {error}"),
        "download or copy the file again",
    )
}

fn bomb(size: u64, packed: usize) -> Refusal {
    let (from, to) = (packed / 1_000, size / 1_000_000);
    let reason = format!("its {from} kB unpack to {to} MB or more, as no document does");
    refusal(&reason, "the file is corrupt or unsafe: save it again, or split it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    use zip::write::SimpleFileOptions;

    fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(vec![]));
        for (name, bytes) in files {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn addresses_are_joined_as_in_a_folder() {
        assert_eq!(address_path("OEBPS/text", "../img/a%20b.png#x"), "OEBPS/img/a b.png");
        assert_eq!(address_path("", "a.xhtml"), "a.xhtml");
        assert_eq!(address_path("a", "../../../b"), "b");
    }

    #[test]
    fn archives_are_recognised_by_their_members() {
        assert_eq!(archive(&zipped(&[("word/document.xml", b"<x/>")])).unwrap(), Format::Docx);
        let odt = b"application/vnd.oasis.opendocument.text";
        assert_eq!(archive(&zipped(&[("mimetype", odt)])).unwrap(), Format::Odt);
        let other = archive(&zipped(&[("readme.txt", b"x")])).unwrap_err();
        assert!(other.reason.contains("zip archive"), "{other:?}");
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        let zeros = vec![0; 60_000_000];
        let bytes = zipped(&[("word/document.xml", &zeros)]);
        let refused = inspect(&bytes).unwrap_err();
        assert!(refused.reason.contains("unpack to 60 MB"), "{refused:?}");
        // The same with a directory that says it is small.
        let size = 60_000_000_u32.to_le_bytes();
        let mut lying = bytes;
        while let Some(at) = crate::detect::find(&lying, &size) {
            lying[at..at + 4].copy_from_slice(&1_000_u32.to_le_bytes());
        }
        assert!(inspect(&lying).is_err());
    }

    #[test]
    fn a_document_of_ordinary_size_passes() {
        let text = "<p>words, words</p>".repeat(50_000);
        inspect(&zipped(&[("word/document.xml", text.as_bytes())])).unwrap();
    }

    #[test]
    fn elements_without_end_are_refused() {
        let deep = "<a>".repeat(MAX_DEPTH + 1);
        let refused = inspect(&zipped(&[("word/document.xml", deep.as_bytes())])).unwrap_err();
        assert!(refused.reason.contains("nests"), "{refused:?}");
        let flat = "<a b=\"1\"/><c></c><!-- d -->".repeat(MAX_DEPTH);
        inspect(&zipped(&[("word/document.xml", flat.as_bytes())])).unwrap();
    }
}
