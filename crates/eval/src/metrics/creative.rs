//! Creative questions (PIKE-RAG's L4, section 6.1): five criteria, each from 1 to 5.
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The criteria, in the paper's order.
pub const CREATIVE: [&str; 5] =
    ["relevance", "diversity", "comprehensiveness", "uniqueness", "inspiration"];

/// How a creative answer was rated. A criterion that could not be rated is missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rubric(pub BTreeMap<String, u8>);

impl Rubric {
    /// The mean of what was rated, 1 to 5 as 0 to 1; `None` where nothing was.
    pub fn mean(&self) -> Option<f64> {
        let rated: Vec<f64> = CREATIVE
            .iter()
            .filter_map(|name| self.0.get(*name))
            .map(|points| (f64::from((*points).clamp(1, 5)) - 1.0) / 4.0)
            .collect();
        let sum: f64 = rated.iter().sum();
        #[expect(clippy::cast_precision_loss, reason = "at most five")]
        let count = rated.len() as f64;
        (!rated.is_empty()).then(|| sum / count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_of_what_was_rated() {
        let mut rubric = Rubric::default();
        assert_eq!(rubric.mean(), None);
        rubric.0.insert("relevance".into(), 5);
        assert_eq!(rubric.mean(), Some(1.0));
        rubric.0.insert("diversity".into(), 3);
        assert_eq!(rubric.mean(), Some(0.75));
    }
}
