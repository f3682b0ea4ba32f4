//! What a model found of the answers by criteria, as a table of the page.
use std::fmt::Write as _;

use super::escape::text;
use crate::Report;
use crate::report::ASSESSED;

pub(super) fn assessed(report: &Report) -> String {
    let rows = report.assessed();
    if rows.is_empty() {
        return String::new();
    }
    let left = |column: usize| if [1, 2, 5].contains(&column) { " class=\"left\"" } else { "" };
    let mut out = String::from(
        "<section class=\"card\" aria-labelledby=\"assessed-title\"><h2 id=\"assessed-title\">\
         Assessed by a model</h2><p class=\"hint\">Means over the answers for which a criterion \
         could be computed; what is left out is in no mean.</p>\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"assessed-title\">\
         <table><thead><tr>",
    );
    for (column, head) in ASSESSED.iter().enumerate() {
        let _ = write!(out, "<th scope=\"col\"{}>{head}</th>", left(column));
    }
    out.push_str("</tr></thead><tbody>");
    for row in rows {
        let [label, rest @ ..] = row;
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", text(&label));
        for (column, cell) in rest.iter().enumerate() {
            let _ = write!(out, "<td{}>{}</td>", left(column + 1), text(cell));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div></section>");
    out
}
