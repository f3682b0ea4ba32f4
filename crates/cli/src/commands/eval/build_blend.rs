//! `halma eval build-blend`: questions that need two sources of different kinds.
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use halma_core::{Cx, Hit, Layer, Meter};
use halma_engine::{ContextOptions, Engine, ListQuery, ListedNode, OFFLINE};
use halma_eval::blend::{Built, Wishes, Wording, build};

use crate::args::{Common, EvalBuildBlend, WordingArg};
use crate::commands::setup::{budget_flags, load_config, open_chosen, refuse_existing};
use crate::view;

pub(super) async fn run(args: EvalBuildBlend, common: &Common) -> anyhow::Result<()> {
    refuse_existing(&args.out, args.force)?;
    let config = load_config(common, budget_flags(&args.budget, "eval"))?.config;
    let budget = Arc::new(Meter::new(config.budget.eval));
    let engine = open_chosen(config, &args.kb)?;
    let wishes = Wishes {
        kinds: args.kinds.clone(),
        each: args.each as usize,
        seed: args.seed,
        wording: wording(&engine, args.wording),
        web: args.web.clone(),
    };
    let passages = passages(&engine)?;
    let built = build(&|| within(&engine, &budget), &passages, &wishes).await?;
    write(&args.out, &built)?;
    if args.json {
        return view::print_json(&built);
    }
    say(&built, &args.out)
}

fn within(engine: &Engine, budget: &Arc<Meter>) -> Cx {
    engine.context(ContextOptions { parent: Some(Arc::clone(budget)), ..ContextOptions::default() })
}

/// By the model of the role `proposer` where one is configured.
fn wording(engine: &Engine, requested: Option<WordingArg>) -> Wording {
    let by_rules = match requested {
        Some(requested) => matches!(requested, WordingArg::Rules),
        None => engine.model_for_role("proposer") == OFFLINE,
    };
    if by_rules { Wording::Rules } else { Wording::Model }
}

fn passages(engine: &Engine) -> anyhow::Result<Vec<Hit>> {
    let query = ListQuery { layer: Layer::Chunk, document: None, after: None, limit: usize::MAX };
    Ok(engine.base().inspector().list(&query)?.into_iter().map(hit).collect())
}

fn hit(listed: ListedNode) -> Hit {
    Hit {
        id: listed.id,
        layer: listed.layer,
        parent: None,
        document: listed.document,
        title: listed.title,
        section: listed.section,
        page: listed.page,
        text: listed.text,
        score: 0.0,
        cosine: None,
        parts: vec![],
        span: listed.span,
    }
}

fn write(file: &Path, built: &Built) -> anyhow::Result<()> {
    let lines = built.lines().context("the questions cannot be written as JSON")?;
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("{}: the folder cannot be created", folder.display()))?;
    }
    std::fs::write(file, lines)
        .with_context(|| format!("{}: it cannot be written; give another --out", file.display()))
}

fn say(built: &Built, file: &Path) -> anyhow::Result<()> {
    for (kind, missing) in &built.missing {
        let missing = view::plural(*missing as u64, "question", "questions");
        view::warn(&format!("{missing} of the kind {} could not be made", kind.name()));
    }
    let made: Vec<String> =
        built.made.iter().map(|(kind, made)| format!("{made} {}", kind.name())).collect();
    let tried = view::plural(built.bridges, "name", "names");
    view::print(&format!(
        "{} ({}) in {}\nTried {tried} as bridges; dropped: {}",
        view::plural(built.questions.len() as u64, "question", "questions"),
        made.join(", "),
        file.display(),
        built.reasons(),
    ))
}
