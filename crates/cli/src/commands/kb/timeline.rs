//! `halma kb timeline`: lists the dated events of an entity.
use console::style;
use halma_engine::{TimelineEvent, TimelineQuery};

use crate::args::{Common, KbTimeline};
use crate::commands::setup::open_base;
use crate::view::{self, plural, shorten, table};

/// Characters shown of what says so.
const SHOWN: usize = 110;

pub(super) fn run(args: KbTimeline, common: &Common) -> anyhow::Result<()> {
    let engine = open_base(&args.kb, common)?;
    let filter = args.filter.try_into()?;
    let query = TimelineQuery { entity: args.entity, filter, limit: args.top as usize };
    let timeline = engine.base().inspector().timeline(&query)?;
    if args.json {
        return view::print_json(&timeline);
    }
    let names = style(timeline.entities.join(", ")).bold();
    if timeline.unread > 0 {
        let passages = plural(timeline.unread, "passage", "passages");
        view::warn(&format!(
            "{passages} that name them were not read: of each entity the first 5,000 are; \
             restrict the documents with `--document`"
        ));
    }
    if timeline.events.is_empty() {
        return view::print(&format!("{names}: no dated event."));
    }
    let row = |event: &TimelineEvent| {
        vec![event.date.clone(), shorten(&event.text, SHOWN), event.document.clone()]
    };
    let rows: Vec<Vec<String>> = timeline.events.iter().map(row).collect();
    let count = plural(rows.len() as u64, "event", "events");
    let more = if timeline.cut { " (the first; `--top` shows more)" } else { "" };
    view::print(&format!("{names}: {count}{more}\n\n{}", table(&rows)))
}
