//! Markdown: front matter, headings as sections, and what must not be cut.
use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// A section: its headings from the top, and its bytes in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) path: Vec<String>,
    pub(crate) range: Range<usize>,
}

/// What the front matter and the first heading say about a document.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) title: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) date: Option<String>,
    /// Where the front matter ends.
    pub(crate) body: usize,
}

struct Heading {
    level: HeadingLevel,
    text: String,
    range: Range<usize>,
}

/// Reads the front matter (`key: value` lines between `---`) and, without a `title`, takes the
/// first heading of level one.
pub(crate) fn about(text: &str) -> About {
    let mut about = About { body: front_matter(text), ..About::default() };
    for line in text[..about.body].lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim().trim_matches(['"', '\'']).trim();
        let slot = match key.trim() {
            "title" => &mut about.title,
            "url" => &mut about.url,
            "date" => &mut about.date,
            _ => continue,
        };
        if !value.is_empty() {
            *slot = Some(value.to_owned());
        }
    }
    if about.title.is_none() {
        let (headings, _) = scan(text, about.body);
        about.title =
            headings.into_iter().find(|h| h.level == HeadingLevel::H1).map(|heading| heading.text);
    }
    about.title = about.title.filter(|title| !title.is_empty());
    about
}

/// Where the front matter ends; 0 without one.
fn front_matter(text: &str) -> usize {
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else { return 0 };
    let mut at = first.len();
    for line in lines {
        at += line.len();
        if matches!(line.trim_end(), "---" | "...") {
            return at;
        }
    }
    0
}

/// The sections of the body, which tile it, and the ranges that must not be cut, both in order.
/// A heading with nothing under it goes with the section that follows; the document's title is
/// left out of the paths.
pub(crate) fn parts(text: &str, title: &str) -> (Vec<Part>, Vec<Range<usize>>) {
    let body = front_matter(text);
    let (headings, atomic) = scan(text, body);
    let mut parts = vec![];
    let mut open: Vec<(HeadingLevel, String)> = vec![];
    let mut start = body;
    let first = headings.first().map_or(text.len(), |heading| heading.range.start);
    if !text[body..first].trim().is_empty() {
        parts.push(Part { path: vec![], range: body..first });
        start = first;
    }
    for (i, heading) in headings.iter().enumerate() {
        let end = headings.get(i + 1).map_or(text.len(), |next| next.range.start);
        open.retain(|(level, _)| *level < heading.level);
        open.push((heading.level, heading.text.clone()));
        let bare = text[heading.range.end..end].trim().is_empty();
        if bare && headings.get(i + 1).is_some_and(|next| next.level > heading.level) {
            continue;
        }
        let path = open.iter().map(|(_, text)| text.clone()).filter(|text| !text.is_empty());
        let path = path.enumerate().filter(|(i, text)| *i > 0 || text != title);
        parts.push(Part { path: path.map(|(_, text)| text).collect(), range: start..end });
        start = end;
    }
    (parts, atomic)
}

/// The headings of the body and what must not be cut.
fn scan(text: &str, body: usize) -> (Vec<Heading>, Vec<Range<usize>>) {
    let (mut headings, mut atomic) = (vec![], vec![]);
    let mut depth = 0;
    let mut inside: Option<Heading> = None;
    let parser = Parser::new_ext(&text[body..], Options::ENABLE_TABLES).into_offset_iter();
    for (event, range) in parser {
        let range = range.start + body..range.end + body;
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                inside = Some(Heading { level, text: String::new(), range });
            }
            Event::End(TagEnd::Heading(_)) if depth == 0 => {
                headings.extend(
                    inside
                        .take()
                        .map(|heading| Heading { text: heading.text.trim().to_owned(), ..heading }),
                );
            }
            Event::Start(Tag::List(_) | Tag::BlockQuote(_)) => depth += 1,
            Event::End(TagEnd::List(_) | TagEnd::BlockQuote(_)) => depth -= 1,
            Event::Start(Tag::Item) if depth == 1 => atomic.push(range),
            Event::Start(Tag::CodeBlock(_) | Tag::Table(_)) if depth == 0 => atomic.push(range),
            Event::Text(words) | Event::Code(words) => {
                if let Some(heading) = &mut inside {
                    heading.text.push_str(&words);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(heading) = &mut inside {
                    heading.text.push(' ');
                }
            }
            _ => {}
        }
    }
    (headings, atomic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_make_sections_with_their_path() {
        let text = "Before.\n\n# Jaws\n\n## Crew\n\nSpielberg.\n\n### Music\n\nWilliams.\n\n## Cast\n\
                    \nScheider.\n";
        let (parts, _) = parts(text, "Jaws");
        let paths: Vec<String> = parts.iter().map(|part| part.path.join(" > ")).collect();
        assert_eq!(paths, ["", "Crew", "Crew > Music", "Cast"]);
        let joined: String = parts.iter().map(|part| &text[part.range.clone()]).collect();
        assert_eq!(joined, text);
        assert!(text[parts[1].range.clone()].starts_with("# Jaws\n\n## Crew"));
    }

    #[test]
    fn front_matter_is_kept_out_of_the_body() {
        let text = "---\ntitle: \"The Shark\"\ndate: 1975-06-20\nurl: http://a.example\ntags: x\n\
                    ---\n# Jaws\nA film.\n";
        let about = about(text);
        assert_eq!(about.title.as_deref(), Some("The Shark"));
        assert_eq!(about.date.as_deref(), Some("1975-06-20"));
        assert_eq!(about.url.as_deref(), Some("http://a.example"));
        assert!(text[about.body..].starts_with("# Jaws"));
        let (parts, _) = parts(text, "The Shark");
        assert_eq!(parts[0].range, about.body..text.len());
        assert_eq!(parts[0].path, ["Jaws"]);
    }

    #[test]
    fn the_first_heading_of_level_one_is_the_title() {
        assert_eq!(about("## Sub\n# The *Big* `One`\n").title.as_deref(), Some("The Big One"));
        assert_eq!(about("---\nnot closed\n").body, 0);
        assert_eq!(about("> # quoted\n\ntext\n").title, None);
    }
}
