//! `docs/reference/cli.md` from the definitions of the command line.
use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command, CommandFactory as _};

use super::{cell, check};
use crate::args::Args;

/// What follows the table of a command, by heading.
const NOTES: &str = include_str!("notes.txt");
const INTRODUCTION: &str = "# Commands\n\n\
    Every day: `halma index FOLDER` reads documents, `halma ask \"QUESTION\"` answers, `halma search WORDS` \
    finds passages, `halma serve` starts the web page, `halma kb list` lists what a base holds, \
    `halma doctor` checks the installation.\n\n\
    Written from the definitions of the program; `halma --help` and `halma COMMAND --help` print the \
    same. Exit codes: [exit-codes.md](exit-codes.md).\n";

#[test]
fn the_reference_lists_every_command_and_option() {
    let mut halma = Args::command();
    halma.build();
    let mut notes = notes();
    let mut page = INTRODUCTION.to_owned();
    let _ = write!(page, "\n## Options of every command\n\n{}", table(halma.get_arguments()));
    let _ = write!(page, "\n## Options of most commands\n\n{}", table(shared().iter()));
    for command in halma.get_subcommands().filter(|command| is_listed(command)) {
        section(command, "halma", &mut notes, &mut page);
    }
    for (heading, note) in &notes {
        assert!(heading.as_str() == "Environment", "notes.txt: no command is called `{heading}`");
        let _ = write!(page, "\n## {heading}\n\n{note}\n");
    }
    check("docs/reference/cli.md", &page);
}

#[test]
fn every_command_and_option_has_a_help_text() {
    fn missing(command: &Command, undescribed: &mut Vec<String>) {
        let name = command.get_name();
        if command.get_about().is_none() {
            undescribed.push(name.to_owned());
        }
        let silent = command.get_arguments().filter(|arg| arg.get_help().is_none());
        undescribed.extend(silent.map(|arg| format!("{name} {}", arg.get_id())));
        command.get_subcommands().for_each(|command| missing(command, undescribed));
    }
    let mut undescribed = vec![];
    missing(&Args::command(), &mut undescribed);
    assert!(undescribed.is_empty(), "{undescribed:?}");
}

/// The options that `halma ask` shares with most commands.
fn shared() -> Vec<Arg> {
    let halma = Args::command();
    let ask = halma.find_subcommand("ask").unwrap();
    let is_shared = |arg: &&Arg| ["kb", "json"].contains(&arg.get_id().as_str());
    ask.get_arguments().filter(is_shared).cloned().collect()
}

/// Whether a command is for people.
fn is_listed(command: &Command) -> bool {
    command.get_name() != "help" && !command.is_hide_set()
}

/// A command with its subcommands, one heading each.
fn section(
    command: &Command,
    parent: &str,
    notes: &mut BTreeMap<String, String>,
    page: &mut String,
) {
    let name = format!("{parent} {}", command.get_name());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").lines().map(str::trim).collect::<Vec<_>>();
    let usage = usage.join("\n");
    let level = if parent == "halma" { "##" } else { "###" };
    let _ = write!(page, "\n{level} {name}\n\n{about}.\n\n```text\n{usage}\n```\n");
    let shared = shared();
    let is_shared =
        |arg: &Arg| shared.iter().any(|o| o.get_id() == arg.get_id() && names(o) == names(arg));
    let special = |arg: &&Arg| !arg.is_global_set() && !is_shared(arg);
    let rows = table(command.get_arguments().filter(special));
    if !rows.is_empty() {
        let _ = write!(page, "\n{rows}");
    }
    if let Some(note) = notes.remove(&name) {
        let _ = write!(page, "\n{note}\n");
    }
    for command in command.get_subcommands().filter(|command| is_listed(command)) {
        section(command, &name, notes, page);
    }
}

fn table<'a>(arguments: impl Iterator<Item = &'a Arg>) -> String {
    let shown = |arg: &&Arg| !matches!(arg.get_action(), ArgAction::Help | ArgAction::Version);
    let rows: Vec<String> = arguments.filter(shown).map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("| argument | meaning |\n|---|---|\n{}\n", rows.join("\n"))
}

fn row(arg: &Arg) -> String {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let mut meaning = cell(&help);
    let values = arg.get_possible_values();
    if arg.get_action().takes_values() && !values.is_empty() {
        let value = |value: &clap::builder::PossibleValue| match value.get_help() {
            Some(help) => format!("`{}` ({})", value.get_name(), cell(&help.to_string())),
            None => format!("`{}`", value.get_name()),
        };
        let list = values.iter().map(value).collect::<Vec<_>>().join(", ");
        let _ = write!(meaning, ": {list}");
    }
    let defaults: Vec<_> = arg.get_default_values().iter().map(|v| v.to_string_lossy()).collect();
    if arg.get_action().takes_values() && !defaults.is_empty() {
        let _ = write!(meaning, " [default: `{}`]", defaults.join(","));
    }
    format!("| {} | {meaning} |", names(arg))
}

fn names(arg: &Arg) -> String {
    let value = if arg.get_action().takes_values() {
        let names = arg.get_value_names().unwrap_or_default();
        names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    } else {
        String::new()
    };
    if arg.is_positional() {
        return format!("`{value}`");
    }
    let long = arg.get_long().map(|long| format!("`{}`", format!("--{long} {value}").trim_end()));
    let short = arg.get_short().map(|short| format!("`-{short}`"));
    long.into_iter().chain(short).collect::<Vec<_>>().join(", ")
}

fn notes() -> BTreeMap<String, String> {
    let sections = NOTES.split("\n# ").skip(1);
    let note = |section: &str| {
        let (heading, text) = section.split_once('\n').unwrap();
        (heading.trim().to_owned(), text.trim().to_owned())
    };
    sections.map(note).collect()
}
