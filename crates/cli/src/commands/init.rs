//! `halma init`: writes a commented configuration, and connects a model of a server.
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use anyhow::Context as _;
use halma_core::ConfigError;
use halma_engine::{
    Config, Connection, LOCAL_SERVERS, ModelServer, Trial, TrialOutcome, discover, replace_file,
    try_connection, with_reader_only,
};

use crate::args::Init;
use crate::view;

const TEMPLATE: &str = include_str!("../halma.toml");

pub(crate) async fn run(args: &Init) -> anyhow::Result<()> {
    let shown = args.file.display().to_string();
    let before = match (args.file.exists(), args.connect) {
        (true, false) => {
            let hint = "add a model to it with `--connect`, name another file, or move this one";
            return Err(refusal(&shown, "the file already exists", hint).into());
        }
        (true, true) => {
            std::fs::read_to_string(&args.file).with_context(|| format!("cannot read {shown}"))?
        }
        (false, _) => TEMPLATE.to_owned(),
    };
    let Some(connection) = choose(args).await? else {
        if args.connect {
            let hint = "name one: `halma init --connect --model URL/NAME`";
            return Err(refusal("--connect", "no model is chosen", hint).into());
        }
        write(&args.file, &before)?;
        return view::print(&format!(
            "Wrote {shown}. All settings are optional; without a model Halma works offline.\n\
             Next: halma index FOLDER"
        ));
    };
    // First, so that a file that cannot be changed costs no trial.
    let after = connection.add_to(&before, &shown, &args.name)?;
    let trial = try_out(args, &connection).await?;
    let after = if trial.is_slow { with_reader_only(&after, &args.name) } else { after };
    write(&args.file, &after)?;
    let mut tried = describe(&trial);
    if trial.is_slow {
        tried += "Each call takes long, so the model reads and writes answers, and rules do the other \
                  steps: [roles] in the file.\n";
    }
    let next = "Next: halma index FOLDER, then halma ask \"…\"";
    let (model, place) = (&connection.model, connection.place());
    view::print(&format!(
        "{tried}Wrote {shown}: [models.{}] is {model} {place}.\n{next}",
        args.name
    ))
}

fn refusal(file: &str, reason: &str, hint: &str) -> ConfigError {
    ConfigError {
        file: file.to_owned(),
        key: "init".into(),
        reason: reason.to_owned(),
        hint: hint.to_owned(),
    }
}

fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    replace_file(file, text.as_bytes()).with_context(|| format!("cannot write {}", file.display()))
}

/// The model to connect: by flags, or chosen on a terminal from what runs on this machine.
async fn choose(args: &Init) -> anyhow::Result<Option<Connection>> {
    if args.no_model {
        return Ok(None);
    }
    let with_key = |connection: Connection| Connection {
        key_env: args.key_env.clone().unwrap_or_default(),
        key_file: args.key_file.clone(),
        ..connection
    };
    if let Some(written) = args.model.as_deref().filter(|written| *written != "auto") {
        return Ok(Some(with_key(Connection::parse(written).await?)));
    }
    let servers = discover(&LOCAL_SERVERS).await;
    let offered = list(&servers);
    let chosen = if args.model.is_some() {
        if offered.is_empty() {
            let hint =
                "start one (Ollama, llama.cpp, LM Studio, vLLM), or write `--model URL/NAME`";
            return Err(refusal("--model", "no model server runs on this machine", hint).into());
        }
        Some(0)
    } else if offered.is_empty() || !std::io::stdin().is_terminal() {
        if let Some(first) = offered.first() {
            let Connection { url, model, .. } = first;
            view::note(&format!("To connect one: halma init --connect --model {url}/{model}"));
        }
        None
    } else {
        ask_which(offered.len())?
    };
    Ok(chosen.and_then(|number| offered.into_iter().nth(number)).map(with_key))
}

/// The models of these servers in order, after printing them with their numbers.
fn list(servers: &[ModelServer]) -> Vec<Connection> {
    if servers.is_empty() {
        view::note("No model server runs on this machine (Ollama, llama.cpp, LM Studio, vLLM).");
    }
    let mut offered = vec![];
    for server in servers {
        let ModelServer { kind, url, loading, models } = server;
        let state = if *loading { ", which is loading its model" } else { "" };
        view::note(&format!("Found {kind} at {url}{state}"));
        for model in models {
            let name = &model.name;
            let context = model.context.map(|tokens| format!(", context {tokens}"));
            let number = offered.len() + 1;
            view::note(&format!("  {number}. {name}{}", context.unwrap_or_default()));
            offered.push(Connection {
                url: url.clone(),
                model: name.clone(),
                key_env: String::new(),
                key_file: None,
                file: None,
            });
        }
    }
    offered
}

/// Asks on the terminal for a number; `None` is no model.
fn ask_which(count: usize) -> anyhow::Result<Option<usize>> {
    loop {
        write!(std::io::stderr(), "Which one [1-{count}, 0 for none, default 1]? ")?;
        let mut line = String::new();
        let is_closed = std::io::stdin().read_line(&mut line)? == 0;
        match line.trim() {
            "" if is_closed => return Ok(None),
            "" => return Ok(Some(0)),
            text => match text.parse::<usize>() {
                Ok(number) if number <= count => return Ok(number.checked_sub(1)),
                _ => view::note("That is not one of the numbers."),
            },
        }
    }
}

async fn try_out(args: &Init, connection: &Connection) -> anyhow::Result<Trial> {
    view::note(&format!("Trying {} (a server may load it first) …", connection.model));
    let config = Config { file: args.file.display().to_string(), ..Config::default() };
    let trial = try_connection(&config, &args.name, &connection.config()).await?;
    if let Some(advice) = &trial.advice {
        view::warn(advice);
    }
    Ok(trial)
}

/// What a trial of the model says, for printing.
fn describe(trial: &Trial) -> String {
    let outcome = match trial.outcome {
        TrialOutcome::Right => "It answered a question about a passage rightly",
        TrialOutcome::Wrong => "It answered a question about a passage wrongly",
        TrialOutcome::Unreadable => "Its reply could not be read",
    };
    let read = trial.prompt_tokens_per_second.map(|speed| format!("reads {speed:.0} and "));
    let (read, written) = (read.unwrap_or_default(), trial.tokens_per_second);
    let context = trial.context.map(|tokens| format!("; context {tokens} tokens"));
    let mut text = format!(
        "{outcome}; it {read}writes {written:.1} tokens a second{}; {}.\nA question will take about:\n",
        context.unwrap_or_default(),
        trial.json,
    );
    for one in &trial.efforts {
        let usd = if one.usd > 0.0 { format!(", ${:.4}", one.usd) } else { String::new() };
        let calls = view::plural(one.calls, "call", "calls");
        let time = view::duration(one.seconds * 1e3);
        let _ = writeln!(text, "  {:<11} {time} ({calls}{usd})", one.effort.name());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_template_takes_a_slow_model() {
        let connection = Connection::parse("http://127.0.0.1:9/v1/small").await.unwrap();
        let text = connection.add_to(TEMPLATE, "halma.toml", "main").unwrap();
        let text = with_reader_only(&text, "main");
        let config: Config = toml::from_str(&text).unwrap();
        assert_eq!((&*config.roles["default"], &*config.roles["reader"]), ("extractive", "main"));
    }
}
