//! `halma plan`: `AtomR`'s plans, read as the strategy reads them.
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;
use halma_core::ConfigError;
use halma_engine::atomr::{Plan, Refusal, RepairKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::args::{Plan as Args, PlanCommand};
use crate::view::{self, plural, table::table};

/// The keys are documented in `docs/reference/cli.md`.
#[derive(Default, Serialize)]
struct CheckedPlans {
    total: usize,
    parsed: usize,
    refused: usize,
    repairs: BTreeMap<RepairKind, usize>,
    refusals: Vec<Refused>,
}

#[derive(Serialize)]
struct Refused {
    line: usize,
    reason: String,
}

/// A line of a file of plans: the plan is an object, or a string of JSON.
#[derive(Deserialize)]
struct Line {
    /// As in published plans of `AtomR`.
    reasoning_tree: Option<Value>,
    /// As models reply to the prompt `atomr/plan`.
    plan: Option<Value>,
}

impl Line {
    fn plan(self) -> Option<Value> {
        self.reasoning_tree.or(self.plan)
    }
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    match args.command {
        PlanCommand::Check { file, json } => check(&file, json),
        PlanCommand::Show { plan, line, json } => show(&plan, line, json),
    }
}

fn check(file: &Path, json: bool) -> anyhow::Result<()> {
    let mut checked = CheckedPlans::default();
    for (at, line) in lines(&text_of(file)?) {
        checked.total += 1;
        match parsed(line) {
            Ok(plan) => {
                checked.parsed += 1;
                for repair in plan.repairs {
                    *checked.repairs.entry(repair.kind).or_default() += 1;
                }
            }
            Err(reason) => checked.refusals.push(Refused { line: at, reason }),
        }
    }
    checked.refused = checked.refusals.len();
    if json {
        view::print_json(&checked)?;
    } else {
        view::print(&checked.table())?;
    }
    if checked.total > 0 && checked.parsed == 0 {
        anyhow::bail!("`{}`: no plan can be read; every line was refused", file.display());
    }
    Ok(())
}

impl CheckedPlans {
    fn table(&self) -> String {
        let mut out = format!(
            "{}: {} read, {} refused",
            plural(self.total as u64, "plan", "plans"),
            self.parsed,
            self.refused
        );
        let mut repairs: Vec<(&RepairKind, &usize)> = self.repairs.iter().collect();
        repairs.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let row = |(kind, count): (&RepairKind, &usize)| vec![kind.to_string(), count.to_string()];
        let mut rows: Vec<Vec<String>> = vec![vec!["repair".into(), "times".into()]];
        rows.extend(repairs.into_iter().map(row));
        if rows.len() > 1 {
            out.push_str("\n\n");
            out.push_str(&table(&rows));
        }
        let mut rows: Vec<Vec<String>> = vec![vec!["line".into(), "refused because".into()]];
        rows.extend(self.refusals.iter().map(|one| vec![one.line.to_string(), one.reason.clone()]));
        if rows.len() > 1 {
            out.push_str("\n\n");
            out.push_str(&table(&rows));
        }
        out
    }
}

fn show(plan: &str, line: Option<usize>, json: bool) -> anyhow::Result<()> {
    let (text, place) = if plan == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
        (text, "standard input".to_owned())
    } else {
        one_of(plan, line)?
    };
    let plan = read(&text).map_err(|reason| ConfigError {
        file: place,
        key: "plan".into(),
        reason,
        hint: "docs/strategies/atomr.md describes plans and how they are repaired".into(),
    })?;
    if json {
        return view::print_json(&plan);
    }
    let repairs =
        plan.repairs.iter().map(|repair| format!("repaired: {} ({})", repair.kind, repair.at));
    let lines: Vec<String> = std::iter::once(plan.draw()).chain(repairs).collect();
    view::print(&lines.join("\n"))
}

/// The text of the plan to show, and where it stands.
fn one_of(plan: &str, line: Option<usize>) -> anyhow::Result<(String, String)> {
    let named = plan.rsplit_once(':').and_then(|(file, at)| Some((file, at.parse().ok()?)));
    let (file, line) = match (named, line) {
        (Some((file, at)), None) if !Path::new(plan).exists() => (file, Some(at)),
        _ => (plan, line),
    };
    let text = text_of(Path::new(file))?;
    let numbered: Vec<(usize, &str)> = lines(&text).collect();
    let wrong = |reason: String| ConfigError {
        file: file.into(),
        key: "line".into(),
        reason,
        hint: format!("name one as `{file}:1`; `halma plan check {file}` reads all of them"),
    };
    let Some(line) = line else {
        let several = numbered.len() > 1 && numbered.iter().all(|(_, line)| line.starts_with('{'));
        return if several {
            Err(wrong(format!("there are {} plans", numbered.len())).into())
        } else {
            Ok((text, file.to_owned()))
        };
    };
    if let Some((_, found)) = numbered.iter().find(|(at, _)| *at == line) {
        return Ok(((*found).to_owned(), format!("{file}:{line}")));
    }
    let last = text.lines().count();
    Err(wrong(format!("there is no plan in line {line}; the last line is {last}")).into())
}

/// The lines that are not empty, from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    numbered.filter(|(_, line)| !line.is_empty())
}

fn text_of(file: &Path) -> anyhow::Result<String> {
    let bytes = std::fs::read(file).map_err(|e| ConfigError {
        file: file.display().to_string(),
        key: "file".into(),
        reason: format!("cannot be read: {e}"),
        hint: "name a file of lines with `reasoning_tree` or `plan`".into(),
    })?;
    // A line that is not UTF-8 is still a line: refused, or read without the invalid characters.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The plan of a line with `reasoning_tree` or `plan`.
fn parsed(line: &str) -> Result<Plan, String> {
    let line: Line =
        serde_json::from_str(line).map_err(|e| format!("the line is not a JSON object: {e}"))?;
    let tree = line.plan().ok_or("the line has no `reasoning_tree` and no `plan`")?;
    let text = tree.as_str().map_or_else(|| tree.to_string(), str::to_owned);
    Plan::parse(&text).map_err(|refusal: Refusal| refusal.to_string())
}

/// A line with `reasoning_tree` or `plan`, or the plan itself.
fn read(text: &str) -> Result<Plan, String> {
    match serde_json::from_str::<Line>(text).ok().and_then(Line::plan) {
        Some(_) => parsed(text),
        None => Plan::parse(text).map_err(|refusal| refusal.to_string()),
    }
}
