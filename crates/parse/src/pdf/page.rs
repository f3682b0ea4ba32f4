//! What stands on a page: words with their places, ruled lines and pictures, as the content of the
//! page draws them. Coordinates are points from the upper left corner of the page as it is shown.
use std::collections::HashMap;
use std::time::Instant;

use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_syntax::object::{Dict, Name};
use hayro_interpret::kurbo::{Affine, BezPath, PathEl, Point, Rect, Shape};
use hayro_interpret::{
    BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask,
};

use super::pictures::{Picture, encode};
use super::{bidi, scripts};

/// Glyphs, rules and pictures of one page that are looked at.
const MAX_GLYPHS: usize = 300_000;
const MAX_RULES: usize = 20_000;
const MAX_PICTURES: usize = 50;
/// A gap between letters from here on (in units of the font size) parts words.
const WORD_GAP: f64 = 0.17;
/// Letters on one line may be this far from its base line, as indices are.
const SAME_LINE: f64 = 0.4;
/// A filled area up to this thick is a ruled line.
const MAX_RULE_WIDTH: f64 = 2.5;
/// A shorter line is a part of a drawing.
const MIN_RULE_LENGTH: f64 = 6.0;

/// One word. Text that runs upwards, downwards or upside down is turned, so that it runs to the
/// right; the places of such words are meaningful among themselves only.
#[derive(Debug, Clone, Default)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) x0: f64,
    pub(super) x1: f64,
    /// Of the base line.
    pub(super) y: f64,
    /// The size of the font.
    pub(super) size: f64,
    /// The area that its glyphs cover, and the width that they take, in sizes of the font: their
    /// ratio tells bold letters, for which few PDFs have another sign.
    pub(super) ink: Ink,
    /// In quarter turns.
    pub(super) turned: usize,
    /// Its place among the links of the page.
    pub(super) link: Option<usize>,
    pub(super) after_space: bool,
}

impl Word {
    /// Whether `next` follows without a space, as a part of the same word.
    pub(super) fn is_beside(&self, next: &Self) -> bool {
        !next.after_space
            && self.turned == next.turned
            && self.link == next.link
            && (self.y - next.y).abs() < SAME_LINE * self.size.max(next.size)
            && (-0.5 * next.size..WORD_GAP * next.size).contains(&(next.x0 - self.x1))
    }

    pub(super) fn add(&mut self, next: &Self) {
        self.text.push_str(&next.text);
        self.ink.add(next.ink);
        self.x1 = self.x1.max(next.x1);
        // The line of a word is that of its largest letters.
        if next.size > self.size {
            (self.size, self.y) = (next.size, next.y);
        }
    }
}

/// Area and width of glyphs, in units of the font size.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ink {
    pub(super) area: f64,
    pub(super) width: f64,
}

impl Ink {
    pub(super) fn add(&mut self, other: Self) {
        self.area += other.area;
        self.width += other.width;
    }

    /// How much of its width is covered; `None` when nothing is known.
    pub(super) fn density(self) -> Option<f64> {
        (self.width > 0.0 && self.area > 0.0).then(|| self.area / self.width)
    }
}

/// For each glyph its area in units of the font size.
pub(super) type Areas = HashMap<u128, f64>;

/// A ruled line that is level or upright.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) level: bool,
    /// The coordinate that all its points share.
    pub(super) at: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

/// An area of a page that leads somewhere.
pub(super) struct LinkArea {
    pub(super) area: Rect,
    pub(super) target: String,
}

/// What reading one page may use.
pub(super) struct Limits {
    /// Bytes of pictures.
    pub(super) picture_room: usize,
    pub(super) until: Instant,
}

/// Gathers a page while it is drawn.
pub(super) struct Collector<'l> {
    areas: &'l mut Areas,
    pub(super) words: Vec<Word>,
    pub(super) rules: Vec<Rule>,
    pub(super) pictures: Vec<Picture>,
    /// Whether a picture of any kind was drawn.
    pub(super) has_picture: bool,
    links: &'l [LinkArea],
    /// For each open marked content whether it is an artifact, as running heads are.
    artifacts: Vec<bool>,
    glyphs: usize,
    /// Glyphs whose fonts do not say which characters they are.
    pub(super) unknown: usize,
    /// Whether the last glyph was a space, so that the next one begins a word.
    space: bool,
    /// Bytes of pictures that may still be kept.
    pub(super) picture_room: usize,
    until: Instant,
}

impl<'l> Collector<'l> {
    pub(super) fn new(links: &'l [LinkArea], areas: &'l mut Areas, limits: &Limits) -> Self {
        Self {
            areas,
            words: vec![],
            rules: vec![],
            pictures: vec![],
            has_picture: false,
            links,
            artifacts: vec![],
            glyphs: 0,
            unknown: 0,
            space: true,
            picture_room: limits.picture_room,
            until: limits.until,
        }
    }

    /// `advance` is the width of the glyph in thousandths of the font size.
    #[expect(clippy::many_single_char_names, reason = "the names that PDF gives a matrix")]
    fn glyph(&mut self, text: String, transform: Affine, advance: f64, ink: Ink) {
        let [a, b, c, d, e, f] = transform.as_coeffs();
        let size = c.hypot(d) * 1_000.0;
        if !(0.5..=2_000.0).contains(&size) || ![e, f, advance].iter().all(|at| at.is_finite()) {
            return;
        }
        let (turned, x, y) = match () {
            () if a.abs() >= b.abs() && a >= 0.0 => (0, e, f),
            () if a.abs() >= b.abs() => (2, -e, -f),
            () if b >= 0.0 => (1, f, -e),
            () => (3, -f, e),
        };
        if text.chars().all(char::is_whitespace) {
            self.space = true;
            return;
        }
        let middle = Point::new(e + (a * advance) / 2.0, f + (b * advance) / 2.0 - size * 0.3);
        let target = self.links.iter().position(|link| link.area.contains(middle));
        let after_space = std::mem::take(&mut self.space);
        let x1 = x + advance * a.hypot(b);
        let next = Word { text, x0: x, x1, y, size, ink, turned, link: target, after_space };
        match self.words.last_mut() {
            Some(word) if word.is_beside(&next) && !scripts::differ(word, &next) => word.add(&next),
            _ => self.words.push(next),
        }
    }

    fn area(&mut self, glyph: &Glyph<'_>) -> f64 {
        let Glyph::Outline(glyph) = glyph else { return 0.0 };
        let key = glyph.identifier().cache_key();
        *self.areas.entry(key).or_insert_with(|| glyph.outline().area().abs() / 1e6)
    }

    fn rule(&mut self, from: Point, to: Point) {
        let (width, height) = ((to.x - from.x).abs(), (to.y - from.y).abs());
        let rule = if height <= 0.5 && width >= MIN_RULE_LENGTH {
            Rule { level: true, at: from.y, from: from.x.min(to.x), to: from.x.max(to.x) }
        } else if width <= 0.5 && height >= MIN_RULE_LENGTH {
            Rule { level: false, at: from.x, from: from.y.min(to.y), to: from.y.max(to.y) }
        } else {
            return;
        };
        if self.rules.len() < MAX_RULES {
            self.rules.push(rule);
        }
    }

    /// The library has no way to be stopped; the worker turns a panic into a refusal.
    fn check_time(&self) {
        assert!(Instant::now() < self.until, "the time is up");
    }

    /// A filled area that is as thin as a line.
    fn filled(&mut self, area: Rect) {
        let middle = area.center();
        if area.height() <= MAX_RULE_WIDTH {
            self.rule(Point::new(area.x0, middle.y), Point::new(area.x1, middle.y));
        } else if area.width() <= MAX_RULE_WIDTH {
            self.rule(Point::new(middle.x, area.y0), Point::new(middle.x, area.y1));
        }
    }
}

impl<'a> Device<'a> for Collector<'_> {
    fn draw_path(&mut self, path: &BezPath, props: DrawProps<'a>, mode: &DrawMode) {
        self.check_time();
        // More elements are a drawing.
        if path.elements().len() > 1_000 || self.rules.len() >= MAX_RULES {
            return;
        }
        let path = props.transform * path.clone();
        if matches!(mode, DrawMode::Fill(_)) {
            // One path may hold many areas.
            let mut part = BezPath::new();
            for element in path.elements() {
                if matches!(element, PathEl::MoveTo(_)) && !part.is_empty() {
                    self.filled(part.bounding_box());
                    part = BezPath::new();
                }
                part.push(*element);
            }
            if !part.is_empty() {
                self.filled(part.bounding_box());
            }
            return;
        }
        let (mut start, mut at) = (Point::ZERO, Point::ZERO);
        for element in path.elements() {
            match *element {
                PathEl::MoveTo(to) => (start, at) = (to, to),
                PathEl::LineTo(to) => {
                    self.rule(at, to);
                    at = to;
                }
                PathEl::ClosePath => {
                    self.rule(at, start);
                    at = start;
                }
                PathEl::QuadTo(_, to) | PathEl::CurveTo(_, _, to) => at = to,
            }
        }
    }

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, _: &DrawMode) {
        self.check_time();
        self.glyphs += run.glyphs().len();
        if self.glyphs > MAX_GLYPHS || self.artifacts.contains(&true) {
            return;
        }
        for glyph in run.glyphs() {
            let Some(unicode) = glyph.as_unicode() else {
                self.unknown += 1;
                continue;
            };
            let text = match unicode {
                hayro_interpret::hayro_cmap::BfString::Char(c) => {
                    readable(c.encode_utf8(&mut [0; 4]))
                }
                hayro_interpret::hayro_cmap::BfString::String(text) => readable(&text),
            };
            let advance = match &**glyph {
                Glyph::Outline(glyph) => glyph.advance_width(),
                Glyph::Type3(glyph) => glyph.advance_width(),
            };
            let advance = f64::from(advance.unwrap_or(500.0));
            let ink = Ink { area: self.area(glyph), width: advance / 1_000.0 };
            self.glyph(bidi::as_seen(text), props.transform * glyph.transform(), advance, ink);
        }
    }

    fn draw_image(&mut self, image: Image<'a, '_>, props: ImageDrawProps<'a>) {
        self.check_time();
        self.has_picture = true;
        let Image::Raster(image) = image else { return };
        if self.pictures.len() >= MAX_PICTURES || self.artifacts.contains(&true) {
            return;
        }
        if let Some(picture) = encode(&image, props.transform, self.picture_room) {
            self.picture_room -= picture.bytes.len();
            self.pictures.push(picture);
        }
    }

    fn begin_marked_content(&mut self, tag: &[u8], properties: Option<&Dict<'_>>) {
        self.check_time();
        let kind = properties.and_then(|properties| properties.get::<Name<'_>>(b"Type".as_slice()));
        let is_running = kind.is_some_and(|kind| kind.as_ref() == b"Pagination");
        self.artifacts.push(tag == b"Artifact" && is_running);
    }

    fn end_marked_content(&mut self) {
        self.artifacts.pop();
    }

    fn push_clip_path(&mut self, _: &ClipPath) {
        // Forms that draw each other, and nothing else, are seen here only.
        self.check_time();
    }
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}

/// Ligatures as letters, without characters that only a font gives a meaning.
fn readable(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\u{fb00}' => out.push_str("ff"),
            '\u{fb01}' => out.push_str("fi"),
            '\u{fb02}' => out.push_str("fl"),
            '\u{fb03}' => out.push_str("ffi"),
            '\u{fb04}' => out.push_str("ffl"),
            '\u{fb05}' | '\u{fb06}' => out.push_str("st"),
            // Bullets of symbol fonts.
            '\u{f0b7}' | '\u{f0a7}' | '\u{f0d8}' | '\u{f076}' => out.push('•'),
            '\u{e000}'..='\u{f8ff}' | '\u{ad}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    if out.is_empty() { " ".to_owned() } else { out }
}
