//! One evaluation from its flags to its report.
use halma_core::ConfigError;
use halma_eval::{Bench, DataSet, Runner, SystemUnderTest, recognise};

use super::session::{Prepared, Questions, Session, default_folder, print_forecasts};
use super::systems::Strategies;
use super::{assessing, retrieval};
use crate::args::{Common, EvalRun};
use crate::view::{self, progress};

pub(crate) async fn run(args: EvalRun, common: &Common) -> anyhow::Result<()> {
    let file = args.file.clone().ok_or_else(|| ConfigError {
        file: "halma eval".into(),
        key: "FILE".into(),
        reason: "no file of questions is given".into(),
        hint: "write `halma eval FILE`; `halma data list` names the formats".into(),
    })?;
    let format = args.format.map_or_else(|| recognise(&file), Ok)?;
    let questions = Questions::new(&file, format);
    let mut prepared = Prepared::new(&questions, &args.how, common, default_folder)?;
    let strategies = Strategies::new(&args.strategy, &args.grid)?;
    strategies.check(&prepared.config)?;
    strategies.check_not_set(&prepared.config, &args.how.set.set)?;
    let asks = args.retrieval.is_empty();
    if asks {
        prepared.check_folder()?;
    }
    let unbuilt = if args.estimate { prepared.move_unbuilt_base()? } else { None };
    let opened = prepared.open()?;
    if asks {
        strategies.check_requirements(&opened.engine)?;
    } else {
        retrieval::check(&opened.engine, &args.retrieval)?;
    }
    let session = if args.estimate {
        opened.build_to_estimate(unbuilt.is_some(), args.how.json).await?
    } else {
        Some(Box::pin(opened.build()).await?)
    };
    let Some(session) = session else { return Ok(()) };
    if asks { ask(&session, &strategies, &args).await } else { measure(&session, &args).await }
}

/// Measures searches alone.
async fn measure(session: &Session, args: &EvalRun) -> anyhow::Result<()> {
    let modes = (args.retrieval.as_slice(), args.how.json);
    retrieval::run(&session.engine, &session.data, modes).await
}

/// Asks the strategies, or estimates what that would take.
async fn ask(session: &Session, strategies: &Strategies, args: &EvalRun) -> anyhow::Result<()> {
    let Session { engine, data, runner, bench, out } = session;
    let systems = strategies.systems(engine)?;
    if args.estimate {
        estimate(runner, data, (&systems, bench), args).await?;
        view::note(&format!(
            "The answers of this estimate are stored in {0}; an evaluation with `--out {0}` does \
             not ask them again.",
            out.display()
        ));
        return Ok(());
    }
    let (report, page) = session.report(&systems).await?;
    if args.how.json {
        return view::print_json(&report);
    }
    view::print(&format!(
        "{}\n\nViewer with charts and every question: {}\nAnswers, traces, JSON and Markdown: {}",
        report.table(args.all),
        page.display(),
        out.display()
    ))
}

/// Prints what the whole evaluation would take, after asking a few questions.
async fn estimate(
    runner: &Runner,
    data: &DataSet,
    (systems, bench): (&[SystemUnderTest], &Bench),
    args: &EvalRun,
) -> anyhow::Result<()> {
    let probe = (usize::from(args.probe), &progress::evaluation());
    assessing::warn_not_estimated(bench);
    let forecasts = runner.forecast(data, systems, bench, probe).await?;
    print_forecasts(&forecasts, runner, args.how.json)
}
