//! What is held out of the training data: by a hash of the question, so that it never depends on
//! the order of the file or on what else is in it.
use halma_core::text::{normalise_name, words};

/// A share in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share(pub u8);

impl Share {
    /// Whether a question is held out. Its words count, not its id: a question that comes twice is
    /// on one side.
    pub fn holds_out(self, question: &str) -> bool {
        let hash = blake3::hash(worded(question).as_bytes());
        let number = u16::from_le_bytes([hash.as_bytes()[0], hash.as_bytes()[1]]);
        number % 100 < u16::from(self.0)
    }
}

/// A question in the form by which questions are compared: its words, without case and accents.
pub(super) fn worded(question: &str) -> String {
    words(&normalise_name(question)).join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_the_share_is_held_out_whatever_the_order() {
        let held = |share: u8| {
            (0..1_000).filter(|n| Share(share).holds_out(&format!("Who is number {n}?"))).count()
        };
        assert_eq!((held(0), held(100)), (0, 1_000));
        assert!((150..250).contains(&held(20)), "{}", held(20));
        let same = Share(50);
        assert_eq!(same.holds_out("Who is  André?"), same.holds_out("who is andre"));
    }
}
