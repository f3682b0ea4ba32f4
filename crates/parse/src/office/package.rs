//! What the XML formats of Microsoft Office share: the main part, relations between parts,
//! pictures, and what the document says of itself.
use std::collections::BTreeMap;
use std::io::{Cursor, Write as _};

use quick_xml::escape::escape;
use quick_xml::events::Event;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::xml::{self, Node};
use crate::container::{Archive, joined, member, member_text, open, refusal};
use crate::detect::Format;
use crate::parsed::{Parsed, Refusal};
use crate::room::MAX_PICTURE_BYTES;
use crate::writer::Writer;
use halma_text::dates::normalise_stamp;

/// Smaller pictures (in pixels at 96 per inch) are ornaments.
const ORNAMENT: usize = 40;
/// English Metric Units in a pixel.
const EMU: usize = 9_525;

/// Bytes at the beginning of a part by which it is recognised, and of the relations of a package.
const MAX_HEAD: u64 = 1 << 16;

/// Where the main part usually is, for packages that do not say.
const USUAL: [(&str, Format); 5] = [
    ("word/document.xml", Format::Docx),
    ("word/document2.xml", Format::Docx),
    ("ppt/presentation.xml", Format::Pptx),
    ("xl/workbook.xml", Format::Xlsx),
    ("xl/workbook.bin", Format::Xlsb),
];

/// The part of a package that is the document, presentation or workbook itself.
pub(crate) struct MainPart {
    pub(crate) path: String,
    pub(crate) format: Format,
}

/// The main part as the package names it, recognised by its root: the same for templates, for files
/// with macros, and for add-ins.
pub(crate) fn main_part(archive: &mut Archive<'_>) -> Result<MainPart, Refusal> {
    let package = Relations::parse("", &head(archive, "_rels/.rels").unwrap_or_default());
    if let Some(path) = package.part("officeDocument")
        && let Some(format) = root_format(archive, path)
    {
        return Ok(MainPart { path: path.to_owned(), format });
    }
    let usual = USUAL.into_iter().find(|(path, _)| archive.index(path).is_some());
    let hint = "unpack it and give the files inside";
    usual
        .map(|(path, format)| MainPart { path: path.to_owned(), format })
        .ok_or_else(|| refusal("it is a zip archive, not a document", hint))
}

fn root_format(archive: &mut Archive<'_>, path: &str) -> Option<Format> {
    let head = head(archive, path)?;
    if path.to_lowercase().ends_with(".bin") {
        return Some(Format::Xlsb);
    }
    let mut reader = quick_xml::Reader::from_str(&head);
    loop {
        match reader.read_event().ok()? {
            Event::Start(root) | Event::Empty(root) => {
                return match root.local_name().as_ref() {
                    "document" => Some(Format::Docx),
                    "presentation" => Some(Format::Pptx),
                    "workbook" => Some(Format::Xlsx),
                    _ => None,
                };
            }
            Event::Eof => return None,
            _ => {}
        }
    }
}

/// The beginning of a part. What matters of it is ASCII, also where it is written in UTF-16.
fn head(archive: &mut Archive<'_>, path: &str) -> Option<String> {
    let mut bytes = member(archive, path, MAX_HEAD)?;
    bytes.retain(|byte| *byte != 0);
    Some(String::from_utf8_lossy(&bytes).trim_start_matches(['\u{feff}', '\u{fffd}']).to_owned())
}

/// The relations of one part.
#[derive(Default)]
pub(super) struct Relations {
    by_id: BTreeMap<String, Relation>,
}

struct Relation {
    /// The last word of its type, as in `styles`.
    kind: String,
    /// The path of a part inside, or an address outside.
    target: String,
}

impl Relations {
    /// Those of the part `path`, from the `_rels` folder at its side.
    pub(super) fn read(archive: &mut Archive<'_>, path: &str) -> Self {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let text = member_text(archive, &relations_path(path)).unwrap_or_default();
        Self::parse(folder, &text)
    }

    fn parse(folder: &str, text: &str) -> Self {
        let Ok(document) = xml::parse("relations", text) else { return Self::default() };
        let mut relations = Self::default();
        for node in document.root_element().children() {
            let (Some(id), Some(target)) =
                (xml::attribute(node, "Id"), xml::attribute(node, "Target"))
            else {
                continue;
            };
            let kind = xml::attribute(node, "Type").and_then(|kind| kind.rsplit('/').next());
            let outside = xml::attribute(node, "TargetMode") == Some("External");
            let target = if outside {
                target.to_owned()
            } else {
                joined(folder, &target.replace('\\', "/"))
            };
            let relation = Relation { kind: kind.unwrap_or_default().to_owned(), target };
            relations.by_id.insert(id.to_owned(), relation);
        }
        relations
    }

    pub(super) fn target(&self, id: &str) -> Option<&str> {
        self.by_id.get(id).map(|relation| relation.target.as_str())
    }

    /// The target of the first relation of this kind.
    pub(super) fn part(&self, kind: &str) -> Option<&str> {
        let mut relations = self.by_id.values();
        Some(relations.find(|relation| relation.kind == kind)?.target.as_str())
    }
}

/// The part that holds the relations of the part `path`; of the package for an empty path.
fn relations_path(path: &str) -> String {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    joined(folder, &format!("_rels/{file}.rels"))
}

/// A copy of a workbook in which the main part and the names of all members are where its reader
/// looks for them; `None` if they are.
pub(crate) fn renamed_workbook(bytes: &[u8]) -> Option<Vec<u8>> {
    const KIND: &str =
        "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument";
    let mut archive = open(bytes).ok()?;
    let main = main_part(&mut archive).ok()?.path;
    let rels = head(&mut archive, "_rels/.rels")?;
    let is_stored = archive.zip.index_for_name_raw(main.as_bytes()).is_some();
    let is_named = rels.contains(&main) && !rels.contains("./");
    if is_stored && is_named && main.starts_with("xl/workbook.") {
        return None;
    }
    let (folder, file) = main.rsplit_once('/').unwrap_or(("", &main));
    let usual = if file.ends_with(".bin") { "workbook.bin" } else { "workbook.xml" };
    let usual = joined(folder, usual);
    let renamed = [(relations_path(&main), relations_path(&usual)), (main.clone(), usual.clone())];
    let mut copy = ZipWriter::new(Cursor::new(vec![]));
    for index in 0..archive.zip.len() {
        let member = archive.zip.by_index_raw(index).ok()?;
        let name = joined("", &member.name().ok()?.replace('\\', "/"));
        let new = renamed.iter().find(|(old, _)| old.eq_ignore_ascii_case(&name));
        let new = new.map_or(&name, |(_, new)| new);
        if name != "_rels/.rels" {
            copy.raw_copy_file_rename(member, new).ok()?;
        }
    }
    copy.start_file("_rels/.rels", SimpleFileOptions::default()).ok()?;
    let relation = format!("<Relationship Type=\"{KIND}\" Target=\"{}\"/>", escape(usual));
    write!(copy, "<Relationships>{relation}</Relationships>").ok()?;
    Some(copy.finish().ok()?.into_inner())
}

/// Writes the pictures of a document as figures, up to a number of bytes in total.
pub(super) struct Pictures {
    bytes_left: usize,
}

impl Default for Pictures {
    fn default() -> Self {
        Self { bytes_left: MAX_PICTURE_BYTES }
    }
}

impl Pictures {
    /// The picture that is the part `path`; `caption` is the author's description.
    pub(super) fn write(
        &mut self,
        archive: &mut Archive<'_>,
        path: &str,
        caption: &str,
        writer: &mut Writer,
    ) {
        let bytes = member(archive, path, self.bytes_left as u64 + 1)
            .filter(|bytes| !bytes.is_empty() && bytes.len() <= self.bytes_left);
        let image = bytes.and_then(|bytes| Some((media(path)?.to_owned(), bytes)));
        self.bytes_left -= image.as_ref().map_or(0, |(_, bytes)| bytes.len());
        let caption = if is_generic(caption) { "" } else { caption };
        if image.is_some() || !caption.is_empty() {
            writer.figure(caption, path, image);
        }
    }
}

/// Whether a shape with an extent (`cx` and `cy`) is too small to be more than an ornament.
pub(super) fn is_ornament(extent: Option<Node<'_>>) -> bool {
    let small = |size: &str| {
        extent
            .and_then(|extent| xml::number(extent, size))
            .is_some_and(|size| size < ORNAMENT * EMU)
    };
    small("cx") || small("cy")
}

fn media(path: &str) -> Option<&'static str> {
    let extension = path.rsplit_once('.')?.1.to_ascii_lowercase();
    Some(match extension.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" | "jfif" => "image/jpeg",
        "gif" => "image/gif",
        "tif" | "tiff" => "image/tiff",
        "bmp" => "image/bmp",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "emf" => "image/emf",
        "wmf" => "image/wmf",
        _ => return None,
    })
}

/// Names that programs give pictures, which say nothing.
fn is_generic(caption: &str) -> bool {
    let word =
        caption.trim_end_matches(|c: char| c.is_ascii_digit() || c.is_whitespace() || c == '\0');
    matches!(
        word.to_lowercase().as_str(),
        "picture" | "image" | "figure" | "graphic" | "grafik" | ""
    )
}

/// The part in which a format states title, author, date and language, and their elements there:
/// the author and the date each by the better one first.
pub(super) struct Properties {
    pub(super) path: &'static str,
    pub(super) author: [&'static str; 2],
    pub(super) date: [&'static str; 2],
}

/// Documents are made from templates, whose date of creation they keep.
pub(super) const CORE: Properties = Properties {
    path: "docProps/core.xml",
    author: ["creator", "lastModifiedBy"],
    date: ["modified", "created"],
};

impl Properties {
    pub(super) fn read(&self, archive: &mut Archive<'_>, parsed: &mut Parsed) {
        let package = Relations::read(archive, "");
        let path = package.part("core-properties").unwrap_or(self.path);
        let Some(text) = member_text(archive, path) else { return };
        let Ok(document) = xml::parse(path, &text) else { return };
        let of = |name: &str| {
            let node = xml::descendant(document.root_element(), name)?;
            Some(xml::text(node)).filter(|text| !text.trim().is_empty())
        };
        super::describe(parsed, of("title"), self.author.into_iter().find_map(of));
        parsed.date = self.date.into_iter().find_map(|name| normalise_stamp(&of(name)?));
        parsed.language = of("language");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsed::Parsed;

    fn workbook(files: &[(&str, &str)]) -> Parsed {
        let mut writer = ZipWriter::new(Cursor::new(vec![]));
        for (name, text) in files {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(text.as_bytes()).unwrap();
        }
        let bytes = writer.finish().unwrap().into_inner();
        crate::parse("file", &bytes, &crate::ParseOptions::default()).unwrap()
    }

    fn relations(kind: &str, id: &str, target: &str) -> String {
        let relation = format!("<Relationship Id='{id}' Type='{kind}' Target='{target}'/>");
        format!("<Relationships>{relation}</Relationships>")
    }

    #[test]
    fn a_workbook_is_read_wherever_its_parts_are() {
        let types = "http://purl.oclc.org/ooxml/officeDocument/relationships";
        let (document, sheet) = (format!("{types}/officeDocument"), format!("{types}/worksheet"));
        let book = "<workbook xmlns:r='r'><sheets><sheet name='S' sheetId='1' r:id='a'/></sheets></workbook>";
        let cells = "<worksheet><sheetData><row r='1'><c r='A1' t='str'><v>Oak</v></c>\
                     <c r='B1'><v>7</v></c></row></sheetData></worksheet>";
        for (target, path, part, rels, cells_path) in [
            ("book.xml", "book.xml", "s.xml", "_rels/book.xml.rels", "s.xml"),
            (
                "/data/workbook.xml",
                "data/workbook.xml",
                "w/s.xml",
                "data/_rels/workbook.xml.rels",
                "data/w/s.xml",
            ),
            (
                "xl/workbook22.xml",
                "xl/workbook22.xml",
                "s.xml",
                "xl/_rels/workbook22.xml.rels",
                "xl/s.xml",
            ),
            (
                r"xl\workbook.xml",
                r"xl\workbook.xml",
                "s.xml",
                r"xl\_rels\workbook.xml.rels",
                r"xl\s.xml",
            ),
            (
                "./xl/workbook.xml",
                "XL/Workbook.xml",
                "s.xml",
                "xl/_rels/workbook.xml.rels",
                "XL/s.xml",
            ),
            (
                "xl/workbook.xml",
                "/xl/workbook.xml",
                "s.xml",
                "/xl/_rels/workbook.xml.rels",
                "/xl/s.xml",
            ),
        ] {
            let parsed = workbook(&[
                ("_rels/.rels", &relations(&document, "x", target)),
                (path, book),
                (rels, &relations(&sheet, "a", part)),
                (cells_path, cells),
            ]);
            assert_eq!(parsed.tables[0].rows[0].cells, ["Oak", "7"], "{path}");
        }
    }

    #[test]
    fn a_presentation_is_read_wherever_its_parts_are() {
        let presentation = "<p:presentation xmlns:p='p' xmlns:r='http://x/relationships'><p:sldIdLst>\
                            <p:sldId r:id='a'/></p:sldIdLst></p:presentation>";
        let slide = "<p:sld xmlns:p='p' xmlns:a='a'><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>Oak</a:t>\
                     </a:r></a:p></p:txBody></p:sp></p:spTree></p:sld>";
        for (target, path, rels, slide_path) in [
            ("show.xml", "show.xml", "_rels/show.xml.rels", "slides/1.xml"),
            ("/ppt/main.xml", "ppt/main.xml", "ppt/_rels/main.xml.rels", "ppt/slides/1.xml"),
            (
                "ppt/presentation.xml",
                r"PPT\presentation.xml",
                r"ppt\_rels\presentation.xml.rels",
                r"ppt\slides\1.xml",
            ),
        ] {
            let parsed = workbook(&[
                ("_rels/.rels", &relations("http://x/officeDocument", "x", target)),
                (path, presentation),
                (rels, &relations("slide", "a", "slides/1.xml")),
                (slide_path, slide),
            ]);
            assert_eq!((parsed.format, parsed.text.as_str()), ("pptx", "Oak\n"), "{path}");
        }
    }

    #[test]
    fn a_package_of_another_kind_is_refused() {
        let theme = relations("http://x/officeDocument", "x", "theme.xml");
        let bytes = {
            let mut writer = ZipWriter::new(Cursor::new(vec![]));
            for (name, text) in
                [("_rels/.rels", theme.as_str()), ("theme.xml", "<a:theme xmlns:a='a'/>")]
            {
                writer.start_file(name, SimpleFileOptions::default()).unwrap();
                writer.write_all(text.as_bytes()).unwrap();
            }
            writer.finish().unwrap().into_inner()
        };
        let refusal = crate::parse("file", &bytes, &crate::ParseOptions::default()).unwrap_err();
        assert!(refusal.reason.contains("zip archive"), "{refusal:?}");
    }
}
