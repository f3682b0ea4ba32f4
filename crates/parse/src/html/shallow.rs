//! Stands between the tokens of a page and the tree made of them, and leaves out tags that stand
//! too deep: 100,000 open elements would cost quadratic time in the tree builder, and a stack
//! overflow in code that walks the tree. Their words stay.
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use html5ever::LocalName;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};

/// As in browsers.
pub(crate) const DEEPEST: usize = 512;

pub(super) struct Shallow<S> {
    pub(super) inner: S,
    /// In XHTML `<title/>` is empty; HTML takes it for the beginning of a title.
    xhtml: bool,
    open: RefCell<Vec<LocalName>>,
    /// How many elements of a name are open in the page and not in the tree.
    left_out: RefCell<HashMap<LocalName, usize>>,
    flattened: Cell<bool>,
}

/// What holds nothing, and what ends by itself where the next of its kind begins.
#[rustfmt::skip]
const NOT_COUNTED: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
    "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup", "caption",
    "option", "optgroup", "rp", "rt", "html", "head", "body",
    "script", "style", "title", "textarea", "noscript", "xmp", "iframe", "noembed", "noframes",
    "plaintext",
];

impl<S: TokenSink> Shallow<S> {
    pub(super) fn new(inner: S, xhtml: bool) -> Self {
        Self {
            inner,
            xhtml,
            open: RefCell::default(),
            left_out: RefCell::default(),
            flattened: Cell::new(false),
        }
    }

    pub(super) fn flattened(&self) -> bool {
        self.flattened.get()
    }

    /// Whether the tag goes into the tree.
    fn admits(&self, tag: &Tag) -> bool {
        if NOT_COUNTED.contains(&&*tag.name) || tag.self_closing {
            return true;
        }
        let mut open = self.open.borrow_mut();
        let mut left_out = self.left_out.borrow_mut();
        match tag.kind {
            TagKind::StartTag if open.len() < DEEPEST => {
                open.push(tag.name.clone());
                true
            }
            TagKind::StartTag => {
                self.flattened.set(true);
                *left_out.entry(tag.name.clone()).or_default() += 1;
                false
            }
            TagKind::EndTag => {
                if let Some(count) = left_out.get_mut(&tag.name).filter(|count| **count > 0) {
                    *count -= 1;
                    return false;
                }
                if let Some(at) = open.iter().rposition(|name| *name == tag.name) {
                    open.truncate(at);
                }
                true
            }
        }
    }
}

impl<S: TokenSink> TokenSink for Shallow<S> {
    type Handle = S::Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<S::Handle> {
        let Token::TagToken(tag) = token else { return self.inner.process_token(token, line) };
        if !self.admits(&tag) {
            return TokenSinkResult::Continue;
        }
        let empty = self.xhtml && tag.self_closing && tag.kind == TagKind::StartTag;
        let end = empty.then(|| Tag { kind: TagKind::EndTag, attrs: vec![], ..tag.clone() });
        let result = self.inner.process_token(Token::TagToken(tag), line);
        let Some(end) = end else { return result };
        if matches!(result, TokenSinkResult::Continue | TokenSinkResult::RawData(_)) {
            let _ = self.inner.process_token(Token::TagToken(end), line);
            return TokenSinkResult::Continue;
        }
        result
    }

    fn end(&self) {
        self.inner.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.inner.adjusted_current_node_present_but_not_in_html_namespace()
    }
}
