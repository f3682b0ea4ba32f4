//! What strategies take for a question: for `halma strategies` and whoever has to choose.

/// Means over questions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Calls to a model.
    pub calls: f32,
    /// Prompt and completion tokens of all calls, at four characters a token.
    pub tokens: u32,
}

/// By name, over the 289 questions of the sample of `HotpotQA` with the offline model and default
/// settings (`docs/results.md`). A language model stops earlier or later, and asks more at a time.
pub const COSTS: &[(&str, Cost)] = &[
    ("kar3", Cost { calls: 10.8, tokens: 8_430 }),
    ("auto", Cost { calls: 7.4, tokens: 7_761 }),
    ("pike_l1", Cost { calls: 1.0, tokens: 2_679 }),
    ("pike_l2", Cost { calls: 10.5, tokens: 8_400 }),
    ("dec", Cost { calls: 5.2, tokens: 1_724 }),
    ("unirag", Cost { calls: 6.6, tokens: 10_835 }),
    ("atomr", Cost { calls: 4.8, tokens: 3_040 }),
    ("ircot", Cost { calls: 4.2, tokens: 6_806 }),
    ("iter_retgen", Cost { calls: 2.2, tokens: 5_386 }),
    ("self_ask", Cost { calls: 5.1, tokens: 1_852 }),
    ("graph_local", Cost { calls: 1.0, tokens: 2_031 }),
    ("graph_global", Cost { calls: 1.0, tokens: 2_621 }),
    ("naive", Cost { calls: 1.0, tokens: 2_621 }),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ALL;

    #[test]
    fn every_measured_name_is_a_strategy() {
        for (name, _) in COSTS {
            assert!(ALL.iter().any(|entry| entry.name == *name), "{name}");
        }
    }
}
