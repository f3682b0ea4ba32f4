//! `halma kb cache`: what the stored replies of models take, and their removal.
use halma_engine::{CacheUse, DailyFigures, clear_cache};

use crate::args::{Common, KbCache};
use crate::commands::setup::load_config;
use crate::view::{self, plural, table};

pub(super) fn run(args: &KbCache, common: &Common) -> anyhow::Result<()> {
    let config = load_config(common, vec![])?.config;
    let kb = args.kb.chosen(&config);
    if args.clear {
        let former = clear_cache(&kb)?;
        if args.json {
            return view::print_json(&former);
        }
        return view::print(&format!(
            "Removed {} from {}: {} are free.",
            plural(former.replies, "cached reply", "cached replies"),
            args.kb.shown(&config)?,
            size(former.bytes_on_disk),
        ));
    }
    let cache = CacheUse::read(&kb)?;
    if args.json {
        return view::print_json(&cache);
    }
    view::print(&lines(&cache, config.cache.max_bytes))
}

fn lines(cache: &CacheUse, limit: u64) -> String {
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let replies = plural(cache.replies, "reply", "replies");
    let used = size(cache.bytes_in_use);
    table(&[
        row("models", format!("{replies}, {used} of at most {}", size(limit))),
        row("  on disk", size(cache.bytes_on_disk)),
        row("web", daily(&cache.web)),
        row("kg", daily(&cache.kg)),
    ])
}

fn daily(figures: &DailyFigures) -> String {
    let replies = plural(figures.replies, "reply", "replies");
    let days = match (&figures.oldest, &figures.newest) {
        (Some(oldest), Some(newest)) if oldest != newest => format!(", {oldest} to {newest}"),
        (Some(day), _) => format!(", {day}"),
        (None, _) => String::new(),
    };
    format!("{replies}, {}{days}", size(figures.bytes))
}

#[expect(clippy::cast_precision_loss, reason = "only shown")]
fn size(bytes: u64) -> String {
    let megabytes = bytes as f64 / 1e6;
    if megabytes < 1e3 {
        format!("{megabytes:.1} MB")
    } else {
        format!("{:.1} GB", megabytes / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_shown_by_kind() {
        let web = DailyFigures {
            replies: 2,
            bytes: 1_500_000,
            oldest: Some("2026-01-01".into()),
            newest: Some("2026-01-03".into()),
        };
        let cache = CacheUse {
            replies: 1_234,
            bytes_in_use: 2_000_000,
            bytes_on_disk: 5_000_000,
            web,
            kg: DailyFigures::default(),
        };
        let shown = lines(&cache, 20_000_000_000);
        for part in [
            "1,234 replies, 2.0 MB of at most 20.0 GB",
            "5.0 MB",
            "2 replies, 1.5 MB, 2026-01-01 to 2026-01-03",
            "0 replies, 0.0 MB",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }
}
