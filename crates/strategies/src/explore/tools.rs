//! The tools: what each of them shows, within the bounds of the settings.
use std::fmt::Write as _;

use halma_core::{Cx, Error, Filter, Layer, PassageQuery, Passages, Result, Which};
use serde_json::Value;

use super::Explore;
use super::work::{ToolCall, Work, cut};

/// Passages that `open` shows at most, however short they are.
const OPENED: usize = 30;

/// Passages before one that `around` shows, and with those after it.
const BEFORE: i64 = 2;
const AROUND: usize = 5;

/// Rows of a query that are shown, and characters of a linked node.
const ROWS: usize = 20;
const NODE: usize = 200;

impl Explore {
    /// Uses a tool; what it refuses is shown to the model.
    pub(super) async fn act(&self, call: &ToolCall, work: &mut Work, cx: &Cx) -> Result<String> {
        let line = call.line();
        if let Some(at) = work.steps.iter().position(|step| step.call == line) {
            return Ok(format!("already done in turn {}; make another call", at + 1));
        }
        match self.look(call, work, cx).await {
            Err(Error::Knowledge(reason)) => Ok(format!("refused: {reason}")),
            seen => {
                work.has_looked = true;
                seen
            }
        }
    }

    async fn look(&self, call: &ToolCall, work: &mut Work, cx: &Cx) -> Result<String> {
        let argument = call.argument.trim();
        let read = async |which, limit| {
            let query = PassageQuery { which, limit, filter: Filter::default() };
            cx.passages(&query).await
        };
        let mut head = String::new();
        let passages = match call.tool.as_str() {
            "answer" => return refused("nothing has been looked up yet"),
            _ if argument.is_empty() => return refused("`argument` is empty"),
            "search" => {
                let hits = self.near().to(argument, &[], cx).await?;
                let (total, hits) = (hits.len(), hits.into_iter().map(|hit| (hit, 0)).collect());
                Passages { hits, total, ..Passages::default() }
            }
            "grep" => read(Which::Matching(argument.to_owned()), self.hits).await?,
            "open" => read(Which::From(work.id(argument), call.from), OPENED).await?,
            "around" => read(Which::From(work.id(argument), -BEFORE), AROUND).await?,
            "neighbours" => return self.neighbours(&work.id(argument), cx).await,
            "sql" => self.sql(argument, &mut head, cx).await?,
            other => return refused(&format!("there is no tool `{other}`")),
        };
        let shared = if call.tool == "open" { 1 } else { self.hits };
        Ok(head + &self.write(passages, self.characters / shared, work))
    }

    async fn neighbours(&self, id: &str, cx: &Cx) -> Result<String> {
        let (neighbours, mut text) = (cx.neighbours(&id.into(), None).await?, String::new());
        for (edge, hit) in neighbours.iter().take(self.hits) {
            let (edge, layer, said) = (edge.name(), hit.layer.name(), cut(hit.text.trim(), NODE));
            let _ = writeln!(text, "{edge} {layer} `{}` {}: {said}", hit.id, hit.title);
        }
        Ok(format!("{text}({} linked nodes)", neighbours.len()))
    }

    /// The rows of a query, and the passages that they come from.
    async fn sql(&self, sql: &str, head: &mut String, cx: &Cx) -> Result<Passages> {
        let result = cx.run_sql(sql).await?;
        let mut text = result.columns.join(", ");
        for row in result.rows.iter().take(ROWS) {
            let _ = write!(text, "\n{}", Value::from(row.values.clone()));
        }
        let (rows, more) = (result.rows.len(), if result.cut { " and more" } else { "" });
        *head = format!("{}\n({rows}{more} rows)\n", cut(&text, self.characters));
        let mut hits = vec![];
        for id in result.rows.iter().flat_map(|row| &row.sources).take(self.hits) {
            hits.push((cx.get(id).await?, 0));
        }
        // The text of a table is that of all its rows.
        hits.retain(|(hit, _)| hit.layer == Layer::Row);
        Ok(Passages { total: hits.len(), hits, ..Passages::default() })
    }

    /// Passages under their numbers, as many as fit, each with this many characters of its text
    /// around a byte of it; one that is too long for a result is shown as far as it fits.
    fn write(&self, passages: Passages, characters: usize, work: &mut Work) -> String {
        let Passages { hits, first, total, limitation } = passages;
        let (mut out, mut left, mut end) = (String::new(), self.characters, first);
        for (hit, at) in hits {
            let length = hit.text.chars().count().min(characters);
            if length > left && end > first {
                break;
            }
            (left, end) = (left.saturating_sub(length), end + 1);
            let before = hit.text[..at].chars().rev().take(characters / 3);
            let start = at - before.map(char::len_utf8).sum::<usize>();
            let is_whole = length < characters;
            let mark = if start == 0 || is_whole { "" } else { "…" };
            let text = cut(hit.text[if is_whole { 0 } else { start }..].trim(), characters);
            let place = format!("{} ({})\n{mark}{text}", hit.title, hit.document);
            let _ = writeln!(out, "[{}] {place}\n", work.number(hit));
        }
        let limitation = limitation.unwrap_or_default();
        format!("{out}({first} to {end} of {total} passages) {limitation}").trim_end().to_owned()
    }
}

fn refused<T>(reason: &str) -> Result<T> {
    Err(Error::Knowledge(reason.into()))
}
