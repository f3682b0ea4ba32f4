//! Task `forecast_answer`: the computed number with its interval.
use serde::Deserialize;
use serde_json::json;

#[derive(Debug, Deserialize)]
pub(crate) struct AnswerInput {
    forecasts: Vec<Forecast>,
}

#[derive(Debug, Deserialize)]
struct Forecast {
    group: String,
    period: String,
    value: String,
    interval: String,
    method: String,
    direction: String,
}

pub(crate) fn reply(input: &AnswerInput) -> String {
    // Several groups: the one with the largest value.
    let number = |forecast: &Forecast| -> f64 {
        forecast.value.trim_end_matches(" %").parse().unwrap_or(0.0)
    };
    let largest = input.forecasts.iter().rev().max_by(|a, b| number(a).total_cmp(&number(b)));
    let Some(Forecast { group, period, value, interval, method, direction }) = largest else {
        return json!({ "rationale": "There is no forecast.", "answer": "" }).to_string();
    };
    let group = if group.is_empty() { String::new() } else { format!("{group}: ") };
    let direction =
        if direction.is_empty() { String::new() } else { format!("; direction: {direction}") };
    json!({
        "rationale": format!("The series is continued to {period} by its {method}{direction}."),
        "answer": format!("{group}{value} ({interval})"),
        "outlook": "",
    })
    .to_string()
}
