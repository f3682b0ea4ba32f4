//! Page numbers, and running heads and feet: lines in the margins that are the same on many pages.
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::layout::{Segment, by, spacing};
use super::text::PageText;

/// Running heads are the same on this share of the pages, in percent.
const RUNNING_SHARE: usize = 40;
const MIN_RUNNING_PAGES: usize = 3;
/// The share of a page's height that is its upper or lower margin.
const MARGIN: f64 = 0.14;
/// A head is this many times as far from the body as lines usually are from each other.
const APART: f64 = 1.4;
/// On a page with fewer lines a line apart is not a head.
const MIN_LINES: usize = 8;
/// Stands for the number of a page.
const PAGE: &str = "\u{c}";
const PAGE_WORDS: [&str; 8] = ["page", "p", "seite", "s", "página", "pagina", "sida", "side"];
/// Words between the number of a page and that of all pages.
const TOTAL_WORDS: [&str; 6] = ["of", "von", "de", "di", "sur", "av"];

/// Leaves out page numbers, and running heads and feet after the first page that has them.
pub(super) fn drop_running_heads(pages: &mut [PageText]) {
    let count = pages.len();
    let bodies: Vec<Range<f64>> = pages.iter().map(body).collect();
    let is_edge = |s: &Segment, page: usize| {
        s.words.first().is_some_and(|word| word.turned == 0) && !bodies[page].contains(&s.y)
    };
    // The number of a page may stand anywhere.
    let place = |s: &Segment, head: &str| match head.strip_prefix(PAGE) {
        Some(number) => number.to_owned(),
        None => format!("at {:.0} {:.0}", s.x0, s.y),
    };
    let mut places: HashMap<String, Vec<String>> = HashMap::new();
    for (page, text) in pages.iter().enumerate() {
        for edge in text.groups.iter().flatten().flatten().filter(|s| is_edge(s, page)) {
            let head = without_page(&edge.text().to_lowercase(), count - page);
            places.entry(place(edge, &head)).or_default().push(head);
        }
    }
    // Where other pages than the first have another text, it is a value, as in forms.
    places.retain(|_, heads| {
        heads.len() >= MIN_RUNNING_PAGES
            && heads.len() * 100 >= count * RUNNING_SHARE
            && heads[1..].iter().all(|head| *head == heads[1])
    });
    let mut read = HashSet::new();
    for (page, text) in pages.iter_mut().enumerate() {
        let mut stays = |s: &Segment| {
            let head = without_page(&s.text().to_lowercase(), count - page);
            !is_edge(s, page)
                || !places.contains_key(&place(s, &head))
                || !head.starts_with(PAGE) && read.insert(head)
        };
        for group in &mut text.groups {
            group.retain(|line| line.iter().filter(|s| stays(s)).count() > 0);
        }
    }
}

/// The base lines between head and foot, which are in the margins and apart from the body.
fn body(page: &PageText) -> Range<f64> {
    let segments = page.groups.iter().flatten().flatten();
    let level = segments.filter(|s| s.words.first().is_none_or(|word| word.turned == 0));
    let mut lines: Vec<(f64, f64)> = level.map(|s| (s.y, s.size)).collect();
    lines.sort_by(|a, b| by(a.0, b.0));
    let rows: usize = page.tables.iter().map(|table| table.rows.len()).sum();
    let spacing = spacing(lines.iter().map(|(y, _)| *y));
    let spacing = spacing.filter(|_| lines.len() + rows >= MIN_LINES).unwrap_or(f64::MAX);
    let is_apart = |pair: &&[(f64, f64)]| pair[1].0 - pair[0].0 > APART * spacing.max(pair[0].1);
    let gaps = || lines.windows(2).filter(is_apart);
    let head = gaps().rfind(|gap| gap[0].0 < MARGIN * page.height);
    let foot = gaps().find(|gap| gap[1].0 > (1.0 - MARGIN) * page.height);
    head.map_or(f64::MIN, |gap| gap[1].0)..foot.map_or(f64::MAX, |gap| gap[1].0)
}

/// The head with [`PAGE`] in place of the page's number, and that only if no more is said. A number
/// is that of the page after a word for it, or alone, if such numbers count the pages.
fn without_page(head: &str, pages_left: usize) -> String {
    let is_page = |word: &str| PAGE_WORDS.contains(&word);
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let words = head.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    // Years and numbers of invoices may count the pages as well.
    if let [number] = words[..]
        && let Ok(number @ ..1_000) = number.parse::<usize>()
    {
        return format!("{PAGE}{}", number + pages_left);
    }
    let is_said = |word: &&str| is_number(word) || is_page(word) || TOTAL_WORDS.contains(word);
    if words.iter().all(is_said) && !words.iter().all(|word| is_number(word)) {
        return PAGE.to_owned();
    }
    let is_after = |at: usize| at > 0 && is_page(words[at - 1]) && is_number(words[at]);
    let words = (0..words.len()).map(|at| if is_after(at) { PAGE } else { words[at] });
    words.collect::<Vec<_>>().join(" ")
}
