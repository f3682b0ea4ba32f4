//! What units of work are expected to cost.
use std::ops::{AddAssign, Mul};

use halma_core::{Setup, estimate_tokens};
use minijinja::Value;

/// Texts that are embedded, and their characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Texts {
    pub(crate) texts: u64,
    pub(crate) characters: u64,
}

impl Texts {
    /// Adds a text of so many characters.
    pub(crate) fn add(&mut self, characters: usize) {
        self.texts += 1;
        self.characters += characters as u64;
    }
}

/// What units are expected to cost. Tokens are counted as the core does before a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) calls: u64,
    pub(crate) prompt_tokens: u64,
    pub(crate) completion_tokens: u64,
    /// Texts that are made and then embedded, and their characters.
    pub(crate) texts: u64,
    pub(crate) characters: u64,
}

impl Cost {
    /// One call of a prompt with these variables, whose reply has about this many tokens. A prompt
    /// that cannot be rendered costs nothing: the stage itself says what is wrong with it.
    pub(crate) fn of_call(setup: &Setup, prompt: &str, variables: &Value, reply: u64) -> Self {
        let Ok(rendered) = setup.prompts.render(prompt, variables) else { return Self::default() };
        Self {
            calls: 1,
            prompt_tokens: estimate_tokens(&rendered.messages),
            completion_tokens: reply.min(rendered.max_tokens.into()),
            ..Self::default()
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.texts += other.texts;
        self.characters += other.characters;
    }
}

impl Mul<u64> for Cost {
    type Output = Self;

    fn mul(self, times: u64) -> Self {
        Self {
            calls: self.calls * times,
            prompt_tokens: self.prompt_tokens * times,
            completion_tokens: self.completion_tokens * times,
            texts: self.texts * times,
            characters: self.characters * times,
        }
    }
}
