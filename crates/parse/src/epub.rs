//! EPUB: its chapters are HTML pages, read in the order of the book.
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use crate::container::{Archive, address_path, member, member_text, open, refusal};
use crate::html::{self, Id, ROOT, Tree};
use crate::parsed::{Parsed, Refusal};
use crate::room::MAX_PICTURE_BYTES;
use crate::writer::Writer;
use crate::writer::inline::Inline;
use halma_text::dates::normalise_stamp;

/// What the package file says.
#[derive(Default)]
struct EpubPackage {
    titles: Vec<String>,
    authors: Vec<String>,
    dates: Vec<String>,
    languages: Vec<String>,
    /// By id: path and media type.
    items: HashMap<String, (String, String)>,
    order: Vec<String>,
}

pub(crate) fn read(bytes: &[u8]) -> Result<Parsed, Refusal> {
    let mut archive = open(bytes)?;
    let broken = |what: &str| refusal(what, "download the book again, or convert it again");
    let container = member_text(&mut archive, "META-INF/container.xml")
        .ok_or_else(|| broken("the book has no container file"))?;
    let package = package_path(&container).ok_or_else(|| broken("the book names no content"))?;
    let xml = member_text(&mut archive, &package)
        .ok_or_else(|| broken(&format!("the book has no `{package}`")))?;
    let folder = package.rsplit_once('/').map_or("", |(folder, _)| folder);
    let book = package_file(&xml, folder);
    let mut writer = Writer::new("epub");
    let kinds: HashMap<&str, &str> =
        book.items.values().map(|(path, kind)| (path.as_str(), kind.as_str())).collect();
    let room = RefCell::new(MAX_PICTURE_BYTES);
    let archive = RefCell::new(archive);
    let mut read = HashSet::new();
    for id in &book.order {
        // A chapter is read where it is first named.
        let Some((path, _)) = book.items.get(id) else { continue };
        if !read.insert(path) {
            continue;
        }
        let Some(chapter) = member(&mut archive.borrow_mut(), path, u64::MAX) else {
            writer.warn(format!("the book has no `{path}`; download it again"));
            continue;
        };
        let chapter = match html::decoded(&chapter, None) {
            Ok(chapter) => chapter,
            Err(refused) => {
                writer.warn(format!("`{path}` in the book is not read: {refused}"));
                continue;
            }
        };
        for warning in chapter.warnings {
            writer.warn(format!("`{path}` in the book: {warning}"));
        }
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let pictures = |source: &str| {
            let path = address_path(folder, source);
            let kind = (*kinds.get(path.as_str())?).to_owned();
            picture(&mut archive.borrow_mut(), &path, &mut room.borrow_mut())
                .map(|image| (kind, image))
        };
        html::page(&chapter.text, &mut writer, &pictures);
    }
    if writer.is_empty() {
        return Err(refusal("the book has no text", "check that it is complete and not locked"));
    }
    let mut parsed = writer.finish();
    parsed.title = book.titles.into_iter().find(|title| !title.is_empty());
    parsed.author = Some(book.authors.join(", ")).filter(|authors| !authors.is_empty());
    parsed.date = book.dates.iter().find_map(|date| normalise_stamp(date));
    parsed.language = book.languages.into_iter().next();
    Ok(parsed)
}

fn picture(archive: &mut Archive<'_>, path: &str, room: &mut usize) -> Option<Vec<u8>> {
    let image = member(archive, path, *room as u64 + 1)?;
    *room = room.checked_sub(image.len())?;
    Some(image)
}

fn package_path(container: &str) -> Option<String> {
    let tree = Tree::parse(container, true);
    let mut paths = tree.descendants(ROOT).filter(|id| local_name(&tree, *id) == "rootfile");
    paths.find_map(|id| tree.attribute(id, "full-path")).map(str::to_owned)
}

/// Read like a page, because a damaged package may still name its chapters.
fn package_file(xml: &str, folder: &str) -> EpubPackage {
    let tree = Tree::parse(xml, true);
    let mut book = EpubPackage::default();
    for id in tree.descendants(ROOT) {
        let attribute = |name: &str| tree.attribute(id, name).unwrap_or_default().to_owned();
        let words = || Inline::words(&tree.all_text(id)).text;
        match local_name(&tree, id) {
            "item" => {
                let path = address_path(folder, &attribute("href"));
                book.items.insert(attribute("id"), (path, attribute("media-type")));
            }
            "itemref" => book.order.push(attribute("idref")),
            "title" => book.titles.push(words()),
            "creator" => book.authors.push(words()),
            "date" => book.dates.push(words()),
            "language" => book.languages.push(words()),
            _ => {}
        }
    }
    book
}

/// The name of an element without that of its vocabulary, as in `dc:title`.
fn local_name(tree: &Tree, id: Id) -> &str {
    tree.name(id).rsplit(':').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_names_title_and_order() {
        let xml = r#"<package><metadata><dc:title>A &amp; B</dc:title><dc:title>Other</dc:title>
            <dc:creator>Ann</dc:creator><dc:creator>Bob</dc:creator></metadata><manifest>
            <item id="one" href="1.xhtml" media-type="application/xhtml+xml"/></manifest>
            <spine><itemref idref="one"/></spine></package>"#;
        let book = package_file(xml, "OPS");
        assert_eq!(book.titles[0], "A & B");
        assert_eq!(book.authors, ["Ann", "Bob"]);
        assert_eq!(book.order, ["one"]);
        assert_eq!(book.items["one"].0, "OPS/1.xhtml");
    }

    #[test]
    fn a_chapter_with_a_bad_byte_is_named() {
        use std::io::Write;
        let chapter =
            |text: &str, last: u8| [b"<html><body><p>", text.as_bytes(), &[last]].concat();
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(vec![]));
        let mut add = |name: &str, bytes: &[u8]| {
            zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(bytes).unwrap();
        };
        add("META-INF/container.xml", br#"<container><rootfile full-path="p.opf"/></container>"#);
        add(
            "p.opf",
            br#"<package><manifest><item id="a" href="1.xhtml"/><item id="b" href="2.xhtml"/>
            </manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>"#,
        );
        add("1.xhtml", &chapter("Größe 10<sup>6</sup>", b'.'));
        add("2.xhtml", &chapter("für Jördis", b'\xff'));
        let parsed = read(&zip.finish().unwrap().into_inner()).unwrap();
        assert_eq!(parsed.text, "Größe 10⁶.\n\nfür Jördis\u{fffd}\n");
        let [warning] = &parsed.warnings[..] else { panic!("{:?}", parsed.warnings) };
        assert!(warning.contains("2.xhtml") && warning.contains("line 1"), "{warning}");
    }
}
