//! The text of a page: its body without scripts, menus and forms.
//!
//! The tokens are enough for that. Nothing in a page is followed, run or trusted.
use std::cell::RefCell;

use html5ever::TokenizerResult;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

/// The content of these elements is not text of the page.
const SKIPPED: &[&str] = &[
    "aside", "button", "footer", "form", "head", "header", "iframe", "nav", "noscript", "script",
    "select", "style", "svg", "template", "textarea", "title", "video",
];
/// What does not end a paragraph.
const INLINE: &[&str] = &[
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img",
    "ins", "kbd", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt",
    "u", "var", "wbr",
];
/// From this many characters on, `main` or `article` is taken for the whole of a page.
const WHOLE: usize = 200;

/// The paragraphs of a page, in order; those of its main part only, where it says which that is.
pub(super) fn paragraphs(html: &str) -> Vec<String> {
    let page = read(html);
    let main = |paragraph: &&HtmlParagraph| paragraph.main;
    let length: usize = page.iter().filter(main).map(|paragraph| paragraph.text.len()).sum();
    let kept = page.into_iter().filter(|paragraph| length < WHOLE || paragraph.main);
    kept.map(|paragraph| paragraph.text).collect()
}

/// The words of a piece of HTML on one line.
pub(super) fn plain(html: &str) -> String {
    if !html.contains(['<', '&']) {
        return html.to_owned();
    }
    let words: Vec<String> = read(html).into_iter().map(|paragraph| paragraph.text).collect();
    words.join(" ")
}

/// Without control characters, each run of blanks as one, cut at `most` characters.
pub(super) fn clean(text: &str, max_chars: usize) -> String {
    let lines = text.lines().map(|line| {
        let visible: String = line.chars().map(|c| if unseen(c) { ' ' } else { c }).collect();
        visible.split_whitespace().collect::<Vec<_>>().join(" ")
    });
    let whole = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    match whole.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", whole[..end].trim_end()),
        None => whole,
    }
}

/// Controls, and the marks that turn the direction of writing or have no width.
fn unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

struct HtmlParagraph {
    text: String,
    /// Whether it stands in `main` or `article`.
    main: bool,
}

fn read(html: &str) -> Vec<HtmlParagraph> {
    let tokenizer = Tokenizer::new(Sink::default(), TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(html));
    while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
    tokenizer.end();
    let mut words = tokenizer.sink.words.into_inner();
    words.end_paragraph();
    words.paragraphs
}

#[derive(Default)]
struct Sink {
    words: RefCell<QueryWords>,
}

#[derive(Default)]
struct QueryWords {
    paragraphs: Vec<HtmlParagraph>,
    current: String,
    /// How many `main` and `article` are open.
    main: usize,
    /// The element that is skipped, and how many of its name are open.
    skipping: Option<(String, usize)>,
}

impl QueryWords {
    fn end_paragraph(&mut self) {
        let text = self.current.split_whitespace().collect::<Vec<_>>().join(" ");
        self.current.clear();
        if !text.is_empty() {
            self.paragraphs.push(HtmlParagraph { text, main: self.main > 0 });
        }
    }

    fn tag(&mut self, tag: &Tag) {
        let (name, opens) = (&*tag.name, tag.kind == TagKind::StartTag);
        if let Some((skipped, open)) = &mut self.skipping {
            if skipped == name {
                *open = if opens { *open + 1 } else { *open - 1 };
                if *open == 0 {
                    self.skipping = None;
                }
            } else if name == "body" && opens {
                // A head that is never closed ends here as well.
                self.skipping = None;
            }
            return;
        }
        if !INLINE.contains(&name) {
            self.end_paragraph();
        }
        if SKIPPED.contains(&name) {
            if opens && !tag.self_closing {
                self.skipping = Some((name.to_owned(), 1));
            }
        } else if matches!(name, "main" | "article") {
            self.main = if opens { self.main + 1 } else { self.main.saturating_sub(1) };
        }
    }
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut words = self.words.borrow_mut();
        match token {
            Token::CharacterTokens(text) if words.skipping.is_none() => {
                words.current.push_str(&text);
            }
            Token::TagToken(tag) => {
                words.tag(&tag);
                if tag.kind == TagKind::StartTag {
                    return raw(&tag.name);
                }
            }
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

/// The content of these elements is not markup.
fn raw(name: &str) -> TokenSinkResult<()> {
    match name {
        "script" => TokenSinkResult::RawData(RawKind::ScriptData),
        "style" | "xmp" | "iframe" | "noembed" | "noframes" => {
            TokenSinkResult::RawData(RawKind::Rawtext)
        }
        "textarea" | "title" => TokenSinkResult::RawData(RawKind::Rcdata),
        "plaintext" => TokenSinkResult::Plaintext,
        _ => TokenSinkResult::Continue,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_text_of_a_page_is_what_stands_in_its_body() {
        let page = r#"<!doctype html><html><head><title>No</title><style>p { no: no }</style>
            <script>if (a < b) document.write("<p>no</p>")</script></head>
            <body><nav><ul><li><a href="/">no</a></li></ul></nav>
            <h1>The <em>bridge</em></h1><p>It was opened in&nbsp;1932 &amp; paid
            for.<p>Nobody knows.<br>Why?</p><!-- no --><script>no()</script>
            <form><input value="no"><button>no</button></form>
            <table><tr><td>Length</td><td>503 m</td></tr></table>
            <footer>no</footer></body></html>"#;
        assert_eq!(
            paragraphs(page),
            [
                "The bridge",
                "It was opened in 1932 & paid for.",
                "Nobody knows.",
                "Why?",
                "Length",
                "503 m",
            ]
        );
    }

    #[test]
    fn the_main_part_is_the_whole_where_it_is_long_enough() {
        let long = "word ".repeat(50);
        let page = format!("<p>Around.</p><main><article><p>{long}</p></article></main><p>Below");
        assert_eq!(paragraphs(&page), [long.trim()]);
        assert_eq!(paragraphs("<p>Around.</p><main>Short.</main>"), ["Around.", "Short."]);
    }

    #[test]
    fn what_is_never_closed_hides_no_more_than_it_must() {
        assert_eq!(paragraphs("<head><title>no</title><body><p>Yes."), ["Yes."]);
        assert_eq!(paragraphs("<nav>no<nav>no</nav>no</nav>Yes."), ["Yes."]);
        assert_eq!(paragraphs("</nav></main>Yes.<svg/>Yes."), ["Yes.", "Yes."]);
        assert_eq!(paragraphs("<script>no"), Vec::<String>::new());
    }

    #[test]
    fn pieces_and_odd_letters() {
        assert_eq!(plain("a <strong>b</strong> &#x27;c&#x27;"), "a b 'c'");
        assert_eq!(plain("a"), "a");
        assert_eq!(clean("a\u{1b}[31m \u{202e}b\r\n\n  c\t d ", 100), "a [31m b\nc d");
        assert_eq!(clean("äöü", 2), "äö…");
    }

    proptest! {
        #[test]
        fn no_page_is_too_odd(page in "(<|>|/|nav|main|p|script|style|title|!--|--|&|a|\"|=| ){0,60}") {
            for paragraph in paragraphs(&page) {
                prop_assert!(!paragraph.trim().is_empty());
            }
        }
    }
}
