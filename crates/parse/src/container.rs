//! Files that hold files: what a zip archive or a compound file is by what is inside, and whether
//! it may be unpacked at all.
use std::collections::HashMap;
use std::io::{Cursor, Read};

use cfb::CompoundFile;
use percent_encoding::percent_decode_str;
use quick_xml::events::BytesStart;
use zip::ZipArchive;

use crate::detect::{Format, contains};
use crate::office;
use crate::parsed::Refusal;

/// An archive that unpacks to more bytes is refused.
pub(crate) const MAX_BYTES: u64 = 500_000_000;
/// Above [`RATIO_FROM`] bytes, an archive that unpacks to more than this many times its size is
/// refused: text shrinks to a twentieth at best, a bomb to a thousandth.
const MAX_RATIO: u64 = 200;
const RATIO_FROM: u64 = 50_000_000;
const MAX_FILES: usize = 50_000;

/// A zip archive whose members are found however their names are written: with `\`, from the root
/// on, in other capitals.
pub(crate) struct Archive<'a> {
    pub(crate) zip: ZipArchive<Cursor<&'a [u8]>>,
    /// By [`plain`] name.
    members: HashMap<String, usize>,
}

impl Archive<'_> {
    /// The place of a member, if there is one of this name.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        let exact = self.zip.index_for_name_raw(name.as_bytes());
        exact.or_else(|| self.members.get(&plain(name)).copied())
    }
}

pub(crate) fn open(bytes: &[u8]) -> Result<Archive<'_>, Refusal> {
    let zip = ZipArchive::new(Cursor::new(bytes));
    let zip = zip.map_err(|error| broken(&error.to_string().to_lowercase()))?;
    let names = zip.file_names().enumerate();
    let members = names.filter_map(|(index, name)| Some((plain(&name.ok()?), index))).collect();
    Ok(Archive { zip, members })
}

fn plain(name: &str) -> String {
    joined("", &name.replace('\\', "/")).to_lowercase()
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
    match office::main_part(&mut archive) {
        Err(_) if archive.index("META-INF/container.xml").is_some() => Ok(Format::Epub),
        main => Ok(main?.format),
    }
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
        return Ok(Format::Doc);
    }
    if has("Workbook") || has("Book") {
        return Ok(Format::Xls);
    }
    if has("PowerPoint Document") {
        return Ok(Format::Ppt);
    }
    let hint = "save it in a newer format, such as DOCX or PDF";
    Err(refusal("it is an Office file of an unknown kind", hint))
}

pub(crate) type Compound<'a> = CompoundFile<Cursor<&'a [u8]>>;

pub(crate) fn compound_file(bytes: &[u8]) -> Result<Compound<'_>, Refusal> {
    CompoundFile::open(Cursor::new(bytes)).map_err(|error| {
        let hint = "it may be damaged: open it in its program and save it again";
        refusal(&format!("it cannot be read: {error}"), hint)
    })
}

/// The bytes of a stream of a compound file.
pub(crate) fn stream(file: &mut Compound<'_>, path: &str) -> Option<Vec<u8>> {
    // A stream cannot be longer than the file.
    let length = file.entry(path).ok()?.len();
    let mut bytes = vec![];
    file.open_stream(path).ok()?.take(length).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Unpacks everything once without keeping it, and refuses what is too large, or locked.
pub(crate) fn inspect(bytes: &[u8]) -> Result<(), Refusal> {
    let mut archive = open(bytes)?;
    let zip = &mut archive.zip;
    if zip.len() > MAX_FILES {
        let hint = "split it into smaller documents";
        return Err(refusal(&format!("it holds {} files", zip.len()), hint));
    }
    let limit = MAX_BYTES.min(RATIO_FROM.max(bytes.len() as u64 * MAX_RATIO));
    let (mut declared, mut actual) = (0, 0);
    for index in 0..zip.len() {
        let file = zip.by_index_raw(index).map_err(|error| broken(&error.to_string()))?;
        if file.encrypted() {
            return Err(locked());
        }
        declared += file.size();
        if declared > limit {
            return Err(bomb(declared, bytes.len()));
        }
    }
    for index in 0..zip.len() {
        let file = zip.by_index(index).map_err(|error| broken(&error.to_string()))?;
        let name = file.name().map(std::borrow::Cow::into_owned).unwrap_or_default();
        // The directory may lie about sizes; what comes out does not.
        let inflated = std::io::copy(&mut file.take(limit - actual + 1), &mut std::io::sink());
        actual += inflated.map_err(|error| broken(&format!("`{name}`: {error}")))?;
        if actual > limit {
            return Err(bomb(limit, bytes.len()));
        }
    }
    let manifest = member(&mut archive, "META-INF/manifest.xml", 1_000_000);
    if manifest.is_some_and(|manifest| contains(&manifest, b"encryption-data")) {
        return Err(locked());
    }
    Ok(())
}

/// The bytes of a file inside, at most `most` of them.
pub(crate) fn member(archive: &mut Archive<'_>, name: &str, limit: u64) -> Option<Vec<u8>> {
    let index = archive.index(name)?;
    let file = archive.zip.by_index(index).ok()?;
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
}
