//! A small pen for SVG. Looks are classes of the page's style sheet, so that light and dark need
//! no second drawing; coordinates are rounded to a tenth.
use std::fmt::Write as _;

use crate::html::escape::text;

/// Where a text stands to its point.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

pub(super) struct Svg {
    width: f64,
    height: f64,
    /// What it shows, for those who do not see it.
    description: String,
    body: String,
}

impl Svg {
    pub(super) fn new(width: f64, height: f64, description: impl Into<String>) -> Self {
        Self { width, height, description: description.into(), body: String::new() }
    }

    pub(super) fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let _ = write!(
            self.body,
            "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        );
    }

    /// A bar with a title that shows when it is pointed at.
    pub(super) fn bar(&mut self, class: &str, corner: (f64, f64), size: (f64, f64), title: &str) {
        let ((x, y), (width, height)) = (corner, size);
        let (width, height) = (width.max(0.0), height.max(0.0));
        let _ = write!(
            self.body,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\" rx=\"2\"><title>{}</title></rect>",
            text(title)
        );
    }

    pub(super) fn dot(&mut self, class: &str, (x, y): (f64, f64), radius: f64, title: &str) {
        let _ = write!(
            self.body,
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"><title>{}</title></circle>",
            text(title)
        );
    }

    pub(super) fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, words: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = write!(
            self.body,
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
            text(words)
        );
    }

    /// A line through the points; closed to an area where `area` is set.
    pub(super) fn path(&mut self, class: &str, points: &[(f64, f64)], area: bool) {
        if points.is_empty() {
            return;
        }
        let mut d = String::new();
        for (i, (x, y)) in points.iter().enumerate() {
            let _ = write!(d, "{}{x:.1} {y:.1}", if i == 0 { "M" } else { "L" });
        }
        if area {
            d.push('Z');
        }
        let _ = write!(self.body, "<path class=\"{class}\" d=\"{d}\"/>");
    }

    pub(super) fn finish(self) -> String {
        let Self { width, height, description, body } = self;
        format!(
            "<svg class=\"plot\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" \
             aria-label=\"{}\">{body}</svg>",
            text(&description)
        )
    }
}

/// About how wide a text is at the plots' size of 12 units: for keeping labels apart.
pub(super) fn width(words: &str) -> f64 {
    words.chars().map(|c| if c.is_ascii() { 6.4 } else { 8.5 }).sum()
}

/// The words, cut to about this width.
pub(super) fn fitted(words: &str, room: f64) -> String {
    if width(words) <= room {
        return words.to_owned();
    }
    let mut cut = String::new();
    for c in words.chars() {
        cut.push(c);
        if width(&cut) > room - 10.0 {
            break;
        }
    }
    cut.push('…');
    cut
}
