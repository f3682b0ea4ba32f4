//! The reference lists every option of the program and every key of the configuration.
use crate::tidy::{Source, Violation};

const ARGUMENTS: &str = "crates/cli/src/args/";
const COMMANDS: &str = "docs/reference/cli.md";
const TEMPLATE: &str = "crates/cli/src/halma.toml";
const CONFIGURATION: &str = "docs/reference/config.md";

pub(crate) fn check(sources: &[Source]) -> Vec<Violation> {
    let mut violations = listed(sources, ARGUMENTS, COMMANDS, options);
    violations.extend(listed(sources, TEMPLATE, CONFIGURATION, keys));
    violations
}

/// What is named in `from` and does not stand in the page.
fn listed(
    sources: &[Source],
    from: &str,
    page: &str,
    names: fn(&str) -> Vec<(String, usize)>,
) -> Vec<Violation> {
    let text = sources.iter().find(|source| source.path == page).map_or("", |page| &page.text);
    let hint = format!("describe it in {page}");
    let mut violations = vec![];
    for source in sources.iter().filter(|source| source.path.starts_with(from)) {
        for (name, line) in names(&source.text) {
            if !text.contains(&name) {
                violations.push(source.violation(
                    line,
                    format!("{name} is not in the docs"),
                    &hint,
                ));
            }
        }
    }
    violations
}

/// `` `--top `` for a field below `#[arg(long …)]`.
fn options(text: &str) -> Vec<(String, usize)> {
    let mut found = vec![];
    let mut long: Option<Option<&str>> = None;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with("#[arg(") && line.contains("long") {
            // `long = "name"` where the field has another name.
            let given = line.split_once("long = \"").and_then(|(_, rest)| rest.split('"').next());
            long = Some(given);
        } else if let Some((name, _)) = field(line)
            && let Some(given) = long.take()
        {
            let name = given.map_or_else(|| name.replace('_', "-"), str::to_owned);
            found.push((format!("`--{name}"), index + 1));
        }
    }
    found
}

fn field(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("pub(crate) ").unwrap_or(line);
    let (name, kind) = line.split_once(": ")?;
    let word = |c: char| c.is_ascii_lowercase() || c == '_';
    (!name.is_empty() && name.chars().all(word)).then_some((name, kind))
}

/// `` `key` `` for each `# key = …` of the template.
fn keys(text: &str) -> Vec<(String, usize)> {
    let mut found = vec![];
    let mut of_a_strategy = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start_matches(['#', ' ']);
        if line.starts_with('[') {
            // The pages of the strategies list their settings.
            of_a_strategy = line.starts_with("[strategy.");
        } else if let Some((name, _)) = line.split_once(" = ")
            && !of_a_strategy
            && name.chars().all(|c| c.is_ascii_lowercase() || c == '_')
        {
            found.push((format!("`{name}`"), index + 1));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::{said, sources};

    #[test]
    fn an_option_that_the_reference_forgot_is_found() {
        let arguments = "    /// How many\n    #[arg(long, value_name = \"K\")]\n    \
                         pub(crate) top_most: u32,\n    pub(crate) query: String,\n    \
                         #[arg(long)]\n    json: bool,\n";
        let files = sources(&[(ARGUMENTS, arguments), (COMMANDS, "| `--json` | prints |\n")]);
        assert_eq!(
            said(&check(&files)),
            [format!("{ARGUMENTS}:3: `--top-most is not in the docs")]
        );
    }

    #[test]
    fn a_key_that_the_reference_forgot_is_found() {
        let template = "[kb]\n# atoms = \"questions\"\n# words in a sentence\n# most = 3\n\
                        [strategy.kar3]\n# n = 5\n";
        let files = sources(&[(TEMPLATE, template), (CONFIGURATION, "| `atoms` | x |\n")]);
        assert_eq!(said(&check(&files)), [format!("{TEMPLATE}:4: `most` is not in the docs")]);
    }
}
