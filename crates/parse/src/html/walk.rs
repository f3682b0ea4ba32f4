//! Goes through a page in reading order and writes down its blocks.
use super::table::{grid, inner, is_layout};
use super::tree::{Id, ROOT, Tree};
use super::words::{collect, gather, is_block, is_silent};
use crate::writer::Writer;
use crate::writer::inline::{Inline, visible};

/// Gives the picture at an address with its media type, where it is available.
pub(crate) type Pictures<'a> = dyn Fn(&str) -> Option<(String, Vec<u8>)> + 'a;

/// Smaller pictures (in pixels) are ornaments.
const ORNAMENT: u32 = 50;

pub(super) fn walk(tree: &Tree, writer: &mut Writer, pictures: &Pictures<'_>) {
    let mut walk = Walk {
        tree,
        writer,
        pictures,
        inline: Inline::default(),
        flushed: 0,
        lists: vec![],
        marker: None,
        quotes: 0,
        caption: None,
        waiting: vec![],
    };
    walk.children(ROOT);
    walk.flush();
}

struct Walk<'a> {
    tree: &'a Tree,
    writer: &'a mut Writer,
    pictures: &'a Pictures<'a>,
    /// The words of the block that is open.
    inline: Inline,
    /// How many blocks have been closed.
    flushed: usize,
    /// The number of the next item of each list that is open; `None` where items have no number.
    lists: Vec<Option<usize>>,
    /// Set at the beginning of an item.
    marker: Option<String>,
    quotes: usize,
    /// Of the figure that is open.
    caption: Option<String>,
    /// Pictures among the words of the block, which follow it.
    waiting: Vec<Id>,
}

impl Walk<'_> {
    fn children(&mut self, id: Id) {
        for &child in self.tree.children(id) {
            self.node(child);
        }
    }

    fn node(&mut self, id: Id) {
        if let Some(text) = self.tree.text(id) {
            return self.inline.push(text);
        }
        let name = self.tree.name(id);
        if is_silent(self.tree, id) {
            return;
        }
        match name {
            "br" => self.line_break(),
            "sup" | "sub" | "ruby" | "math" => collect(self.tree, id, &mut self.inline, None),
            "a" => self.link(id),
            "img" => self.waiting.push(id),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading(id, name.as_bytes()[1] - b'0'),
            "pre" => self.code(id),
            "table" => self.table(id),
            "figure" => self.figure(id),
            "figcaption" if self.caption.is_some() => {}
            _ if !is_block(name) => self.children(id),
            _ => {
                self.flush();
                self.container(id, name);
                self.flush();
            }
        }
    }

    fn container(&mut self, id: Id, name: &str) {
        match name {
            "ul" | "menu" | "dir" => self.list(id, None),
            "ol" => {
                let start = self.tree.attribute(id, "start").and_then(|start| start.parse().ok());
                self.list(id, Some(start.unwrap_or(1)));
            }
            "li" => {
                self.marker = Some(match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}.", *number - 1)
                    }
                    _ => "-".to_owned(),
                });
                self.children(id);
                self.flush();
                self.marker = None;
            }
            "dd" => {
                self.marker = Some("-".to_owned());
                self.children(id);
                self.flush();
                self.marker = None;
            }
            "blockquote" => {
                self.quotes += 1;
                self.children(id);
                self.flush();
                self.quotes -= 1;
            }
            _ => self.children(id),
        }
    }

    /// Two line breaks begin a new paragraph.
    fn line_break(&mut self) {
        if self.inline.text.ends_with('\n') && self.marker.is_none() {
            self.flush();
        } else {
            self.inline.break_line();
        }
    }

    fn list(&mut self, id: Id, number: Option<usize>) {
        let marker = self.marker.take();
        self.lists.push(number);
        self.children(id);
        self.flush();
        self.lists.pop();
        // What follows a list inside an item is a paragraph of that item.
        self.marker = marker;
    }

    fn link(&mut self, id: Id) {
        let (start, flushed) = (self.inline.text.len(), self.flushed);
        self.children(id);
        // A link around whole blocks has no words in one place.
        if flushed == self.flushed
            && let Some(target) = self.tree.attribute(id, "href")
        {
            self.inline.link_from(start, target);
        }
    }

    fn heading(&mut self, id: Id, level: u8) {
        self.flush();
        self.writer.heading(level, &gather(self.tree, id));
        let pictures = |id: &Id| self.tree.name(*id) == "img";
        self.waiting.extend(self.tree.descendants(id).filter(pictures));
        self.pictures();
    }

    fn code(&mut self, id: Id) {
        self.flush();
        self.writer.code(&visible(self.tree.all_text(id)));
    }

    fn table(&mut self, id: Id) {
        self.flush();
        if is_layout(self.tree, id) {
            self.children(id);
            return self.flush();
        }
        let caption = self.caption.clone();
        self.writer.table(&grid(self.tree, id, caption));
        for table in inner(self.tree, id) {
            if !is_layout(self.tree, table) {
                self.writer.table(&grid(self.tree, table, None));
            }
        }
    }

    /// A picture or a table with its caption.
    fn figure(&mut self, id: Id) {
        self.flush();
        let named = |name: &str| self.tree.descendants(id).find(|id| self.tree.name(*id) == name);
        let caption = named("figcaption").map(|id| gather(self.tree, id).on_one_line());
        let caption = caption.filter(|caption| !caption.is_empty());
        let before = std::mem::replace(&mut self.caption, caption.as_ref().map(|c| c.text.clone()));
        let holds_one = named("img").is_some() || named("table").is_some();
        self.children(id);
        self.flush();
        self.caption = before;
        if let (Some(caption), false) = (caption, holds_one) {
            self.writer.paragraph(&caption);
        }
    }

    /// Closes the block that is open.
    fn flush(&mut self) {
        self.flushed += 1;
        let inline = std::mem::take(&mut self.inline).trimmed();
        if !inline.is_empty() {
            if let Some(marker) = self.marker.clone() {
                self.writer.item(self.lists.len().saturating_sub(1), &marker, &inline);
            } else if self.quotes > 0 {
                self.writer.quote(&inline);
            } else {
                self.writer.paragraph(&inline);
            }
        }
        self.pictures();
    }

    fn pictures(&mut self) {
        for id in std::mem::take(&mut self.waiting) {
            let attribute = |name: &str| self.tree.attribute(id, name).unwrap_or_default();
            let size = |name: &str| attribute(name).trim_end_matches("px").parse::<u32>().ok();
            let small = |name: &str| size(name).is_some_and(|size| size < ORNAMENT);
            let (source, caption) = (attribute("src"), self.caption.as_deref());
            let caption = caption.unwrap_or_else(|| attribute("alt"));
            let image = (self.pictures)(source);
            let described = !caption.trim().is_empty() || image.is_some();
            if described && !small("width") && !small("height") {
                let inlined = source.starts_with("data:");
                let name = if inlined { "picture" } else { source };
                let image =
                    image.or_else(|| inlined.then(|| super::data::decode(source)).flatten());
                self.writer.figure(caption, name, image);
            }
        }
    }
}
