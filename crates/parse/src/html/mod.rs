//! HTML pages: read as a browser reads them, and written down block by block.
mod data;
pub(crate) mod mhtml;
mod shallow;
pub(crate) mod table;
mod tree;
mod walk;
mod words;

use crate::decode::{Decoded, decode};
use crate::parsed::{Parsed, Refusal};
use crate::writer::Writer;
use crate::writer::inline::Inline;
use halma_text::dates::normalise_stamp;
pub(crate) use tree::{Id, ROOT, Tree};
pub(crate) use walk::Pictures;

/// What a page says about itself.
#[derive(Debug, Default)]
pub(crate) struct About {
    pub(crate) title: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) date: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) language: Option<String>,
}

pub(crate) fn read(bytes: &[u8]) -> Result<Parsed, Refusal> {
    let text = decoded(bytes, None)?;
    Ok(document(text, Writer::new("html"), &|_| None))
}

/// The text of a page in the encoding that `declared` or the page itself names.
pub(crate) fn decoded(bytes: &[u8], declared: Option<&str>) -> Result<Decoded, Refusal> {
    decode(bytes, declared.map(str::to_owned).or_else(|| charset(bytes)).as_deref())
}

/// A document that is one page.
fn document(decoded: Decoded, mut writer: Writer, pictures: &Pictures<'_>) -> Parsed {
    decoded.warnings.into_iter().for_each(|warning| writer.warn(warning));
    let about = page(&decoded.text, &mut writer, pictures);
    let mut parsed = writer.finish();
    parsed.title = about.title;
    parsed.author = about.author;
    parsed.date = about.date;
    parsed.url = about.url;
    parsed.language = about.language;
    parsed
}

/// Writes down one page; `pictures` gives the bytes of those that are available.
pub(crate) fn page(text: &str, writer: &mut Writer, pictures: &Pictures<'_>) -> About {
    let head = text.get(..text.len().min(400)).unwrap_or_default();
    let xhtml = head.trim_start().starts_with("<?xml") || head.contains("www.w3.org/1999/xhtml");
    let tree = Tree::parse(text, xhtml);
    walk::walk(&tree, writer, pictures);
    if tree.flattened {
        let deepest = shallow::DEEPEST;
        writer.warn(format!(
            "elements nested more than {deepest} deep are read as if they were not; check the page"
        ));
    }
    about(&tree)
}

fn about(tree: &Tree) -> About {
    let mut about = About::default();
    for id in tree.descendants(ROOT) {
        let attribute =
            |name: &str| tree.attribute(id, name).map(str::trim).filter(|v| !v.is_empty());
        let owned = |value: Option<&str>| value.map(str::to_owned);
        match tree.name(id) {
            "html" => about.language = owned(attribute("lang").or(attribute("xml:lang"))),
            "title" if about.title.is_none() => {
                let words = Inline::words(&tree.all_text(id)).text;
                about.title = Some(words).filter(|words| !words.is_empty());
            }
            "link" if attribute("rel") == Some("canonical") => about.url = owned(attribute("href")),
            "meta" => {
                let key = attribute("name").or(attribute("property")).unwrap_or_default();
                meta(&mut about, &key.to_ascii_lowercase(), attribute("content"));
            }
            // Nothing of interest comes after the head.
            "body" => break,
            _ => {}
        }
    }
    about
}

fn meta(about: &mut About, key: &str, content: Option<&str>) {
    let slot = match key {
        "author" | "dc.creator" | "article:author" => &mut about.author,
        "og:url" => &mut about.url,
        "date" | "dc.date" | "dcterms.date" | "dcterms.created" | "article:published_time" => {
            let date = content.and_then(normalise_stamp);
            about.date = about.date.take().or(date);
            return;
        }
        _ => return,
    };
    if slot.is_none() {
        *slot = content.map(str::to_owned);
    }
}

/// What `<meta charset=…>` or the XML declaration says.
fn charset(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(2_048)]).to_ascii_lowercase();
    let at = head.find("charset=").map(|at| at + 8).or(head.find("encoding=").map(|at| at + 9))?;
    let name = head[at..].trim_start_matches(['"', '\'', ' ']);
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c));
    Some(name[..end.unwrap_or(name.len())].to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests;
