//! The ways in which replies are spoiled.

/// What makes a spoiled reply harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Reading it with tolerance.
    Reading,
    /// Asking once more, or doing without that part of the work.
    AnotherCall,
    /// Nothing that is said can be believed: doing without, or abstaining.
    FallBack,
}

/// Declares the kinds, each with its remedy and what it does in a few words.
macro_rules! kinds {
    ($($kind:ident: $remedy:ident, $description:literal;)+) => {
        /// One way of spoiling replies.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Mischief {
            $($kind,)+
        }

        impl Mischief {
            pub const ALL: &'static [Self] = &[$(Self::$kind,)+];

            /// What it does, in a few words.
            pub fn describe(self) -> &'static str {
                match self {
                    $(Self::$kind => $description,)+
                }
            }

            pub fn remedy(self) -> Remedy {
                match self {
                    $(Self::$kind => Remedy::$remedy,)+
                }
            }
        }
    };
}

kinds! {
    ThinkTag: Reading, "a draft in `<think>` before the reply";
    ReasoningTag: Reading, "a draft in `<reasoning>` before the reply";
    UnopenedThoughts: Reading, "a draft that ends with `</think>`, which was never opened";
    UnclosedThoughts: AnotherCall, "the reply inside `<think>`, which is never closed";
    ReasoningField: Reading, "a draft in the field `reasoning_content`";
    Preamble: Reading, "a preamble and a farewell around the reply";
    Fence: Reading, "the reply in a code fence";
    NullAnswer: FallBack, "`null` for every answer";
    UnknownAnswer: FallBack, "“Unknown” for every answer";
    NotApplicable: FallBack, "“N/A” for every answer";
    NotMentioned: FallBack, "“Not mentioned in the passages.” for every answer";
    NumberWords: Reading, "numbers as words: `\"three\"`";
    NumberStrings: Reading, "numbers as strings: `\"3\"`";
    NumberDots: Reading, "numbers as strings with a dot: `\"3.\"`";
    NumberBrackets: Reading, "numbers in brackets: `\"[3]\"`";
    StringForList: Reading, "one string for a list";
    ListForString: Reading, "a list for a string";
    KeyCase: Reading, "keys in upper case";
    KeySpaces: Reading, "keys with spaces: `Sub questions`";
    ExtraKeys: Reading, "keys that were not asked for";
    MissingKeys: AnotherCall, "a key is missing";
    CurlyQuotes: Reading, "curly quotes";
    PythonLiterals: Reading, "single quotes, trailing commas, `True` and `None`";
    Truncated: AnotherCall, "the reply is cut off in the middle";
    TwoObjects: Reading, "a first object, then the corrected one";
    Refusal: AnotherCall, "a refusal in place of the reply";
    DeafPrompt: FallBack, "one prompt in three is always refused";
    Empty: AnotherCall, "an empty reply";
    SameReply: FallBack, "the same reply to a prompt for ever";
    OutOfRange: FallBack, "indexes and scores out of range";
    SmallContext: AnotherCall, "prompts of more than 4 k tokens are refused";
    NoLogprobs: FallBack, "no log-probabilities";
    Throttled: AnotherCall, "429 at the first try";
    ServerError: AnotherCall, "500 at the first try";
    CutStream: AnotherCall, "the stream is cut at the first try";
}

impl Mischief {
    pub(super) fn spoils_every_call(self) -> bool {
        self.remedy() != Remedy::AnotherCall || self == Self::SmallContext
    }
}
