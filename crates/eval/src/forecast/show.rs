//! Forecasts for the terminal.
use std::fmt::Write as _;

use super::{Basis, Forecast, Range};

/// One block a system, then the sum.
pub fn table(forecasts: &[Forecast]) -> String {
    let mut out = String::new();
    for forecast in forecasts {
        let Forecast { label, left, .. } = forecast;
        let basis = match forecast.basis {
            Basis::Measured { questions } => {
                format!("from {questions} questions asked with these settings")
            }
            Basis::Earlier { questions } => format!(
                "from {questions} questions asked under this name with other settings, prompts, \
                 models or base"
            ),
            Basis::Nothing => {
                "nothing was measured yet; a few questions must be asked first".into()
            }
        };
        let left = match left {
            0 => "every question is answered".to_owned(),
            left => format!("{left} questions to ask"),
        };
        let _ = writeln!(out, "{label}: {left}; {basis}");
        if let Some(each) = forecast.per_question.filter(|_| forecast.left > 0) {
            let _ = writeln!(
                out,
                "  about {} each, {:.0} tokens, {:.4} USD, {:.1} s",
                calls(each.calls),
                each.tokens,
                each.usd,
                each.seconds
            );
            let _ = writeln!(out, "  together {}", spans(forecast));
        }
        if forecast.cached > 0.05 {
            let _ = writeln!(
                out,
                "  {:.0} % of the measured calls came from the cache: what is paid will be more",
                forecast.cached * 100.0
            );
        }
    }
    if forecasts.len() > 1 {
        let sum = |of: fn(&Forecast) -> Option<Range>| -> f64 {
            forecasts.iter().filter_map(of).map(|range| range.likely).sum()
        };
        let _ = writeln!(
            out,
            "all: about {:.0} calls, {:.0} tokens, {:.2} USD, {}",
            sum(|f| f.calls),
            sum(|f| f.tokens),
            sum(|f| f.usd),
            time(sum(|f| f.seconds))
        );
    }
    out
}

/// A mean of calls: `1 call`, `2 calls`, `2.5 calls`.
fn calls(mean: f64) -> String {
    let shown = format!("{mean:.1}");
    match shown.strip_suffix(".0").unwrap_or(&shown) {
        "1" => "1 call".to_owned(),
        number => format!("{number} calls"),
    }
}

fn spans(forecast: &Forecast) -> String {
    let span = |range: Option<Range>, digits: usize, unit: &str| {
        let Range { low, likely, high } = range.unwrap_or_default();
        format!("{likely:.digits$} {unit} ({low:.digits$} … {high:.digits$})")
    };
    let seconds = forecast.seconds.unwrap_or_default();
    format!(
        "{}, {}, {}, {}",
        span(forecast.calls, 0, "calls"),
        span(forecast.tokens, 0, "tokens"),
        span(forecast.usd, 2, "USD"),
        time(seconds.likely)
    )
}

fn time(seconds: f64) -> String {
    match seconds {
        short if short < 90.0 => format!("{short:.0} s"),
        middling if middling < 5_400.0 => format!("{:.0} min", middling / 60.0),
        long => format!("{:.1} h", long / 3_600.0),
    }
}
