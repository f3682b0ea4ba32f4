//! Notebooks of Jupyter (nbformat 3 and 4): their cells one after another, as Markdown.
use serde::de::Error as _;
use serde_json::Value;

use super::markdown;
use crate::parsed::Parsed;

pub(crate) fn read(text: &str) -> Result<Parsed, serde_json::Error> {
    let notebook: Value = serde_json::from_str(text)?;
    let cells = notebook.get("cells").unwrap_or(&notebook["worksheets"][0]["cells"]);
    let cells = cells.as_array().ok_or_else(|| serde_json::Error::custom("it has no `cells`"))?;
    let (mut out, mut lost) = (String::new(), 0);
    for cell in cells {
        let source = lines(cell.get("source").unwrap_or(&cell["input"]));
        match cell["cell_type"].as_str() {
            Some("code") => fenced(&source, &mut out),
            Some("heading") => out.extend(["# ", &source, "\n\n"]),
            _ => out.extend([&source, "\n\n"]),
        }
        for output in cell["outputs"].as_array().into_iter().flatten() {
            let data = output.get("data").unwrap_or(output);
            let texts = ["text/plain", "text", "text/markdown", "ename", "evalue"];
            let texts: Vec<String> = texts.iter().map(|kind| lines(&data[kind])).collect();
            fenced(texts.join("\n").trim(), &mut out);
            let is_picture = |kind: &String| kind.starts_with("image/") || kind == "png";
            let has_picture = data.as_object().is_some_and(|data| data.keys().any(is_picture));
            lost += usize::from(has_picture || texts.concat().is_empty());
        }
    }
    let mut parsed = Parsed { format: "ipynb", ..markdown::read(out) };
    if lost > 0 {
        let warning = "results of cells are pictures or pages and are not read; export it as PDF";
        parsed.warnings.push(format!("{lost} {warning}"));
    }
    Ok(parsed)
}

/// A text, which may be a list of its lines.
fn lines(value: &Value) -> String {
    match value {
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        value => value.as_str().unwrap_or_default().to_owned(),
    }
}

fn fenced(text: &str, out: &mut String) {
    if !text.trim().is_empty() {
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        out.extend([&fence, "\n", text.trim_end(), "\n", &fence, "\n\n"]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{check, outline};
    use crate::{ParseOptions, parse};

    fn notebook(text: &str) -> Parsed {
        let parsed = parse("a.ipynb", text.as_bytes(), &ParseOptions::default()).unwrap();
        check(&parsed);
        parsed
    }

    #[test]
    fn cells_and_their_results_are_read() {
        let parsed = notebook(
            r##"{"cells": [
                {"cell_type": "markdown", "source": ["# Yield\n", "The *plot* of Dorn"]},
                {"cell_type": "code", "source": "a = '```'\na", "outputs": [
                    {"output_type": "stream", "name": "stdout", "text": ["44 kg\n"]},
                    {"output_type": "execute_result", "data": {"text/plain": "<Figure>", "image/png": "AQID"}},
                    {"output_type": "error", "ename": "KeyError", "evalue": "x", "traceback": []}]}],
                "nbformat": 4}"##,
        );
        assert_eq!((parsed.format, parsed.title.as_deref()), ("ipynb", Some("Yield")));
        let expected = [
            "h1 # Yield",
            "p The *plot* of Dorn",
            "code ```` a = '```' a ````",
            "code ``` 44 kg ```",
            "code ``` <Figure> ```",
            "code ``` KeyError x ```",
        ];
        assert_eq!(outline(&parsed), expected);
        assert!(parsed.warnings[0].starts_with("1 results"), "{:?}", parsed.warnings);
    }

    #[test]
    fn a_notebook_of_the_third_format_is_read() {
        let parsed = notebook(
            r#"{"worksheets": [{"cells": [{"cell_type": "heading", "level": 1, "source": "Quenn"},
                {"cell_type": "code", "input": ["1 + 1"], "outputs": [{"text": "2", "output_type": "pyout"}]}]}]}"#,
        );
        assert_eq!(outline(&parsed), ["h1 # Quenn", "code ``` 1 + 1 ```", "code ``` 2 ```"]);
        assert!(parsed.warnings.is_empty(), "{:?}", parsed.warnings);
    }

    #[test]
    fn a_broken_notebook_is_text_with_a_warning() {
        let parsed = notebook("{\"cells\": [\n{\"source\": \"The fee is 40.\"");
        assert!(parsed.text.contains("The fee is 40."));
        assert_eq!(parsed.format, "text");
        assert!(parsed.warnings[0].contains("line 2"), "{:?}", parsed.warnings);
    }
}
