//! Output for the user. Results go to standard output, everything else to standard error.
pub(crate) mod answer;
pub(crate) mod estimate;
pub(crate) mod feedback;
pub(crate) mod index_report;
pub(crate) mod progress;

use std::borrow::Cow;
use std::io::Write as _;

use console::{StyledObject, style};
use halma_core::UsageTotal;
pub(crate) use halma_core::text::thousands;

/// Prints a result. The error is a closed pipe, which ends the program quietly. What a document or a
/// model has written cannot control a terminal.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let text = if console::Term::stdout().is_term() { harmless(text) } else { text.into() };
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// The text without control characters but for line ends, tabs and styles.
fn harmless(text: &str) -> Cow<'_, str> {
    let controls = |c: char| c.is_control() && !['\n', '\t'].contains(&c);
    if !text.contains(controls) {
        return text.into();
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(controls) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let style = style_length(rest);
        out.push_str(if style > 0 { &rest[..style] } else { "\u{fffd}" });
        let control = rest.chars().next().map_or(0, char::len_utf8);
        rest = &rest[style.max(control)..];
    }
    out.push_str(rest);
    out.into()
}

/// Bytes of the style (`ESC [ numbers m`) that a text begins with; 0 where it begins with none.
fn style_length(text: &str) -> usize {
    let Some(numbers) = text.strip_prefix("\u{1b}[") else { return 0 };
    let end = numbers.find(|c: char| !c.is_ascii_digit() && c != ';');
    end.filter(|end| numbers[*end..].starts_with('m')).map_or(0, |end| end + 3)
}

/// Prints a result as one JSON value, indented.
pub(crate) fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&serde_json::to_string_pretty(value)?)
}

pub(crate) fn warn(text: &str) {
    note(&format!("{} {text}", warning_label()));
}

/// What every warning on standard error begins with.
pub(crate) fn warning_label() -> StyledObject<&'static str> {
    style("warning:").for_stderr().yellow().bold()
}

/// What every error on standard error begins with.
pub(crate) fn error_label() -> StyledObject<&'static str> {
    style("error:").for_stderr().red().bold()
}

/// Prints a line that is not a result. It is lost where standard error is closed (`2>&1 | head`):
/// no one is left to tell.
pub(crate) fn note(line: &str) {
    drop(writeln!(std::io::stderr().lock(), "{line}"));
}

/// The text on one line, shortened to `limit` characters.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.replace(char::is_control, "\u{fffd}");
    if line.chars().count() <= limit {
        return line;
    }
    let cut: String = line.chars().take(limit.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

/// What was used, as `3 calls, 1,200 tokens, $0.0120`.
pub(crate) fn usage(usage: &UsageTotal) -> String {
    let tokens = thousands(usage.prompt_tokens + usage.completion_tokens);
    format!("{}, {tokens} tokens, ${:.4}", plural(usage.llm_calls, "call", "calls"), usage.usd)
}

/// What follows the name of a document.
pub(crate) fn page_suffix(page: Option<u32>) -> String {
    page.map(|page| format!(", page {page}")).unwrap_or_default()
}

pub(crate) fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(n), if n == 1 { one } else { many })
}

/// A duration in milliseconds, for people.
pub(crate) fn duration(ms: f64) -> String {
    match ms {
        ms if ms < 1000.0 => format!("{ms:.0} ms"),
        ms if ms < 90_000.0 => format!("{:.1} s", ms / 1e3),
        ms => format!("{:.0} min {:.0} s", (ms / 60_000.0).floor(), (ms % 60_000.0) / 1e3),
    }
}

/// Rows in aligned columns, each padded to its widest cell; the first row is the header.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| console::measure_text_width(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let pad = |(cell, width): (&String, &usize)| {
            console::pad_str(cell, *width, console::Alignment::Left, None).into_owned()
        };
        row.iter().zip(&widths).map(pad).collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_styles_control_the_terminal() {
        assert_eq!(harmless("a\tb\n\u{1b}[1;31mc\u{1b}[0m"), "a\tb\n\u{1b}[1;31mc\u{1b}[0m");
        assert_eq!(harmless("\u{1b}]0;title\u{7}\0x\u{1b}[2Jy\r"), "�]0;title��x�[2Jy�");
        assert_eq!(harmless("\u{1b}"), "�");
        assert_eq!(shorten("a\u{1b}[2J b", 20), "a�[2J b");
    }

    #[test]
    fn numbers_and_times_read_well() {
        assert_eq!(plural(1234, "row", "rows"), "1,234 rows");
        assert_eq!(duration(12.3), "12 ms");
        assert_eq!(duration(1234.0), "1.2 s");
        assert_eq!(duration(125_000.0), "2 min 5 s");
        assert_eq!(shorten("a  b\nc", 10), "a b c");
        assert_eq!(shorten("abcdefgh", 4), "abc…");
    }
}
