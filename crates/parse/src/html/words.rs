//! The words of an element on their own, as in a heading or a cell.
use super::tree::{Id, Tree};
use crate::writer::inline::Inline;
use crate::writer::script::Script;

/// What is not for reading.
#[rustfmt::skip]
const SILENT: &[&str] = &[
    "script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "audio",
    "video", "input", "select", "textarea", "rt", "rp", "nav", "head", "datalist", "dialog", "map",
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
    SILENT.contains(&name)
        || (name == "button" && !is_question(tree, id))
        || (is_hidden(tree, id) && !tree.is_opened(id))
}

fn is_hidden(tree: &Tree, id: Id) -> bool {
    let style = || {
        let style = tree.attribute(id, "style").unwrap_or_default().to_ascii_lowercase();
        let style: String = style.split_whitespace().collect();
        style.contains("display:none") || style.contains("visibility:hidden")
    };
    // Pages that show themselves when their scripts have run.
    let is_page = matches!(tree.name(id), "html" | "body");
    let hidden = tree.attribute(id, "hidden").is_some_and(|value| value != "until-found");
    !is_page && (hidden || style())
}

/// Whether a button shows and hides an answer: it is all of a heading, or it says that something
/// is expanded. Buttons of forms and of menus only do something.
pub(super) fn is_question(tree: &Tree, button: Id) -> bool {
    let has = |name: &str| tree.attribute(button, name).is_some();
    let around = |names: &[&str]| tree.ancestors(button).find(|id| names.contains(&tree.name(*id)));
    if tree.name(button) != "button" || around(&["form", "menu", "nav"]).is_some() {
        return false;
    }
    let titled = |id: &Id| tree.attribute(*id, "role") == Some("heading");
    let heading = around(&["h1", "h2", "h3", "h4", "h5", "h6", "summary", "dt"]);
    match heading.or_else(|| tree.ancestors(button).find(titled)) {
        // Other buttons of headings copy, edit or link; a question has a number or a sign at most.
        Some(heading) => tree.letters(button).count() + 4 > tree.letters(heading).count(),
        None => has("aria-expanded") && !has("aria-haspopup") && around(&["header"]).is_none(),
    }
}

pub(super) fn is_block(name: &str) -> bool {
    BLOCKS.contains(&name)
}

/// All words below; blocks begin on new lines.
pub(super) fn gather(tree: &Tree, id: Id) -> Inline {
    let mut inline = Inline::default();
    for &child in tree.children(id) {
        collect(tree, child, &mut inline, None);
    }
    inline.trimmed()
}

/// Adds the words of a node; `script` is that of the elements around it.
pub(super) fn collect(tree: &Tree, id: Id, inline: &mut Inline, script: Option<Script>) {
    if let Some(text) = tree.text(id) {
        return match script {
            Some(script) => inline.push_script(text, script),
            None => inline.push(text),
        };
    }
    let name = tree.name(id);
    if is_silent(tree, id) {
        return;
    }
    let script = match name {
        "br" => return inline.break_line(),
        "img" => return inline.push(tree.attribute(id, "alt").unwrap_or_default()),
        "math" => return inline.push(&formula(tree, id)),
        // The number of a note, whose brackets may be elements.
        "sup" if tree.letters(id).next() == Some('[') => None,
        "sup" => Some(Script::Super),
        "sub" => Some(Script::Sub),
        _ => script,
    };
    let block = is_block(name);
    if block {
        inline.break_line();
    }
    let start = inline.text.len();
    for &child in tree.children(id) {
        collect(tree, child, inline, script);
    }
    if name == "a"
        && let Some(target) = tree.attribute(id, "href")
    {
        inline.link_from(start, target);
    }
    if name == "ruby" {
        // How the word is read stands behind it, so that it stays whole.
        let readings = tree.children(id).iter().filter(|id| tree.name(**id) == "rt");
        let reading: String = readings.map(|id| tree.all_text(*id)).collect();
        if !reading.trim().is_empty() {
            inline.push(&format!("({})", reading.trim()));
        }
    }
    // Cells of a table inside, and items, stay apart.
    if block {
        inline.break_line();
    }
}

/// A formula (`MathML`) on one line: `x^2`, `(a+b)/2`.
fn formula(tree: &Tree, id: Id) -> String {
    if let Some(text) = tree.text(id) {
        return text.trim().to_owned();
    }
    let is_space = |id: &Id| tree.text(*id).is_some_and(|text| text.trim().is_empty());
    let parts = tree.children(id).iter().filter(|id| !is_space(id));
    let parts: Vec<String> = parts.map(|id| formula(tree, *id)).collect();
    let group = |part: &str| match part.trim() {
        part if part.chars().all(char::is_alphanumeric) => part.to_owned(),
        part => format!("({part})"),
    };
    let marks = match tree.name(id) {
        "annotation" | "annotation-xml" | "mphantom" => return String::new(),
        "mi" | "mtext" if parts.concat().len() > 1 => return format!(" {} ", parts.concat()),
        "msqrt" => return format!("√{}", group(&parts.concat())),
        "mtr" => return parts.join(", "),
        "mtable" => return parts.join("; "),
        "msup" | "mover" => ["", "^", ""],
        "msub" | "munder" => ["", "_", ""],
        "msubsup" | "munderover" => ["", "_", "^"],
        "mfrac" => ["", "/", ""],
        _ => return parts.concat(),
    };
    marks.iter().zip(&parts).map(|(mark, part)| [mark, &*group(part)].concat()).collect()
}
