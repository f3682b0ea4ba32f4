//! XML parts of Office documents as trees, and what several readers ask of a node.
use roxmltree::{Document, ParsingOptions};

use crate::container::{Archive, member_text, refusal};
use crate::parsed::Refusal;

pub(super) type Node<'a> = roxmltree::Node<'a, 'a>;

/// Elements and texts of one part. The largest book in our samples has 300,000; a node takes
/// about 100 bytes.
const MAX_NODES: u32 = 8_000_000;
/// Elements inside elements. Word nests a few dozen.
const MAX_DEPTH: usize = 2_000;

/// The text of a part that the document cannot do without.
pub(super) fn required(archive: &mut Archive<'_>, name: &str) -> Result<String, Refusal> {
    member_text(archive, name)
        .ok_or_else(|| refusal(&format!("it has no `{name}`"), "open it and save it again"))
}

/// The tree of a part. Document type declarations are refused: no Office program writes them.
pub(super) fn parse<'a>(name: &str, xml: &'a str) -> Result<Document<'a>, Refusal> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..Default::default() };
    let xml = xml.trim_start_matches('\u{feff}');
    if depth(xml) > MAX_DEPTH {
        let reason = format!("`{name}` inside nests more than {MAX_DEPTH} elements");
        return Err(refusal(&reason, "the file is corrupt or unsafe: save it again"));
    }
    Document::parse_with_options(xml, options).map_err(|error| {
        let reason = format!("it cannot be read: `{name}`: {error}");
        refusal(&reason, "it may be damaged: open it and save it again")
    })
}

/// How deep elements nest.
fn depth(xml: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for tag in xml.split('<').skip(1) {
        let is_empty = tag.split('>').next().is_some_and(|tag| tag.ends_with('/'));
        match tag.as_bytes().first() {
            Some(b'/') => depth = depth.saturating_sub(1),
            Some(b'!' | b'?') => {}
            _ => depth += usize::from(!is_empty),
        }
        deepest = deepest.max(depth);
    }
    deepest
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
    child(node, wanted).is_some_and(is_set)
}

/// Whether a switch that is there is on.
pub(super) fn is_set(switch: Node<'_>) -> bool {
    !matches!(attribute(switch, "val"), Some("0" | "false" | "off"))
}

/// Of content in several versions the one for readers of today: `Choice`, else `Fallback`.
pub(super) fn choice(alternatives: Node<'_>) -> Option<Node<'_>> {
    child(alternatives, "Choice").or_else(|| child(alternatives, "Fallback"))
}

/// All text inside, as it stands.
pub(super) fn text(node: Node<'_>) -> String {
    node.descendants().filter(roxmltree::Node::is_text).filter_map(|n| n.text()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_without_end_are_refused() {
        let refused = parse("a.png", &"<a>".repeat(MAX_DEPTH + 1)).unwrap_err();
        assert!(refused.reason.contains("nests"), "{refused:?}");
        let flat = "<a b=\"1\"/><c></c><!-- d -->".repeat(MAX_DEPTH);
        parse("a.xml", &format!("<r>{flat}</r>")).unwrap();
    }
}
