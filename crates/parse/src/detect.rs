//! What a file is, by its content. Its name only decides between kinds of text.
use crate::container;
use crate::parsed::Refusal;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Pdf,
    Doc,
    Docx,
    Ppt,
    Pptx,
    Xlsx,
    Xlsb,
    Xls,
    Ods,
    Odt,
    Odp,
    Msg,
    Rtf,
    Epub,
    Eml,
    Mbox,
    Html,
    /// With its media type.
    Image(&'static str),
    Markdown,
    Delimited,
    Text,
}

/// What is known of a format.
pub(crate) struct FormatInfo {
    format: Format,
    /// As in [`crate::Parsed::format`].
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    is_archive: bool,
}

const fn file(format: Format, name: &'static str, description: &'static str) -> FormatInfo {
    FormatInfo { format, name, description, is_archive: false }
}

/// A format that is a zip archive.
const fn archive(format: Format, name: &'static str, description: &'static str) -> FormatInfo {
    FormatInfo { format, name, description, is_archive: true }
}

/// All formats that are read.
pub(crate) static FORMATS: &[FormatInfo] = &[
    file(Format::Pdf, "pdf", "PDF; scanned pages with tesseract"),
    archive(Format::Docx, "docx", "Word"),
    file(Format::Doc, "doc", "Word before 2007"),
    archive(Format::Odt, "odt", "OpenDocument text"),
    file(Format::Rtf, "rtf", "Rich Text Format"),
    archive(Format::Pptx, "pptx", "PowerPoint"),
    file(Format::Ppt, "ppt", "PowerPoint before 2007"),
    archive(Format::Odp, "odp", "OpenDocument presentation"),
    archive(Format::Xlsx, "xlsx", "Excel"),
    archive(Format::Xlsb, "xlsb", "Excel, binary"),
    file(Format::Xls, "xls", "Excel before 2007"),
    archive(Format::Ods, "ods", "OpenDocument spreadsheet"),
    file(Format::Delimited, "csv", "values separated by commas, semicolons, tabs or bars"),
    file(Format::Html, "html", "web pages"),
    archive(Format::Epub, "epub", "books"),
    file(Format::Eml, "eml", "mail"),
    file(Format::Mbox, "mbox", "mailboxes"),
    file(Format::Msg, "msg", "mail of Outlook"),
    file(Format::Markdown, "markdown", "Markdown"),
    file(Format::Text, "text", "any other text, in any usual encoding"),
    file(
        Format::Image(""),
        "image",
        "PNG, JPEG, TIFF, WebP, GIF and BMP; their text with tesseract",
    ),
];

/// The name of a format in its static form.
pub(crate) fn format_name(name: &str) -> Option<&'static str> {
    FORMATS.iter().map(|info| info.name).find(|format| *format == name)
}

impl Format {
    fn info(self) -> Option<&'static FormatInfo> {
        let kind = std::mem::discriminant(&self);
        FORMATS.iter().find(|info| std::mem::discriminant(&info.format) == kind)
    }

    /// As in [`crate::formats`].
    pub(crate) fn name(self) -> &'static str {
        self.info().map_or("text", |info| info.name)
    }

    /// Whether it is a zip archive.
    pub(crate) fn is_archive(self) -> bool {
        self.info().is_some_and(|info| info.is_archive)
    }
}

/// Beginnings of files that are surely nothing to read, with what they are.
const FOREIGN: &[(&[u8], &str)] = &[
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"SQLite format 3", "a database"),
    (b"PAR1", "a Parquet file"),
    (b"ID3", "a sound"),
    (b"OggS", "a sound or a film"),
    (b"fLaC", "a sound"),
    (b"\0asm", "a program"),
];

/// Tells the format. `name` decides between Markdown, tables and plain text.
pub(crate) fn detect(name: &str, bytes: &[u8]) -> Result<Format, Refusal> {
    if bytes.is_empty() {
        return Err(Refusal { reason: "it is empty".into(), hint: "remove it or fill it".into() });
    }
    if let Some((_, what)) = FOREIGN.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Err(crate::decode::binary(&format!("it is {what}")));
    }
    if contains(&bytes[..bytes.len().min(1_024)], b"%PDF-") {
        return Ok(Format::Pdf);
    }
    if is_zip(bytes) {
        return container::archive(bytes);
    }
    if is_compound(bytes) {
        return container::compound(bytes);
    }
    if bytes.starts_with(b"{\\rtf") {
        return Ok(Format::Rtf);
    }
    if let Some(media) = picture(bytes) {
        return Ok(Format::Image(media));
    }
    Ok(text_kind(name, bytes))
}

pub(crate) fn is_zip(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06")
}

/// Whether it is a compound file, as older programs of Microsoft write them.
pub(crate) fn is_compound(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
}

fn picture(bytes: &[u8]) -> Option<&'static str> {
    let begins = |magic: &[u8]| bytes.starts_with(magic);
    match () {
        () if begins(b"\x89PNG\r\n\x1a\n") => Some("image/png"),
        () if begins(b"\xff\xd8\xff") => Some("image/jpeg"),
        () if begins(b"GIF87a") || begins(b"GIF89a") => Some("image/gif"),
        () if begins(b"II*\0") || begins(b"MM\0*") => Some("image/tiff"),
        () if begins(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") => Some("image/webp"),
        // Its size in the header tells a picture from a text that begins with `BM`.
        () if begins(b"BM") && bytes.get(6..10) == Some(&[0; 4]) => Some("image/bmp"),
        () => None,
    }
}

fn text_kind(name: &str, bytes: &[u8]) -> Format {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
    let extension = extension.as_deref().unwrap_or_default();
    // Also right for UTF-16, of which every other byte is left out here.
    let head: Vec<u8> = bytes.iter().take(6_000).copied().filter(|byte| *byte != 0).collect();
    let head = String::from_utf8_lossy(&head);
    let head = head.trim_start_matches('\u{feff}').trim_start().trim_start_matches('\u{fffd}');
    if is_html(head, extension) {
        return Format::Html;
    }
    if is_mailbox(head) {
        return Format::Mbox;
    }
    if is_email(head, extension) {
        return Format::Eml;
    }
    match extension {
        "md" | "markdown" | "mdown" => Format::Markdown,
        "csv" | "tsv" | "tab" => Format::Delimited,
        _ => Format::Text,
    }
}

/// A document type or a root says so by itself; other tags only where the name agrees.
fn is_html(head: &str, extension: &str) -> bool {
    let mut rest = head;
    // An XML declaration and comments may come first.
    loop {
        rest = rest.trim_start();
        let end = if rest.starts_with("<!--") {
            rest.find("-->").map(|at| at + 3)
        } else if rest.starts_with("<?xml") {
            rest.find("?>").map(|at| at + 2)
        } else {
            None
        };
        let Some(end) = end else { break };
        rest = &rest[end..];
    }
    let begins =
        |tag: &str| rest.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag));
    if begins("<!doctype html") || begins("<html") {
        return true;
    }
    if matches!(extension, "htm" | "html" | "xhtml" | "mhtml") {
        return rest.contains('<') && rest.contains('>');
    }
    extension.is_empty()
        && ["<head>", "<body", "<table", "<div", "<p>"].iter().any(|tag| begins(tag))
}

/// What the line above a message of a mailbox (RFC 4155) begins with.
pub(crate) const SEPARATOR: &[u8] = b"From ";

/// Whether a text begins like a mailbox: with the line above a message, and its first header.
fn is_mailbox(head: &str) -> bool {
    let mut lines = head.lines();
    let separator = lines.next().is_some_and(|line| is_separator(line.as_bytes()));
    separator && lines.next().is_some_and(|line| is_header(line.as_bytes()))
}

/// Whether a line stands above a message: a sender and a time, as in `Mon Jan  1 00:00:00 2024`.
pub(crate) fn is_separator(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(SEPARATOR) else { return false };
    let is_time = |part: &[u8]| part.len() >= 5 && part[2] == b':' && part[0].is_ascii_digit();
    rest.split(u8::is_ascii_whitespace).any(is_time)
}

/// Whether a line is a header: a name, and a colon.
pub(crate) fn is_header(line: &[u8]) -> bool {
    let name = line.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-');
    let length = name.count();
    length > 0 && line.get(length) == Some(&b':')
}

/// Header lines as mail servers write them, at the very beginning.
fn is_email(head: &str, extension: &str) -> bool {
    const USUAL: &[&str] = &[
        "from",
        "to",
        "subject",
        "date",
        "mime-version",
        "message-id",
        "received",
        "return-path",
        "delivered-to",
        "content-type",
        "reply-to",
        "cc",
    ];
    let mut headers = 0;
    let mut surely = extension == "eml";
    for line in head.lines() {
        if line.trim().is_empty() {
            break;
        }
        if line.starts_with([' ', '\t']) && headers > 0 {
            continue;
        }
        let Some((key, _)) = line.split_once(':') else { break };
        let key = key.to_ascii_lowercase();
        if !key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            break;
        }
        headers += usize::from(USUAL.contains(&key.as_str()));
        surely |= matches!(key.as_str(), "mime-version" | "message-id" | "received");
    }
    surely && headers >= 2
}

pub(crate) fn contains(bytes: &[u8], what: &[u8]) -> bool {
    find(bytes, what).is_some()
}

pub(crate) fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    let first = *what.first()?;
    let mut from = 0;
    // Looking for the first byte is what the standard library does fast.
    while let Some(at) = bytes[from..].iter().position(|byte| *byte == first) {
        if bytes[from + at..].starts_with(what) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, text: &str) -> &'static str {
        detect(name, text.as_bytes()).unwrap().name()
    }

    #[test]
    fn the_content_outweighs_the_name() {
        assert_eq!(of("a.txt", "%PDF-1.7\n"), "pdf");
        assert_eq!(of("a.docx", "plain words"), "text");
        assert_eq!(of("a.md", "<!DOCTYPE html><p>x"), "html");
        assert_eq!(of("a.md", "<div align=center>x</div>"), "markdown");
        assert_eq!(of("a.html", "<p>x"), "html");
        assert_eq!(of("a.html", "no tags at all"), "text");
        assert_eq!(of("page", "<!-- saved --> <?xml version='1.0'?>\n<html xmlns='x'>"), "html");
        assert_eq!(of("a.csv", "a,b"), "csv");
        assert_eq!(of("a", "GIF89a…"), "image");
    }

    #[test]
    fn mail_has_the_headers_of_mail() {
        let mail = "Received: by x\nFrom: a@b.example\nSubject: Hi\n\nText";
        assert_eq!(of("a.txt", mail), "eml");
        assert_eq!(of("a.eml", "From: a\nSubject: b\n\nc"), "eml");
        assert_eq!(of("a.txt", "From: a\nSubject: b\n\nc"), "text");
        assert_eq!(of("a.md", "Note: one\nTo: two\n"), "markdown");
    }

    #[test]
    fn programs_and_archives_are_named() {
        for (bytes, word) in
            [(&b"\x7fELF\x02"[..], "program"), (b"\x1f\x8b\x08", "gzip"), (b"", "empty")]
        {
            assert!(detect("a.txt", bytes).unwrap_err().reason.contains(word));
        }
    }
}
