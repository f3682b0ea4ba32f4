//! The tree of an HTML page, built by html5ever as a browser builds it, but never deeper than
//! [`DEEPEST`].
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, LocalName, Namespace, QualName, TokenizerResult};

use super::shallow::Shallow;
use super::words::is_question;

pub(crate) struct Tree {
    nodes: Vec<HtmlNode>,
    /// Whether tags were left out because they stood too deep.
    pub(crate) flattened: bool,
    /// The `id` of each element that a question or a tab of the page opens.
    opened: HashSet<String>,
}

pub(crate) type Id = usize;

/// The document itself is the first node.
pub(crate) const ROOT: Id = 0;

#[derive(Debug)]
struct HtmlNode {
    parent: Option<Id>,
    children: Vec<Id>,
    kind: NodeKind,
}

#[derive(Debug)]
enum NodeKind {
    Element(QualName, Vec<Attribute>),
    Text(String),
    Other,
}

impl Tree {
    pub(crate) fn parse(text: &str, xhtml: bool) -> Self {
        let document = HtmlNode { parent: None, children: vec![], kind: NodeKind::Other };
        let sink = Sink { nodes: RefCell::new(vec![document]) };
        let builder = Shallow::new(TreeBuilder::new(sink, TreeBuilderOpts::default()), xhtml);
        let tokenizer = Tokenizer::new(builder, TokenizerOpts::default());
        let input = BufferQueue::default();
        input.push_back(StrTendril::from_slice(text));
        // A script or a mention of the encoding asks for a pause, which nobody here makes use of.
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        tokenizer.end();
        let flattened = tokenizer.sink.flattened();
        let nodes = tokenizer.sink.inner.sink.nodes.take();
        let mut tree = Self { nodes, flattened, opened: HashSet::new() };
        let opens = |id: &Id| is_question(&tree, *id) || tree.attribute(*id, "role") == Some("tab");
        let opening = (0..tree.nodes.len()).filter(opens);
        let opened = opening.filter_map(|id| tree.attribute(id, "aria-controls"));
        tree.opened = opened.map(str::to_owned).collect();
        tree
    }

    /// Whether the element is one that a question or a tab shows.
    pub(super) fn is_opened(&self, id: Id) -> bool {
        self.attribute(id, "id").is_some_and(|name| self.opened.contains(name))
    }

    /// The elements around a node, the innermost first.
    pub(super) fn ancestors(&self, id: Id) -> impl Iterator<Item = Id> {
        std::iter::successors(self.nodes[id].parent, |id| self.nodes[*id].parent)
    }

    /// The characters below without spaces; of a large element, those at its beginning.
    pub(super) fn letters(&self, id: Id) -> impl Iterator<Item = char> {
        let texts = self.descendants(id).take(200).filter_map(|id| self.text(id));
        texts.flat_map(str::chars).filter(|c| !c.is_whitespace())
    }

    pub(crate) fn children(&self, id: Id) -> &[Id] {
        &self.nodes[id].children
    }

    /// The element's name in lower case; empty for anything else.
    pub(crate) fn name(&self, id: Id) -> &str {
        match &self.nodes[id].kind {
            NodeKind::Element(name, _) => &name.local,
            _ => "",
        }
    }

    pub(crate) fn text(&self, id: Id) -> Option<&str> {
        match &self.nodes[id].kind {
            NodeKind::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn attribute(&self, id: Id, name: &str) -> Option<&str> {
        let NodeKind::Element(_, attributes) = &self.nodes[id].kind else { return None };
        let attribute = attributes.iter().find(|attribute| &*attribute.name.local == name)?;
        Some(&attribute.value)
    }

    /// Everything below in the order of the file.
    pub(crate) fn descendants(&self, id: Id) -> impl Iterator<Item = Id> {
        let mut rest: Vec<Id> = self.children(id).iter().rev().copied().collect();
        std::iter::from_fn(move || {
            let id = rest.pop()?;
            rest.extend(self.children(id).iter().rev());
            Some(id)
        })
    }

    /// All text below, as it stands.
    pub(crate) fn all_text(&self, id: Id) -> String {
        self.descendants(id).filter_map(|id| self.text(id)).collect()
    }
}

/// Takes what the parser builds.
pub(super) struct Sink {
    nodes: RefCell<Vec<HtmlNode>>,
}

#[derive(Debug)]
pub(super) struct Name(QualName);

impl ElemName for Name {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

impl Sink {
    fn add(&self, kind: NodeKind) -> Id {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(HtmlNode { parent: None, children: vec![], kind });
        nodes.len() - 1
    }

    fn detach(&self, id: Id) {
        let mut nodes = self.nodes.borrow_mut();
        let Some(parent) = nodes[id].parent.take() else { return };
        // Nearly always it is one of the last.
        if let Some(at) = nodes[parent].children.iter().rposition(|child| *child == id) {
            nodes[parent].children.remove(at);
        }
    }

    fn insert(&self, parent: Id, at: usize, child: NodeOrText<Id>) {
        let id = match child {
            NodeOrText::AppendNode(id) => {
                self.detach(id);
                id
            }
            NodeOrText::AppendText(text) => {
                let mut nodes = self.nodes.borrow_mut();
                let before = at.checked_sub(1).map(|at| nodes[parent].children[at]);
                if let Some(NodeKind::Text(words)) = before.map(|id| &mut nodes[id].kind) {
                    words.push_str(&text);
                    return;
                }
                drop(nodes);
                self.add(NodeKind::Text(text.to_string()))
            }
        };
        let mut nodes = self.nodes.borrow_mut();
        nodes[id].parent = Some(parent);
        let at = at.min(nodes[parent].children.len());
        nodes[parent].children.insert(at, id);
    }

    fn end_of(&self, id: Id) -> usize {
        self.nodes.borrow()[id].children.len()
    }
}

impl TreeSink for Sink {
    type Handle = Id;
    type Output = ();
    type ElemName<'a> = Name;

    fn finish(self) {}

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Id {
        ROOT
    }

    fn elem_name<'a>(&'a self, target: &'a Id) -> Name {
        match &self.nodes.borrow()[*target].kind {
            NodeKind::Element(name, _) => Name(name.clone()),
            _ => Name(QualName::new(None, Namespace::default(), LocalName::default())),
        }
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Id {
        self.add(NodeKind::Element(name, attributes))
    }

    fn create_comment(&self, _: StrTendril) -> Id {
        self.add(NodeKind::Other)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Id {
        self.add(NodeKind::Other)
    }

    fn append(&self, parent: &Id, child: NodeOrText<Id>) {
        self.insert(*parent, self.end_of(*parent), child);
    }

    fn append_based_on_parent_node(&self, element: &Id, previous: &Id, child: NodeOrText<Id>) {
        let has_parent = self.nodes.borrow()[*element].parent.is_some();
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Id) -> Id {
        *target
    }

    fn same_node(&self, x: &Id, y: &Id) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Id, child: NodeOrText<Id>) {
        if let NodeOrText::AppendNode(id) = &child {
            self.detach(*id);
        }
        let place = {
            let nodes = self.nodes.borrow();
            let parent = nodes[*sibling].parent;
            parent.and_then(|parent| {
                let at = nodes[parent].children.iter().rposition(|child| child == sibling)?;
                Some((parent, at))
            })
        };
        if let Some((parent, at)) = place {
            self.insert(parent, at, child);
        }
    }

    fn add_attrs_if_missing(&self, target: &Id, more: Vec<Attribute>) {
        if let NodeKind::Element(_, attributes) = &mut self.nodes.borrow_mut()[*target].kind {
            for attribute in more {
                if attributes.iter().all(|existing| existing.name != attribute.name) {
                    attributes.push(attribute);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &Id) {
        self.detach(*target);
    }

    fn reparent_children(&self, node: &Id, new_parent: &Id) {
        let mut nodes = self.nodes.borrow_mut();
        let children = std::mem::take(&mut nodes[*node].children);
        for child in &children {
            nodes[*child].parent = Some(*new_parent);
        }
        nodes[*new_parent].children.extend(children);
    }
}
