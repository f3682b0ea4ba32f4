//! Formulas of Word and `PowerPoint` (ECMA-376 part 1, chapter 22.1) as `LaTeX`.
//! Symbols stay the characters that they are.
use super::xml::{self, Node};

/// The formula as `LaTeX`, without dollar signs. Elements that we have no notation for give what is
/// inside them.
pub(super) fn latex(formula: Node<'_>) -> String {
    let mut out = String::new();
    inside(formula, &mut out);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn inside(node: Node<'_>, out: &mut String) {
    node.children().for_each(|child| element(child, out));
}

fn element(node: Node<'_>, out: &mut String) {
    let part = |name: &str| xml::child(node, name).map(latex).unwrap_or_default();
    let group = |name: &str| format!("{{{}}}", part(name));
    // A property of the element, as in `<m:fPr><m:type m:val="lin"/></m:fPr>`.
    let property = |name: &str| {
        let own = node.children().find(|child| xml::name(*child).ends_with("Pr"));
        own.and_then(|own| xml::child(own, name)).map(|property| xml::attribute(property, "val"))
    };
    let character = |name: &str, usual: &str| match property(name) {
        Some(value) => value.unwrap_or_default().to_owned(),
        None => usual.to_owned(),
    };
    let written = match xml::name(node) {
        "t" => escaped(&xml::text(node)),
        "f" => match property("type").flatten() {
            Some("lin" | "skw") => format!("{}/{}", group("num"), group("den")),
            Some("noBar") => format!("\\binom{}{}", group("num"), group("den")),
            _ => format!("\\frac{}{}", group("num"), group("den")),
        },
        "sSup" => format!("{}^{}", part("e"), group("sup")),
        "sSub" => format!("{}_{}", part("e"), group("sub")),
        "sSubSup" => format!("{}_{}^{}", part("e"), group("sub"), group("sup")),
        "sPre" => format!("{{}}_{}^{}{}", group("sub"), group("sup"), part("e")),
        "rad" => match part("deg").as_str() {
            "" => format!("\\sqrt{}", group("e")),
            degree => format!("\\sqrt[{degree}]{}", group("e")),
        },
        "nary" => n_ary(&character("chr", "∫"), &part("sub"), &part("sup"), &part("e")),
        "d" => {
            let separator = character("sepChr", "|");
            let parts = xml::children(node, "e").map(latex);
            let parts = parts.collect::<Vec<_>>().join(&separator);
            let (begin, end) = (character("begChr", "("), character("endChr", ")"));
            format!("\\left{}{parts}\\right{}", delimiter(&begin), delimiter(&end))
        }
        "func" => format!("{}{}", function(&part("fName")), group("e")),
        "acc" => format!("{}{}", accent(&character("chr", "\u{302}")), group("e")),
        "bar" => match property("pos").flatten() {
            Some("top") => format!("\\overline{}", group("e")),
            _ => format!("\\underline{}", group("e")),
        },
        "limLow" => format!("{}_{}", part("e"), group("lim")),
        "limUpp" => format!("{}^{}", part("e"), group("lim")),
        "groupChr" => format!("\\underbrace{}", group("e")),
        "borderBox" => format!("\\boxed{}", group("e")),
        "eqArr" => format!("\\begin{{aligned}}{}\\end{{aligned}}", rows(node, "e")),
        "m" => format!("\\begin{{matrix}}{}\\end{{matrix}}", rows(node, "mr")),
        "mr" => {
            let cells = xml::children(node, "e").map(latex);
            cells.collect::<Vec<_>>().join(" & ")
        }
        name if name.ends_with("Pr") => return,
        _ => return inside(node, out),
    };
    // A command must not run into the letter behind it.
    let runs_on = out.ends_with(|c: char| c.is_ascii_alphabetic())
        && out
            .rsplit(|c: char| !c.is_ascii_alphabetic())
            .next()
            .is_some_and(|word| out[..out.len() - word.len()].ends_with('\\'));
    if runs_on && written.starts_with(|c: char| c.is_alphanumeric()) {
        out.push(' ');
    }
    out.push_str(&written);
}

fn n_ary(operator: &str, below: &str, above: &str, body: &str) -> String {
    let mut out = match operator {
        "∑" => "\\sum".to_owned(),
        "∏" => "\\prod".to_owned(),
        "∫" | "" => "\\int".to_owned(),
        "∬" => "\\iint".to_owned(),
        "∮" => "\\oint".to_owned(),
        "⋃" => "\\bigcup".to_owned(),
        "⋂" => "\\bigcap".to_owned(),
        other => other.to_owned(),
    };
    for (mark, limit) in [('_', below), ('^', above)] {
        if !limit.is_empty() {
            out.extend([mark, '{']);
            out.push_str(limit);
            out.push('}');
        }
    }
    out + "{" + body + "}"
}

fn rows(node: Node<'_>, row: &str) -> String {
    let rows = xml::children(node, row);
    let written = rows.map(|row| {
        let mut out = String::new();
        element(row, &mut out);
        out
    });
    written.collect::<Vec<_>>().join(" \\\\ ")
}

fn delimiter(character: &str) -> &str {
    match character {
        "" => ".",
        "{" => "\\{",
        "}" => "\\}",
        "‖" => "\\|",
        other => other,
    }
}

fn function(name: &str) -> String {
    const KNOWN: &[&str] = &[
        "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "log", "ln", "exp",
        "lim", "max", "min", "sup", "inf", "det", "gcd", "dim", "ker", "arg",
    ];
    let first: String = name.chars().take_while(char::is_ascii_alphabetic).collect();
    if KNOWN.contains(&first.as_str()) {
        format!("\\{name}")
    } else {
        format!("\\mathrm{{{name}}}")
    }
}

fn accent(character: &str) -> &'static str {
    match character.chars().next() {
        Some('\u{303}' | '~') => "\\tilde",
        Some('\u{304}' | '\u{305}' | '¯') => "\\bar",
        Some('\u{307}' | '˙') => "\\dot",
        Some('\u{308}' | '¨') => "\\ddot",
        Some('\u{20d7}' | '→') => "\\vec",
        _ => "\\hat",
    }
}

/// Characters that `LaTeX` would take for commands.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\backslash "),
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(inside: &str) -> String {
        let xml = format!("<m:oMath xmlns:m='math'>{inside}</m:oMath>");
        latex(roxmltree::Document::parse(&xml).unwrap().root_element())
    }

    fn run(text: &str) -> String {
        format!("<m:r><m:t>{text}</m:t></m:r>")
    }

    #[test]
    fn formulas_are_latex() {
        let (a, b) = (run("a"), run("b"));
        assert_eq!(of(&format!("<m:f><m:num>{a}</m:num><m:den>{b}</m:den></m:f>")), "\\frac{a}{b}");
        assert_eq!(of(&format!("<m:sSup><m:e>{a}</m:e><m:sup>{b}</m:sup></m:sSup>")), "a^{b}");
        let sum = format!(
            "<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>{a}</m:sub><m:sup/><m:e>{b}</m:e></m:nary>"
        );
        assert_eq!(of(&sum), "\\sum_{a}{b}");
        let name = run("log");
        let log = format!("<m:func><m:fName>{name}</m:fName><m:e>{a}</m:e></m:func>");
        assert_eq!(of(&log), "\\log{a}");
        let set = format!(
            "<m:d><m:dPr><m:begChr m:val='{{'/><m:endChr m:val=''/></m:dPr><m:e>{a}</m:e></m:d>"
        );
        assert_eq!(of(&set), "\\left\\{a\\right.");
        assert_eq!(of(&run("5 % &amp; more")), "5 \\% \\& more");
    }
}
