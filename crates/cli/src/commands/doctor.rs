//! `halma doctor`: is everything there?
use console::style;
use halma_engine::{Health, examine, fetch_weights};

use super::setup::loaded;
use crate::args::{Common, Doctor};
use crate::view::{self, note};

pub(crate) async fn run(args: &Doctor, common: &Common) -> anyhow::Result<()> {
    if args.fetch {
        let dir = tokio::task::spawn_blocking(fetch_weights).await??;
        note(&format!("The local embedder's weights are in {}.", dir.display()));
    }
    let config = loaded(common, vec![])?.config;
    let findings = examine(&config, &args.kb.kb).await;
    if args.json {
        view::say_json(&findings)?;
    } else {
        for finding in &findings {
            let mark = match finding.health {
                Health::Good => style("ok  ").green(),
                Health::Warning => style("warn").yellow(),
                Health::Bad => style("bad ").red(),
            };
            view::say(&format!("{mark}  {:<18} {}", finding.what, finding.told))?;
        }
    }
    let bad = findings.iter().filter(|finding| finding.health == Health::Bad).count();
    if bad > 0 {
        anyhow::bail!("{bad} of {} findings are bad", findings.len());
    }
    Ok(())
}
