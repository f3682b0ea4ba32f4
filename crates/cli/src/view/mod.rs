//! Output for the user. Results go to standard output, everything else to standard error.
pub(crate) mod answer;
pub(crate) mod estimate;
pub(crate) mod feedback;
pub(crate) mod progress;
pub(crate) mod table;

use std::io::Write as _;

use console::style;

/// Prints a result. The error is a closed pipe, which ends the program quietly.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// Prints a result as one JSON value, indented.
pub(crate) fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&serde_json::to_string_pretty(value)?)
}

pub(crate) fn warn(text: &str) {
    print_to_stderr(&format!("{} {text}", style("warning:").for_stderr().yellow().bold()));
}

pub(crate) fn note(text: &str) {
    print_to_stderr(text);
}

/// Prints a line that is not a result. It is lost where standard error is closed (`2>&1 | head`):
/// no one is left to tell.
pub(crate) fn print_to_stderr(line: &str) {
    drop(writeln!(std::io::stderr().lock(), "{line}"));
}

/// The text on one line, shortened to `limit` characters.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= limit {
        return line;
    }
    let cut: String = line.chars().take(limit.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

/// `1234567` as `1,234,567`.
pub(crate) fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_read_well() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(123), "123");
        assert_eq!(duration(12.3), "12 ms");
        assert_eq!(duration(1234.0), "1.2 s");
        assert_eq!(duration(125_000.0), "2 min 5 s");
        assert_eq!(shorten("a  b\nc", 10), "a b c");
        assert_eq!(shorten("abcdefgh", 4), "abc…");
    }
}
