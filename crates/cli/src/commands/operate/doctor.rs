//! `halma doctor`: checks configuration, models, embedder and knowledge base.
use console::style;
use halma_engine::{Finding, Health, examine, fetch_weights};

use crate::args::{Common, Doctor};
use crate::commands::setup::load_config;
use crate::view::{self, note};

pub(crate) async fn run(args: &Doctor, common: &Common) -> anyhow::Result<()> {
    if args.fetch {
        let dir = tokio::task::spawn_blocking(fetch_weights).await??;
        note(&format!("The weights of the local embedder are in {}.", dir.display()));
    }
    let loaded = load_config(common, vec![])?;
    let config = &loaded.config;
    let mut findings = Box::pin(examine(config, &args.kb.chosen(config))).await;
    if let Err(e) = halma_server::check_settings(&loaded) {
        let message = format!("{e}. {}", e.hint);
        findings.push(Finding { component: "serve".into(), health: Health::Bad, message });
    }
    if args.json {
        view::print_json(&findings)?;
    } else {
        for finding in &findings {
            let mark = match finding.health {
                Health::Good => style("ok  ").green(),
                Health::Warning => style("warn").yellow(),
                Health::Bad => style("bad ").red(),
            };
            view::print(&format!("{mark}  {:<18} {}", finding.component, finding.message))?;
        }
    }
    let bad = findings.iter().filter(|finding| finding.health == Health::Bad).count();
    if bad > 0 {
        anyhow::bail!("{bad} of {} checks failed", findings.len());
    }
    Ok(())
}
