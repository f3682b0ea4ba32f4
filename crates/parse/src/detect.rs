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
    Mhtml,
    Notebook,
    /// With its media type.
    Image(&'static str),
    Markdown,
    Delimited,
    Text,
}

/// What is read of a format, and what is not.
#[derive(Debug)]
pub struct FormatInfo {
    format: Format,
    /// As in [`crate::Parsed::format`].
    pub name: &'static str,
    pub description: &'static str,
    /// What a file of the format may hold that is lost; empty where all of it is read.
    pub not_read: &'static str,
    is_archive: bool,
}

const fn file(format: Format, name: &'static str, description: &'static str) -> FormatInfo {
    FormatInfo { format, name, description, not_read: "", is_archive: false }
}

/// A format that is a zip archive.
const fn archive(format: Format, name: &'static str, description: &'static str) -> FormatInfo {
    FormatInfo { format, name, description, not_read: "", is_archive: true }
}

impl FormatInfo {
    const fn without(self, not_read: &'static str) -> Self {
        Self { not_read, ..self }
    }
}

/// All formats that are read.
pub(crate) static FORMATS: &[FormatInfo] = &[
    file(Format::Pdf, "pdf", "PDF; scanned pages with tesseract")
        .without("comments, attached files, charts and other drawings"),
    archive(Format::Docx, "docx", "Word")
        .without("comments, deleted and hidden text, embedded files"),
    file(Format::Doc, "doc", "Word from 1997 to 2003")
        .without("comments, deleted and hidden text, pictures, embedded files"),
    archive(Format::Odt, "odt", "OpenDocument text")
        .without("comments, deleted text, embedded files"),
    file(Format::Rtf, "rtf", "Rich Text Format")
        .without("comments, deleted and hidden text, merged cells, embedded files"),
    archive(Format::Pptx, "pptx", "PowerPoint").without("comments, embedded files"),
    file(Format::Ppt, "ppt", "PowerPoint from 1997 to 2003")
        .without("comments, charts, pictures, embedded files"),
    archive(Format::Odp, "odp", "OpenDocument presentation").without("comments, embedded files"),
    archive(Format::Xlsx, "xlsx", "Excel")
        .without("formulas, comments, charts, pictures, the signs of percent and currency"),
    archive(Format::Xlsb, "xlsb", "Excel, binary")
        .without("formulas, comments, charts, pictures, the signs of percent and currency"),
    file(Format::Xls, "xls", "Excel before 2007")
        .without("formulas, comments, charts, pictures, the signs of percent and currency"),
    archive(Format::Ods, "ods", "OpenDocument spreadsheet")
        .without("formulas, comments, charts, pictures"),
    file(Format::Delimited, "csv", "values separated by commas, semicolons, tabs or bars"),
    file(Format::Html, "html", "web pages")
        .without("hidden parts, menus, forms, frames, scripts, sound, film, drawings"),
    file(Format::Mhtml, "mhtml", "web pages saved with their pictures")
        .without("what is lost of web pages, and all pages but the first"),
    archive(Format::Epub, "epub", "books").without("what is lost of web pages"),
    file(Format::Eml, "eml", "mail").without("pictures in the text"),
    file(Format::Mbox, "mbox", "mailboxes").without("pictures in the text"),
    file(Format::Msg, "msg", "mail of Outlook").without("pictures in the text, attached messages"),
    file(Format::Markdown, "markdown", "Markdown"),
    file(Format::Notebook, "ipynb", "notebooks of Jupyter")
        .without("results that are pictures or pages"),
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

/// The ending of a name that a file of text should not have: that of a format that is not text.
pub(crate) fn misnamed(name: &str) -> Option<String> {
    let extension = extension(name);
    let is_binary = |info: &FormatInfo| {
        info.is_archive || matches!(info.name, "pdf" | "xls" | "msg" | "doc" | "ppt")
    };
    let named = FORMATS.iter().find(|info| info.name == extension)?;
    is_binary(named).then_some(extension)
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
    // A text may begin with the mark of a format that it is about.
    let is_text = is_text(bytes);
    let foreign = FOREIGN.iter().find(|(magic, _)| bytes.starts_with(magic));
    if let Some((_, what)) = foreign.filter(|_| !is_text) {
        return Err(crate::decode::binary(&format!("it is {what}")));
    }
    if is_pdf(name, bytes, is_text) {
        return Ok(Format::Pdf);
    }
    if is_zip(bytes) {
        return container::archive(bytes);
    }
    if is_compound(bytes) {
        return container::compound(bytes);
    }
    if is_rtf(bytes) {
        return Ok(Format::Rtf);
    }
    if let Some(media) = picture(bytes).filter(|_| !is_text) {
        return Ok(Format::Image(media));
    }
    Ok(text_kind(name, bytes))
}

/// Whether bytes hold no control characters, as texts of all encodings but those of UTF-16 and as no
/// program, picture or archive.
fn is_text(bytes: &[u8]) -> bool {
    let is_control = |byte: &u8| byte.is_ascii_control() && !b"\t\n\r\x0b\x0c\x1b".contains(byte);
    !bytes.iter().take(64 * 1_024).any(is_control)
}

/// Whether it is a PDF, perhaps after some bytes that do not belong to it. A text may show the mark,
/// or a whole PDF: one that holds text only is a line with a version, and objects.
fn is_pdf(name: &str, bytes: &[u8], is_text: bool) -> bool {
    let Some(at) = find(&bytes[..bytes.len().min(1_024)], b"%PDF-") else { return false };
    let end = bytes[at..].iter().position(|byte| b"\r\n".contains(byte));
    let (mark, rest) = bytes[at..].split_at(end.unwrap_or(bytes.len() - at));
    let is_shown = at > 0 && !matches!(extension(name).as_str(), "" | "pdf");
    let is_whole = rest.trim_ascii().is_empty() || contains(rest, b" 0 obj");
    !is_text || extension(name) == "pdf" || (mark.trim_ascii().len() == 8 && is_whole && !is_shown)
}

/// Whether it is Rich Text, and not a sentence about its mark.
fn is_rtf(bytes: &[u8]) -> bool {
    let next = bytes.get(5).is_none_or(|byte| byte.is_ascii_digit() || *byte == b'\\');
    let words = bytes.iter().take(1_024).filter(|byte| **byte == b'\\').count();
    let is_closed = bytes.trim_ascii_end().ends_with(b"}");
    bytes.starts_with(b"{\\rtf") && next && (words > 2 || is_closed)
}

fn extension(name: &str) -> String {
    name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase()).unwrap_or_default()
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
    let extension = extension(name);
    let extension = extension.as_str();
    // Also right for UTF-16, of which every other byte is left out here.
    let head: Vec<u8> = bytes.iter().take(6_000).copied().filter(|byte| *byte != 0).collect();
    let head = String::from_utf8_lossy(&head);
    let head = head.trim_start_matches('\u{feff}').trim_start().trim_start_matches('\u{fffd}');
    if is_saved_page(head, extension) {
        return Format::Mhtml;
    }
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
        "ipynb" => Format::Notebook,
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

/// Whether a text begins with the headers that browsers write above a page and its pictures.
fn is_saved_page(head: &str, extension: &str) -> bool {
    let headers = head.split("\n\n").next().and_then(|head| head.split("\r\n\r\n").next());
    let headers = headers.unwrap_or_default().to_ascii_lowercase();
    let has = |header: &str| headers.contains(header);
    let is_named = matches!(extension, "mht" | "mhtml");
    let is_saved = has("from: <saved by") || has("snapshot-content-location:");
    has("mime-version:") && (is_named || (is_saved && has("multipart/related")))
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
    #[rustfmt::skip]
    const USUAL: &[&str] = &[
        "from", "to", "subject", "date", "mime-version", "message-id", "received",
        "return-path", "delivered-to", "content-type", "reply-to", "cc",
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
    // Often the first byte is in no place, which the standard library sees at once.
    let first = *what.first().filter(|first| bytes.contains(first))?;
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
        assert_eq!(of("a", "GIF89a\u{1}\0\u{1}\0\0\0\0"), "image");
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
    fn a_text_about_formats_is_a_text() {
        for text in [
            "# Headers\n\nA PDF begins with `%PDF-1.7`, as 5 0 obj does not.",
            "%PDF-1.7 is the mark of a PDF.\n",
            "%PDF-1.4\nis the first line.\n",
            "```\n%PDF-1.4\n1 0 obj\n<<>>\nendobj\n```\n",
            "ID3 tags name the artist",
            "GIF89a is a format",
            "BMW, BZh9 and MZ",
            "Rar! is a sound; PAR1 and OggS are not",
            "SQLite format 3 is old",
            "PK\\x03 begins an archive",
            "{\\rtf1\\ansi begins Rich Text.",
            "{\\rtf is a mark}",
        ] {
            assert_eq!(of("a.md", text), "markdown", "{text}");
            assert_eq!(of("notes.txt", text), "text", "{text}");
        }
    }

    #[test]
    fn a_format_is_recognised_by_what_follows_its_mark() {
        assert_eq!(of("a", "junk\n%PDF-1.4\n1 0 obj\n<<>>\nendobj\n"), "pdf");
        assert_eq!(of("a.txt", "HTTP/1.1 200\r\n\r\n%PDF-1.4\n\u{1}\u{2}"), "pdf");
        assert_eq!(of("a.pdf", "%PDF-1.4\ncut off"), "pdf");
        assert_eq!(of("a.txt", "{\\rtf1 Hello}\n"), "rtf");
        assert!(detect("a.txt", b"ID3\x03\0\0\0\0").is_err());
        assert!(detect("a", b"Rar!\x1a\x07\x01").is_err());
    }

    #[test]
    fn every_format_says_what_is_lost() {
        for info in FORMATS {
            assert!(!info.not_read.ends_with('.') && info.not_read.is_ascii(), "{info:?}");
        }
        let lost = |name: &str| FORMATS.iter().find(|info| info.name == name).unwrap().not_read;
        assert_eq!((lost("text"), lost("eml")), ("", "pictures in the text"));
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
