//! What the XML formats of Microsoft Office share: relations between parts, pictures, and what
//! the document says of itself.
use std::collections::HashMap;

use super::xml::{self, Node};
use crate::container::{Archive, joined, member, member_text};
use crate::parsed::Parsed;
use crate::room::MAX_PICTURE_BYTES;
use crate::writer::Writer;
use halma_text::dates::normalise_stamp;

/// Smaller pictures (in pixels at 96 per inch) are ornaments.
const ORNAMENT: usize = 40;
/// English Metric Units in a pixel.
const EMU: usize = 9_525;

/// The relations of one part: by id, the path of a part inside or an address outside.
#[derive(Default)]
pub(super) struct Relations {
    targets: HashMap<String, String>,
}

impl Relations {
    /// Those of the part `path`, from the `_rels` folder at its side.
    pub(super) fn read(archive: &mut Archive<'_>, path: &str) -> Self {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let rels = format!("{folder}/_rels/{file}.rels");
        let Some(text) = member_text(archive, rels.trim_start_matches('/')) else {
            return Self::default();
        };
        let Ok(document) = xml::parse(&rels, &text) else { return Self::default() };
        let mut relations = Self::default();
        for node in document.root_element().children() {
            let (Some(id), Some(target)) =
                (xml::attribute(node, "Id"), xml::attribute(node, "Target"))
            else {
                continue;
            };
            let outside = xml::attribute(node, "TargetMode") == Some("External");
            let target = if outside { target.to_owned() } else { joined(folder, target) };
            relations.targets.insert(id.to_owned(), target);
        }
        relations
    }

    pub(super) fn target(&self, id: &str) -> Option<&str> {
        self.targets.get(id).map(String::as_str)
    }
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
        let Some(text) = member_text(archive, self.path) else { return };
        let Ok(document) = xml::parse(self.path, &text) else { return };
        let of = |name: &str| {
            let node = xml::descendant(document.root_element(), name)?;
            Some(xml::text(node)).filter(|text| !text.trim().is_empty())
        };
        super::describe(parsed, of("title"), self.author.into_iter().find_map(of));
        parsed.date = self.date.into_iter().find_map(|name| normalise_stamp(&of(name)?));
        parsed.language = of("language");
    }
}
