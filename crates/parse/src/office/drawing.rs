//! `DrawingML`, which Word and `PowerPoint` share: the texts of shapes, and diagrams (`SmartArt`).
use super::line::Line;
use super::package::Relations;
use super::xml::{self, Node};
use super::{chart, math};
use crate::container::{Archive, member_text};
use crate::writer::Writer;
use crate::writer::inline::Inline;
use crate::writer::script::Script;

/// All paragraphs of a text, each on a line.
pub(super) fn lines(body: Node<'_>, relations: &Relations) -> Inline {
    let mut lines = Inline::default();
    for paragraph in xml::children(body, "p") {
        lines.append(&words(paragraph, relations));
    }
    lines.trimmed()
}

/// The words of one paragraph.
pub(super) fn words(paragraph: Node<'_>, relations: &Relations) -> Inline {
    let mut line = Line::default();
    runs(paragraph, relations, &mut line);
    line.finish()
}

fn runs(parent: Node<'_>, relations: &Relations, line: &mut Line) {
    for node in parent.children() {
        match xml::name(node) {
            "r" | "fld" => {
                let about = xml::child(node, "rPr");
                let link = about.and_then(|about| xml::child(about, "hlinkClick"));
                let target = link.and_then(|link| relations.target(xml::relation(link, "id")?));
                let start = target.map_or(0, |_| line.inline().text.len());
                let text = xml::child(node, "t").map(xml::text).unwrap_or_default();
                line.push(&text, about.and_then(script));
                if let Some(target) = target {
                    line.inline().link_from(start, target);
                }
            }
            "br" => line.inline().break_line(),
            "oMath" | "oMathPara" => line.inline().push(&math::latex(node)),
            "AlternateContent" => {
                if let Some(content) = xml::choice(node) {
                    runs(content, relations, line);
                }
            }
            "m" => runs(node, relations, line),
            _ => {}
        }
    }
}

/// `baseline` says how far the run is raised, in thousandths of a percent or in percent.
fn script(about: Node<'_>) -> Option<Script> {
    let baseline = xml::attribute(about, "baseline")?.trim_end_matches('%');
    let baseline: f64 = baseline.parse().ok().filter(|baseline| *baseline != 0.0)?;
    Some(if baseline > 0.0 { Script::Super } else { Script::Sub })
}

/// Writes the charts and diagrams inside a drawing.
pub(super) fn graphics(
    drawing: Node<'_>,
    archive: &mut Archive<'_>,
    relations: &Relations,
    writer: &mut Writer,
) {
    for node in drawing.descendants() {
        let id = match xml::name(node) {
            "chart" => xml::relation(node, "id"),
            "relIds" => xml::relation(node, "dm"),
            _ => None,
        };
        let Some(path) = id.and_then(|id| relations.target(id)) else { continue };
        let text = member_text(archive, path).unwrap_or_default();
        match xml::parse(path, &text) {
            Ok(part) if xml::name(node) == "chart" => chart::write(part.root_element(), writer),
            Ok(part) => diagram(part.root_element(), writer),
            Err(_) => {
                writer.warn(format!("`{path}` is missing or damaged: open and save the file"))
            }
        }
    }
}

/// The texts of a diagram, each as an item.
fn diagram(root: Node<'_>, writer: &mut Writer) {
    for point in root.descendants().filter(|node| xml::name(*node) == "pt") {
        if let Some(body) = xml::child(point, "t") {
            writer.item(0, "-", &lines(body, &Relations::default()));
        }
    }
}
