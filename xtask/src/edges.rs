//! The floors: which crate may use which (the table of `ARCHITECTURE.md`, as data).
use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::tidy::{Source, Violation};

/// Each folder of `crates/` with the crates of ours that it may use. A new edge needs an ADR.
const EDGES: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("store", &[]),
    ("core", &["text"]),
    ("parse", &["text"]),
    ("kb", &["core", "parse", "store"]),
    ("net", &["core"]),
    ("models", &["core", "net", "store"]),
    ("offline", &["core"]),
    ("sources", &["core", "net"]),
    ("strategies", &["core"]),
    ("eval", &["core"]),
    (
        "engine",
        &["core", "eval", "kb", "models", "net", "offline", "sources", "store", "strategies"],
    ),
    ("server", &["core", "engine", "eval", "store"]),
    ("cli", &["core", "engine", "eval", "server"]),
    ("testkit", &["core"]),
];

/// What tests may use in addition to `testkit` and `core`: those that fit the offline model's weights
/// run the heads (ADR 0028).
const TEST_EDGES: &[(&str, &str)] = &[("offline", "models")];

/// What does input or output and so is not for core (invariant 7).
const NOT_FOR_CORE: &[&str] = &["axum", "heed", "hyper", "reqwest", "rten", "tantivy"];
const TOKIO_NOT_FOR_CORE: &[&str] = &["fs", "full", "net", "process"];

pub(crate) fn check(sources: &[Source]) -> Vec<Violation> {
    let workspace_tokio = workspace_tokio(sources);
    let mut violations = vec![];
    for source in sources.iter().filter(|s| s.path.ends_with("Cargo.toml")) {
        let Some(krate) = source.krate() else { continue };
        let manifest = match source.text.parse::<Table>() {
            Ok(manifest) => manifest,
            Err(error) => {
                let what = format!("this is not a valid manifest: {}", error.message());
                violations.push(source.violation(1, what, "correct the TOML"));
                continue;
            }
        };
        violations.extend(ours(source, krate, &manifest));
        if krate == "core" {
            violations.extend(core_is_pure(source, &manifest, &workspace_tokio));
        }
    }
    violations
}

/// Edges between crates of ours that the table does not have.
fn ours(source: &Source, krate: &str, manifest: &Table) -> Vec<Violation> {
    let Some((_, allowed)) = EDGES.iter().find(|(name, _)| *name == krate) else {
        let what = format!("crate `{krate}` is not in the table of floors");
        let hint = "write an ADR and add it to xtask/src/edges.rs and ARCHITECTURE.md";
        return vec![source.violation(1, what, hint)];
    };
    let mut violations = vec![];
    for (section, dependency) in dependencies(manifest) {
        let Some(used) = dependency.strip_prefix("halma-") else { continue };
        let tests_only = section == "dev-dependencies";
        let for_tests = ["testkit", "core"].contains(&used) || TEST_EDGES.contains(&(krate, used));
        if allowed.contains(&used) || (tests_only && for_tests) {
            continue;
        }
        let what = format!("`{krate}` may not use `{used}` ({section})");
        let hint = "put the code on the floor it belongs to, or write an ADR for a new edge";
        violations.push(source.violation(line_of(&source.text, dependency), what, hint));
    }
    violations
}

/// Core does no input or output, so it has no use for a crate that does.
fn core_is_pure(source: &Source, manifest: &Table, workspace_tokio: &[String]) -> Vec<Violation> {
    let normal = |(section, _): &(&str, &str)| *section == "dependencies";
    let mut violations = vec![];
    for (_, dependency) in dependencies(manifest).into_iter().filter(normal) {
        let line = line_of(&source.text, dependency);
        if NOT_FOR_CORE.contains(&dependency) {
            let what = format!("core may not use `{dependency}`: it does no input or output");
            violations.push(source.violation(line, what, "move the code to kb or net"));
        }
        if dependency == "tokio" {
            let mut features: BTreeSet<String> = features(&manifest["dependencies"]["tokio"]);
            features.extend(workspace_tokio.iter().cloned());
            for feature in features.iter().filter(|f| TOKIO_NOT_FOR_CORE.contains(&f.as_str())) {
                let what = format!("core may not use tokio's `{feature}`");
                violations.push(source.violation(line, what, "ask for it in the crate above"));
            }
        }
    }
    violations
}

/// (section, dependency) of a manifest; the sections of single targets count as well.
fn dependencies(manifest: &Table) -> Vec<(&'static str, &str)> {
    let mut tables = vec![manifest];
    if let Some(targets) = manifest.get("target").and_then(Value::as_table) {
        tables.extend(targets.values().filter_map(Value::as_table));
    }
    let mut found = vec![];
    for table in tables {
        for section in ["dependencies", "build-dependencies", "dev-dependencies"] {
            let names = table.get(section).and_then(Value::as_table);
            found.extend(names.into_iter().flat_map(Table::keys).map(|n| (section, n.as_str())));
        }
    }
    found
}

/// The features that the workspace's entry gives to every crate that inherits tokio.
fn workspace_tokio(sources: &[Source]) -> Vec<String> {
    let root = sources.iter().find(|source| source.path == "Cargo.toml");
    let manifest = root.and_then(|source| source.text.parse::<Table>().ok());
    let tokio = manifest
        .as_ref()
        .and_then(|manifest| manifest.get("workspace")?.get("dependencies")?.get("tokio").cloned());
    tokio.map(|tokio| features(&tokio).into_iter().collect()).unwrap_or_default()
}

fn features(dependency: &Value) -> BTreeSet<String> {
    let list = dependency.get("features").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|f| f.as_str().map(str::to_owned)).collect()
}

fn line_of(text: &str, name: &str) -> usize {
    let starts = |line: &str| {
        let rest = line.trim_start().strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with([' ', '.', '=']))
    };
    text.lines().position(starts).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::{said, sources};

    fn violations(path: &str, manifest: &str) -> Vec<String> {
        said(&check(&sources(&[(path, manifest)])))
    }

    #[test]
    fn an_edge_of_the_table_is_fine() {
        let manifest = "[dependencies]\nhalma-core.workspace = true\nserde = \"1\"\n\
                        [dev-dependencies]\nhalma-testkit.workspace = true\n";
        assert!(violations("crates/kb/Cargo.toml", manifest).is_empty());
    }

    #[test]
    fn an_edge_between_neighbours_is_named_with_its_line() {
        let manifest = "[dependencies]\nhalma-core.workspace = true\n\
                        halma-kb = { path = \"../kb\" }\n";
        assert_eq!(
            violations("crates/models/Cargo.toml", manifest),
            ["crates/models/Cargo.toml:3: `models` may not use `kb` (dependencies)"]
        );
    }

    #[test]
    fn the_test_doubles_are_for_tests_only() {
        let manifest = "[dependencies]\nhalma-testkit.workspace = true\n";
        assert_eq!(
            violations("crates/eval/Cargo.toml", manifest),
            ["crates/eval/Cargo.toml:2: `eval` may not use `testkit` (dependencies)"]
        );
    }

    #[test]
    fn an_edge_cannot_hide_behind_a_target() {
        let manifest = "[target.'cfg(unix)'.dependencies]\nhalma-engine = \"1\"\n";
        assert_eq!(
            violations("crates/strategies/Cargo.toml", manifest),
            ["crates/strategies/Cargo.toml:2: `strategies` may not use `engine` (dependencies)"]
        );
    }

    #[test]
    fn an_unknown_crate_needs_a_floor() {
        assert_eq!(
            violations("crates/magic/Cargo.toml", "[package]\n"),
            ["crates/magic/Cargo.toml:1: crate `magic` is not in the table of floors"]
        );
    }

    #[test]
    fn core_does_no_input_or_output() {
        let manifest = "[dependencies]\nreqwest = \"0.13\"\n\
                        tokio = { version = \"1\", features = [\"net\", \"sync\"] }\n";
        assert_eq!(
            violations("crates/core/Cargo.toml", manifest),
            [
                "crates/core/Cargo.toml:2: core may not use `reqwest`: it does no input or output",
                "crates/core/Cargo.toml:3: core may not use tokio's `net`",
            ]
        );
    }

    #[test]
    fn core_inherits_no_input_or_output_either() {
        let root = "[workspace.dependencies]\ntokio = { version = \"1\", features = [\"fs\"] }\n";
        let core = "[dependencies]\ntokio.workspace = true\n";
        let files = sources(&[("Cargo.toml", root), ("crates/core/Cargo.toml", core)]);
        let expected = ["crates/core/Cargo.toml:2: core may not use tokio's `fs`"];
        assert_eq!(said(&check(&files)), expected);
    }
}
