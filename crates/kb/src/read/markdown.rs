//! Markdown: front matter and title.
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

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
        about.title = headings(text, about.body)
            .into_iter()
            .find(|h| h.level == HeadingLevel::H1)
            .map(|heading| heading.text);
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

/// The headings of the body.
fn headings(text: &str, body: usize) -> Vec<Heading> {
    let mut headings = vec![];
    let mut depth = 0;
    let mut inside: Option<Heading> = None;
    for event in Parser::new_ext(&text[body..], Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                inside = Some(Heading { level, text: String::new() });
            }
            Event::End(TagEnd::Heading(_)) if depth == 0 => {
                let trimmed = |h: Heading| Heading { text: h.text.trim().to_owned(), ..h };
                headings.extend(inside.take().map(trimmed));
            }
            Event::Start(Tag::List(_) | Tag::BlockQuote(_)) => depth += 1,
            Event::End(TagEnd::List(_) | TagEnd::BlockQuote(_)) => depth -= 1,
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
    headings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_kept_out_of_the_body() {
        let text = "---\ntitle: \"The Shark\"\ndate: 1975-06-20\nurl: http://a.example\ntags: x\n\
                    ---\n# Jaws\nA film.\n";
        let about = about(text);
        assert_eq!(about.title.as_deref(), Some("The Shark"));
        assert_eq!(about.date.as_deref(), Some("1975-06-20"));
        assert_eq!(about.url.as_deref(), Some("http://a.example"));
        assert!(text[about.body..].starts_with("# Jaws"));
    }

    #[test]
    fn the_first_heading_of_level_one_is_the_title() {
        assert_eq!(about("## Sub\n# The *Big* `One`\n").title.as_deref(), Some("The Big One"));
        assert_eq!(about("---\nnot closed\n").body, 0);
        assert_eq!(about("> # quoted\n\ntext\n").title, None);
    }
}
