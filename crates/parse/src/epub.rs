//! EPUB: its chapters are HTML pages, read in the order of the book.
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use quick_xml::events::Event;

use crate::container::{
    Archive, address_path, attribute, entity, member, member_text, open, refusal,
};
use crate::html;
use crate::parsed::{Parsed, Refusal};
use crate::room::MAX_PICTURE_BYTES;
use crate::writer::Writer;
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
        let Some(text) = member_text(&mut archive.borrow_mut(), path) else {
            writer.warn(format!("the book has no `{path}`; download it again"));
            continue;
        };
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let pictures = |source: &str| {
            let path = address_path(folder, source);
            let kind = (*kinds.get(path.as_str())?).to_owned();
            picture(&mut archive.borrow_mut(), &path, &mut room.borrow_mut())
                .map(|image| (kind, image))
        };
        html::page(&text, &mut writer, &pictures);
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
    let mut reader = quick_xml::Reader::from_str(container);
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) | Event::Empty(tag) if tag.local_name().as_ref() == "rootfile" => {
                return attribute(&tag, "full-path");
            }
            Event::Eof => return None,
            _ => {}
        }
    }
}

fn package_file(xml: &str, folder: &str) -> EpubPackage {
    let mut reader = quick_xml::Reader::from_str(xml);
    let mut book = EpubPackage::default();
    let mut inside = String::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                tag.local_name().as_ref().clone_into(&mut inside);
                book.tag(&tag, folder);
            }
            Ok(Event::Empty(tag)) => book.tag(&tag, folder),
            Ok(Event::End(_)) => inside.clear(),
            Ok(Event::Text(text)) => book.words(&inside, &text),
            Ok(Event::GeneralRef(name)) => {
                book.words(&inside, &entity(&name));
            }
            // A damaged package may still name its chapters.
            Ok(Event::Eof) | Err(_) => return book,
            Ok(_) => {}
        }
    }
}

impl EpubPackage {
    fn tag(&mut self, tag: &quick_xml::events::BytesStart<'_>, folder: &str) {
        match tag.local_name().as_ref() {
            "item" => {
                let (id, path) = (attribute(tag, "id"), attribute(tag, "href"));
                if let (Some(id), Some(path)) = (id, path) {
                    let kind = attribute(tag, "media-type").unwrap_or_default();
                    self.items.insert(id, (address_path(folder, &path), kind));
                }
            }
            "itemref" => self.order.extend(attribute(tag, "idref")),
            name => self.values(name).into_iter().for_each(|values| values.push(String::new())),
        }
    }

    fn words(&mut self, inside: &str, words: &str) {
        if let Some(last) = self.values(inside).and_then(|values| values.last_mut()) {
            last.push_str(words.trim_matches(['\n', '\r', '\t']));
        }
    }

    fn values(&mut self, name: &str) -> Option<&mut Vec<String>> {
        match name {
            "title" => Some(&mut self.titles),
            "creator" => Some(&mut self.authors),
            "date" => Some(&mut self.dates),
            "language" => Some(&mut self.languages),
            _ => None,
        }
    }
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
}
