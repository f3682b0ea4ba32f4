//! The report as one page that needs nothing else: no request leaves it. Plots are drawn here as
//! SVG and are there without scripts; the browser of single questions is a small script over data
//! that it only ever shows as text.
mod assessed;
mod data;
mod details;
mod escape;
#[cfg(test)]
mod made;
mod plot;
mod tables;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::Report;
pub use details::Details;
use escape::text;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

impl Report {
    /// The page, with the questions in full as far as `details` has them.
    pub fn html(&self, details: &Details) -> String {
        let title = text(&self.dataset);
        let mut body = String::new();
        let _ = write!(
            body,
            "<header class=\"top\"><p class=\"mark\">Halma <span>evaluation</span></p>\
             <h1>{title}</h1><p class=\"lead\">{}</p></header><main>",
            text(&self.headline())
        );
        body.push_str(&tables::summary(self));
        body.push_str(&tables::notes(self));
        body.push_str(&assessed::assessed(self));
        body.push_str(&figures(self));
        body.push_str(&tables::against_first(self));
        body.push_str(&tables::costs(self));
        body.push_str(&browser(self, details));
        body.push_str(&tables::making(self));
        body.push_str("</main>");
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta name=\"referrer\" content=\"no-referrer\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\
             <title>{title} – Halma evaluation</title><style>{STYLE}</style></head>\
             <body>{body}<script type=\"application/json\" id=\"data\">{}</script>\
             <script>{SCRIPT}</script></body></html>\n",
            policy(),
            escape::json(&data::data(self, details)),
        )
    }
}

/// Nothing may be loaded, and nothing may run or style but what this file was built with: should
/// an escape ever be forgotten, the browser still refuses the script in it.
fn policy() -> String {
    let hash = |words: &str| STANDARD.encode(Sha256::digest(words.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; \
         form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

fn figures(report: &Report) -> String {
    let figures = plot::all(report);
    if figures.is_empty() {
        return String::new();
    }
    let mut out = String::from("<section class=\"figures\" aria-label=\"Plots\">");
    for figure in figures {
        out.push_str(&figure.html());
    }
    out.push_str("</section>");
    out
}

/// The frame that the script fills.
fn browser(report: &Report, details: &Details) -> String {
    if details.questions.is_empty() {
        return String::new();
    }
    let (shown, all) = (details.questions.len(), report.questions.len());
    let left_out = if shown < all {
        format!(" {shown} of {all} are here; those that every run got right were left out first.")
    } else {
        String::new()
    };
    format!(
        "<section class=\"card\" id=\"questions\" aria-labelledby=\"questions-title\">\
         <h2 id=\"questions-title\">Questions</h2>\
         <p class=\"hint\">Every question with what each run answered and how it came to it.{left_out} \
         <span class=\"keys\">Keys: <kbd>/</kbd> search, <kbd>↑</kbd> <kbd>↓</kbd> in the list.</span></p>\
         <noscript><p class=\"note\">This part needs scripts; the same is in the folder of the \
         evaluation as JSON.</p></noscript>\
         <div id=\"browser\"></div></section>"
    )
}
