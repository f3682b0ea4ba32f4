//! What a build reports at its end, for people.
use std::collections::HashMap;

use console::style;
use halma_core::UsageTotal;
use halma_engine::{IndexReport, ReadWarning, Refused};

use super::{duration, plural, thousands};

/// Names of documents, and of files with the same reason, that are listed.
const SHOWN: usize = 5;

/// Different warnings that are listed.
const MAX_WARNINGS: usize = 20;

/// The report of a build of the base that is shown as `base`.
pub(crate) fn summary(report: &IndexReport, base: &str) -> String {
    let mut lines: Vec<String> = document_line(report, base).into_iter().collect();
    lines.extend(changes_lines(report, base));
    lines.extend(usage_line(&report.usage));
    lines.extend(limit_line(report));
    lines.extend(refused_lines(&report.refused));
    lines.extend(warning_lines(&report.warnings));
    lines.join("\n")
}

/// What was made; `None` where nothing but fields of documents has changed.
fn document_line(report: &IndexReport, base: &str) -> Option<String> {
    let documents = report.documents_new + report.documents_unchanged + report.documents_replaced;
    let is_finished = report.failed_units + report.pending_units == 0;
    if documents == 0 && !report.refused.is_empty() {
        return Some("No document was indexed.".to_owned());
    }
    if report.only_fields_new() && is_finished {
        return report.nothing_new().then(|| match documents {
            0 => format!("Nothing to do: no work waits in {base}."),
            count => format!(
                "Nothing to do: {} already in {base}.",
                plural(count as u64, "document is", "documents are")
            ),
        });
    }
    Some(format!("{} in {base}: {}.", style(documents_made(report)).bold(), parts_made(report)))
}

fn documents_made(report: &IndexReport) -> String {
    if report.documents_new + report.documents_unchanged + report.documents_replaced == 0 {
        return "Resumed".to_owned();
    }
    let mut made = vec![plural(report.documents_new as u64, "new document", "new documents")];
    if report.documents_replaced > 0 {
        made.push(format!("{} replaced", thousands(report.documents_replaced as u64)));
    }
    if report.documents_unchanged > 0 {
        made.push(format!("{} unchanged", thousands(report.documents_unchanged as u64)));
    }
    made.join(", ")
}

fn parts_made(report: &IndexReport) -> String {
    let mut made = format!(
        "{} and {} in {}",
        plural(report.chunks as u64, "chunk", "chunks"),
        plural(report.atoms as u64, "atom", "atoms"),
        duration(report.elapsed_ms)
    );
    if report.embedded > 0 {
        made.push_str(", ");
        made.push_str(&plural(report.embedded as u64, "text embedded", "texts embedded"));
    }
    made
}

/// What became of documents that were in the base, and what was left out as a copy.
fn changes_lines(report: &IndexReport, base: &str) -> Vec<String> {
    let mut lines = vec![];
    let count = |documents: usize| plural(documents as u64, "document", "documents");
    if report.fields_changed > 0 {
        lines.push(format!("Changed the fields of {} in {base}.", count(report.fields_changed)));
    }
    let removed = &report.documents_removed;
    if !removed.is_empty() {
        lines.push(format!(
            "Removed {} that no file has any more: {}.",
            count(removed.len()),
            some_of(removed, removed.len())
        ));
    }
    if report.duplicates > 0 {
        let names = match report.duplicate_names.as_slice() {
            [] => String::new(),
            names => format!(": {}", some_of(names, report.duplicates)),
        };
        let skipped = count(report.duplicates);
        lines.push(format!("Skipped {skipped} with the text of another one{names}."));
    }
    lines
}

fn usage_line(usage: &UsageTotal) -> Option<String> {
    let tokens = usage.prompt_tokens + usage.completion_tokens;
    (tokens > 0).then(|| format!("{}.", super::usage(usage)))
}

fn limit_line(report: &IndexReport) -> Option<String> {
    report.spent.map(|limit| {
        format!(
            "{} Raise the budget and run the same command to resume.",
            style(format!("Stopped: the limit of {limit} is reached.")).yellow()
        )
    })
}

/// A line for each reason for which files or records were not indexed.
fn refused_lines(refused: &[Refused]) -> Vec<String> {
    let place = |one: &Refused| match one.line {
        Some(line) => format!("{}:{line}", one.file.display()),
        None => one.file.display().to_string(),
    };
    let label = style("skipped").yellow().to_string();
    let line = |(reason, same): (&str, Vec<&Refused>)| {
        let hint = same.first().map_or("", |one| &one.hint);
        let places: Vec<String> = same.iter().map(|one| place(one)).collect();
        line_of(&label, &format!("{reason} ({hint})"), &places)
    };
    by_reason(refused, |one| &one.reason).into_iter().map(line).collect()
}

/// A line for each thing that was not read of indexed files, likewise.
fn warning_lines(warnings: &[ReadWarning]) -> Vec<String> {
    let label = style("warning").yellow().to_string();
    // Most name pages or attachments of their own.
    let mut all: Vec<_> = by_reason(warnings, |one| &one.warning);
    let more: usize = all.iter().skip(MAX_WARNINGS).map(|(_, same)| same.len()).sum();
    all.truncate(MAX_WARNINGS);
    let line = |(warning, same): (&str, Vec<&ReadWarning>)| {
        let places: Vec<String> = same.iter().map(|one| one.file.display().to_string()).collect();
        line_of(&label, warning, &places)
    };
    let more = (more > 0).then(|| {
        let more = thousands(more as u64);
        format!("{label} {more} more of what was not read; `--json` lists all")
    });
    all.into_iter().map(line).chain(more).collect()
}

fn line_of(label: &str, reason: &str, places: &[String]) -> String {
    if let [place] = places {
        return format!("{label} {place}: {reason}");
    }
    let count = thousands(places.len() as u64);
    format!("{label} {count}: {reason}: {}", some_of(places, places.len()))
}

/// What has the same reason, in the order of the first ones.
fn by_reason<T>(all: &[T], reason: impl Fn(&T) -> &str) -> Vec<(&str, Vec<&T>)> {
    let mut reasons: Vec<(&str, Vec<&T>)> = vec![];
    let mut places: HashMap<&str, usize> = HashMap::new();
    for one in all {
        let place = *places.entry(reason(one)).or_insert(reasons.len());
        match reasons.get_mut(place) {
            Some((_, same)) => same.push(one),
            None => reasons.push((reason(one), vec![one])),
        }
    }
    reasons
}

/// Names, the first ones of many.
fn some_of(names: &[String], total: usize) -> String {
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match total.saturating_sub(names.len().min(SHOWN)) {
        0 => shown,
        more => format!("{shown} and {} more", thousands(more as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_that_only_embeds_says_how_many_texts() {
        let report = IndexReport {
            documents_unchanged: 3,
            embedded: 1065,
            elapsed_ms: 48_600.0,
            ..IndexReport::default()
        };
        let summary = summary(&report, ".halma");
        assert!(
            summary.ends_with("0 chunks and 0 atoms in 48.6 s, 1,065 texts embedded."),
            "{summary}"
        );
    }

    #[test]
    fn a_build_without_files_says_what_it_resumed() {
        let idle = IndexReport::default();
        assert_eq!(summary(&idle, ".halma"), "Nothing to do: no work waits in .halma.");
        let resumed = IndexReport { embedded: 2, ..idle };
        assert!(summary(&resumed, ".halma").contains("Resumed in .halma:"));
    }

    #[test]
    fn what_was_not_read_of_a_file_is_reported() {
        let warning = |page: usize| ReadWarning {
            file: "scan.pdf".into(),
            warning: format!("page {page} is a scan and is not read"),
        };
        let warnings: Vec<_> = (0..30).map(warning).collect();
        let report = IndexReport { documents_new: 1, warnings, ..IndexReport::default() };
        let summary = summary(&report, ".halma");
        assert!(summary.contains("scan.pdf: page 0 is a scan and is not read"), "{summary}");
        assert!(summary.ends_with("10 more of what was not read; `--json` lists all"), "{summary}");
    }

    #[test]
    fn files_with_the_same_reason_are_one_line() {
        let refused = |number: usize, reason: &str| Refused {
            file: format!("{number}.json").into(),
            line: None,
            reason: reason.into(),
            hint: "h".into(),
        };
        let mut all: Vec<Refused> = (0..505).map(|i| refused(i, "it is not HotpotQA")).collect();
        all.push(refused(505, "it is empty"));
        let lines = refused_lines(&all);
        assert_eq!(lines.len(), 2);
        let many =
            "505: it is not HotpotQA (h): 0.json, 1.json, 2.json, 3.json, 4.json and 500 more";
        assert!(lines[0].ends_with(many), "{}", lines[0]);
        assert!(lines[1].contains("505.json: it is empty"), "{}", lines[1]);
    }
}
