//! XML parts of Office documents as trees, and what several readers ask of a node.
use roxmltree::{Document, ParsingOptions};

use crate::container::{Archive, member_text, refusal};
use crate::parsed::Refusal;

pub(super) type Node<'a> = roxmltree::Node<'a, 'a>;

/// Elements and texts of one part. The largest book in our samples has 300,000; a node takes
/// about 100 bytes.
const MAX_NODES: u32 = 8_000_000;

/// The text of a part that the document cannot do without.
pub(super) fn required(archive: &mut Archive<'_>, name: &str) -> Result<String, Refusal> {
    member_text(archive, name)
        .ok_or_else(|| refusal(&format!("it has no `{name}`"), "open it and save it again"))
}

/// The tree of a part. Document type declarations are refused: no Office program writes them.
pub(super) fn parse<'a>(name: &str, xml: &'a str) -> Result<Document<'a>, Refusal> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..Default::default() };
    let xml = xml.trim_start_matches('\u{feff}');
    Document::parse_with_options(xml, options).map_err(|error| {
        let reason = format!("it cannot be read: `{name}`: {error}");
        refusal(&reason, "it may be damaged: open it and save it again")
    })
}

/// The local name of an element; empty for anything else.
pub(super) fn name(node: Node<'_>) -> &str {
    if node.is_element() { node.tag_name().name() } else { "" }
}

/// The child elements of this local name.
pub(super) fn children<'a>(node: Node<'a>, wanted: &str) -> impl Iterator<Item = Node<'a>> {
    node.children().filter(move |child| name(*child) == wanted)
}

/// The first child element of this local name.
pub(super) fn child<'a>(node: Node<'a>, wanted: &str) -> Option<Node<'a>> {
    children(node, wanted).next()
}

/// The first descendant of this local name.
pub(super) fn descendant<'a>(node: Node<'a>, wanted: &str) -> Option<Node<'a>> {
    node.descendants().find(|child| name(*child) == wanted)
}

/// An attribute by its local name.
pub(super) fn attribute<'a>(node: Node<'a>, wanted: &str) -> Option<&'a str> {
    node.attributes().find(|attribute| attribute.name() == wanted).map(|a| a.value())
}

/// The attribute `wanted` of the relationships name space, as in `r:id`, where `id` may exist too.
pub(super) fn relation<'a>(node: Node<'a>, wanted: &str) -> Option<&'a str> {
    let is_relation = |uri: &str| uri.ends_with("/relationships");
    node.attributes()
        .find(|a| a.name() == wanted && a.namespace().is_some_and(is_relation))
        .map(|a| a.value())
}

/// `val` of the child `wanted`, as in `<w:ilvl w:val="1"/>`.
pub(super) fn value<'a>(node: Node<'a>, wanted: &str) -> Option<&'a str> {
    attribute(child(node, wanted)?, "val")
}

pub(super) fn number(node: Node<'_>, wanted: &str) -> Option<usize> {
    attribute(node, wanted)?.trim().parse().ok()
}

/// Whether a switch such as `w:tblHeader` is on: it is there and not `0`, `false` or `off`.
pub(super) fn is_on(node: Node<'_>, wanted: &str) -> bool {
    child(node, wanted)
        .is_some_and(|switch| !matches!(attribute(switch, "val"), Some("0" | "false" | "off")))
}

/// Of content in several versions the one for readers of today: `Choice`, else `Fallback`.
pub(super) fn choice(alternatives: Node<'_>) -> Option<Node<'_>> {
    child(alternatives, "Choice").or_else(|| child(alternatives, "Fallback"))
}

/// All text inside, as it stands.
pub(super) fn text(node: Node<'_>) -> String {
    node.descendants().filter(roxmltree::Node::is_text).filter_map(|n| n.text()).collect()
}
