//! The words of an element on their own, as in a heading or a cell.
use super::tree::{Id, Tree};
use crate::writer::inline::Inline;

/// What is not for reading.
#[rustfmt::skip]
const SILENT: &[&str] = &[
    "script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "audio",
    "video", "input", "select", "textarea", "button", "nav", "head", "datalist", "dialog", "map",
];

#[rustfmt::skip]
const BLOCKS: &[&str] = &[
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog",
    "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2",
    "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "html", "legend", "li", "main", "menu",
    "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr",
    "ul", "caption",
];

pub(super) fn is_silent(tree: &Tree, id: Id) -> bool {
    let name = tree.name(id);
    if SILENT.contains(&name) || tree.attribute(id, "hidden").is_some() {
        return true;
    }
    let style = tree.attribute(id, "style");
    style.is_some_and(|style| style.replace(' ', "").contains("display:none"))
}

pub(super) fn is_block(name: &str) -> bool {
    BLOCKS.contains(&name)
}

/// All words below; blocks begin on new lines.
pub(super) fn gather(tree: &Tree, id: Id) -> Inline {
    let mut inline = Inline::default();
    for &child in tree.children(id) {
        collect(tree, child, &mut inline);
    }
    inline.trimmed()
}

fn collect(tree: &Tree, id: Id, inline: &mut Inline) {
    if let Some(text) = tree.text(id) {
        return inline.push(text);
    }
    let name = tree.name(id);
    if is_silent(tree, id) {
        return;
    }
    match name {
        "br" => return inline.break_line(),
        "img" => return inline.push(tree.attribute(id, "alt").unwrap_or_default()),
        _ => {}
    }
    let block = is_block(name);
    if block {
        inline.break_line();
    }
    let start = inline.text.len();
    for &child in tree.children(id) {
        collect(tree, child, inline);
    }
    if name == "a"
        && let Some(target) = tree.attribute(id, "href")
    {
        inline.link_from(start, target);
    }
    // Cells of a table inside, and items, stay apart.
    if block {
        inline.break_line();
    }
}
