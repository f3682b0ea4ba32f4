//! Where answers were lost: one bar a run, from right answers through every way to miss one.
use super::svg::{Anchor, Svg, fitted, width};
use super::{Figure, few};
use crate::report::{Loss, number};
use crate::{Fate, Report, Run};

const WIDTH: f64 = 460.0;
const NAMES: f64 = 124.0;
const BAR: f64 = 26.0;
const ROW: f64 = 40.0;

pub(super) fn figure(report: &Report) -> Option<Figure> {
    let (runs, said) = few(&report.runs);
    let lost = |loss: &Loss| runs.iter().any(|run| run.losses.contains_key(loss));
    let losses: Vec<Loss> = Loss::ALL.into_iter().filter(lost).collect();
    if losses.is_empty() {
        return None;
    }
    let height = number(runs.len()) * ROW + 6.0;
    let description = "For each run the right answers and the ways the others were lost";
    let mut svg = Svg::new(WIDTH, height, description);
    let (mut y, mut rows) = (4.0, vec![]);
    for run in &runs {
        bar(&mut svg, y, run, &losses);
        let mut row = vec![run.label.clone(), right(run).to_string()];
        row.extend(losses.iter().map(|loss| count(run, *loss).to_string()));
        rows.push(row);
        y += ROW;
    }
    let mut legend = vec![("loss-right".to_owned(), "right".to_owned())];
    legend.extend(
        losses.iter().map(|loss| (class(*loss), format!("{}: {}", loss.title(), loss.meaning()))),
    );
    let mut head = vec!["strategy".to_owned(), "right".to_owned()];
    head.extend(losses.iter().map(|loss| loss.title().to_owned()));
    Some(Figure {
        id: "lost".into(),
        title: "Where answers were lost",
        caption: format!(
            "Every question that was asked, by the first step at which it could no longer be \
             answered rightly; told from the trace and the gold passages.{said}"
        ),
        legend,
        svg: svg.finish(),
        head,
        rows,
    })
}

fn right(run: &Run) -> usize {
    run.results.iter().filter(|result| result.fate == Fate::Right).count()
}

fn count(run: &Run, loss: Loss) -> usize {
    run.losses.get(&loss).copied().unwrap_or(0)
}

fn class(loss: Loss) -> String {
    let name = match loss {
        Loss::NoSearch => "none",
        Loss::Retrieval => "retrieval",
        Loss::Selection => "selection",
        Loss::Reading => "reading",
        Loss::Budget => "budget",
        Loss::Malformed => "malformed",
        Loss::Failed => "failed",
        Loss::Unknown => "unknown",
    };
    format!("loss-{name}")
}

fn bar(svg: &mut Svg, y: f64, run: &Run, losses: &[Loss]) {
    let asked = run.results.iter().filter(|result| result.fate != Fate::Unasked).count().max(1);
    let middle = y + BAR / 2.0 + 4.0;
    svg.text("label", (NAMES - 10.0, middle), Anchor::End, &fitted(&run.label, NAMES - 26.0));
    let parts = std::iter::once(("loss-right".to_owned(), "right", right(run)))
        .chain(losses.iter().map(|loss| (class(*loss), loss.title(), count(run, *loss))));
    let mut x = NAMES;
    for (class, title, count) in parts.filter(|(.., count)| *count > 0) {
        let wide = (WIDTH - NAMES - 4.0) * number(count) / number(asked);
        let words = count.to_string();
        svg.bar(&class, (x, y), (wide - 1.0, BAR), &format!("{}: {count} {title}", run.label));
        if wide > width(&words) + 6.0 {
            svg.text(
                &format!("inside {class}-ink"),
                (x + wide / 2.0, middle),
                Anchor::Middle,
                &words,
            );
        }
        x += wide;
    }
}
