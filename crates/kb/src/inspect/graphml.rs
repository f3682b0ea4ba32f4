//! A base as `GraphML`, for programs that draw and measure graphs.
use std::io::Write;

use super::Inspector;
use super::export::{EdgeLine, ExportFailure, NodeLine};
use crate::store::StoreReader;

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="layer" for="node" attr.name="layer" attr.type="string"/>
<key id="label" for="node" attr.name="label" attr.type="string"/>
<key id="document" for="node" attr.name="document" attr.type="string"/>
<key id="text" for="node" attr.name="text" attr.type="string"/>
<key id="details" for="node" attr.name="details" attr.type="string"/>
<key id="kind" for="edge" attr.name="kind" attr.type="string"/>
<key id="weight" for="edge" attr.name="weight" attr.type="double"/>
<graph id="base" edgedefault="directed">
"#;

const END: &str = "</graph>\n</graphml>\n";

pub(super) fn write(reader: &StoreReader<'_>, into: &mut dyn Write) -> Result<(), ExportFailure> {
    into.write_all(HEAD.as_bytes())?;
    Inspector::each_node(reader, &mut |node| write_node(&node, into))?;
    Inspector::each_edge_line(reader, &mut |edge| write_edge(&edge, into))?;
    Ok(into.write_all(END.as_bytes())?)
}

fn write_node(node: &NodeLine, into: &mut dyn Write) -> Result<(), ExportFailure> {
    let details = serde_json::to_string(&node.details).map_err(std::io::Error::from)?;
    write!(into, "<node id=\"{}\">", escaped(&node.node.0))?;
    for (key, value) in [
        ("layer", node.layer.name()),
        ("label", &node.title),
        ("document", &node.document),
        ("text", &node.text),
        ("details", &details),
    ] {
        if !value.is_empty() {
            write!(into, "<data key=\"{key}\">{}</data>", escaped(value))?;
        }
    }
    Ok(into.write_all(b"</node>\n")?)
}

fn write_edge(edge: &EdgeLine, into: &mut dyn Write) -> Result<(), ExportFailure> {
    let (from, to) = (escaped(&edge.from.0), escaped(&edge.to.0));
    write!(
        into,
        "<edge source=\"{from}\" target=\"{to}\"><data key=\"kind\">{}</data>",
        edge.edge
    )?;
    Ok(writeln!(into, "<data key=\"weight\">{}</data></edge>", edge.weight)?)
}

/// A text as it may stand in XML 1.0, which has no word for most control characters.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\r' => out.push_str("&#13;"),
            '\t' | '\n' => out.push(c),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_can_stand_in_xml() {
        assert_eq!(escaped("a<b> & \"c\"\r\n"), "a&lt;b&gt; &amp; &quot;c&quot;&#13;\n");
        assert_eq!(
            escaped("\0\u{8}\u{b}\u{1b}\u{ffff}é\t"),
            "\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}é\t"
        );
    }
}
