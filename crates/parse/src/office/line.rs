//! A paragraph whose runs may stand above or below the line: what adjacent runs raise is one power,
//! however many runs a program makes of it.
use crate::writer::inline::Inline;
use crate::writer::script::Script;

/// The words of a paragraph while they are read run by run.
#[derive(Default)]
pub(super) struct Line {
    inline: Inline,
    /// What the last runs raise or lower, not written yet.
    script: Option<Script>,
    text: String,
}

impl Line {
    /// Adds the text of a run.
    pub(super) fn push(&mut self, text: &str, script: Option<Script>) {
        if script != self.script {
            self.write();
            self.script = script;
        }
        if script.is_some() { self.text.push_str(text) } else { self.inline.push(text) }
    }

    /// The words so far, for adding what is not a run.
    pub(super) fn inline(&mut self) -> &mut Inline {
        self.write();
        &mut self.inline
    }

    pub(super) fn finish(mut self) -> Inline {
        self.write();
        self.inline.trimmed()
    }

    fn write(&mut self) {
        if let Some(script) = self.script.take() {
            self.inline.push_script(&std::mem::take(&mut self.text), script);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_in_several_runs_is_one() {
        let mut line = Line::default();
        for (text, script) in [
            ("10", None),
            ("2", Some(Script::Super)),
            (".", Some(Script::Super)),
            ("5", Some(Script::Super)),
            (" g of CO", None),
            ("2", Some(Script::Sub)),
            ("−", Some(Script::Super)),
        ] {
            line.push(text, script);
        }
        assert_eq!(line.finish().text, "10^2.5 g of CO₂⁻");
    }

    #[test]
    fn a_line_that_ends_ends_a_power() {
        let mut line = Line::default();
        line.push("m", None);
        line.push("2", Some(Script::Super));
        line.inline().break_line();
        line.push("3", Some(Script::Super));
        assert_eq!(line.finish().text, "m²\n³");
    }
}
