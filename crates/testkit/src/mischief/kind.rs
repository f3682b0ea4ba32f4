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

/// One way of spoiling replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mischief {
    ThinkTag,
    ReasoningTag,
    UnopenedThoughts,
    UnclosedThoughts,
    ReasoningField,
    Preamble,
    Fence,
    NullAnswer,
    UnknownAnswer,
    NotApplicable,
    NotMentioned,
    NumberWords,
    NumberStrings,
    NumberDots,
    NumberBrackets,
    StringForList,
    ListForString,
    KeyCase,
    KeySpaces,
    ExtraKeys,
    MissingKeys,
    CurlyQuotes,
    PythonLiterals,
    Truncated,
    TwoObjects,
    Refusal,
    DeafPrompt,
    Empty,
    SameReply,
    OutOfRange,
    SmallContext,
    NoLogprobs,
    Throttled,
    ServerError,
    CutStream,
}

use Mischief::{
    CurlyQuotes, CutStream, DeafPrompt, Empty, ExtraKeys, Fence, KeyCase, KeySpaces, ListForString,
    MissingKeys, NoLogprobs, NotApplicable, NotMentioned, NullAnswer, NumberBrackets, NumberDots,
    NumberStrings, NumberWords, OutOfRange, Preamble, PythonLiterals, ReasoningField, ReasoningTag,
    Refusal, SameReply, ServerError, SmallContext, StringForList, ThinkTag, Throttled, Truncated,
    TwoObjects, UnclosedThoughts, UnknownAnswer, UnopenedThoughts,
};

impl Mischief {
    pub const ALL: [Self; 35] = [
        ThinkTag,
        ReasoningTag,
        UnopenedThoughts,
        UnclosedThoughts,
        ReasoningField,
        Preamble,
        Fence,
        NullAnswer,
        UnknownAnswer,
        NotApplicable,
        NotMentioned,
        NumberWords,
        NumberStrings,
        NumberDots,
        NumberBrackets,
        StringForList,
        ListForString,
        KeyCase,
        KeySpaces,
        ExtraKeys,
        MissingKeys,
        CurlyQuotes,
        PythonLiterals,
        Truncated,
        TwoObjects,
        Refusal,
        DeafPrompt,
        Empty,
        SameReply,
        OutOfRange,
        SmallContext,
        NoLogprobs,
        Throttled,
        ServerError,
        CutStream,
    ];

    /// What it does, in a few words.
    pub fn describe(self) -> &'static str {
        match self {
            ThinkTag => "a draft in `<think>` before the reply",
            ReasoningTag => "a draft in `<reasoning>` before the reply",
            UnopenedThoughts => "a draft that ends with `</think>`, which was never opened",
            UnclosedThoughts => "the reply inside `<think>`, which is never closed",
            ReasoningField => "a draft in the field `reasoning_content`",
            Preamble => "a preamble and a farewell around the reply",
            Fence => "the reply in a code fence",
            NullAnswer => "`null` for every answer",
            UnknownAnswer => "“Unknown” for every answer",
            NotApplicable => "“N/A” for every answer",
            NotMentioned => "“Not mentioned in the passages.” for every answer",
            NumberWords => "numbers as words: `\"three\"`",
            NumberStrings => "numbers as strings: `\"3\"`",
            NumberDots => "numbers as strings with a dot: `\"3.\"`",
            NumberBrackets => "numbers in brackets: `\"[3]\"`",
            StringForList => "one string for a list",
            ListForString => "a list for a string",
            KeyCase => "keys in upper case",
            KeySpaces => "keys with spaces: `Sub questions`",
            ExtraKeys => "keys that were not asked for",
            MissingKeys => "a key is missing",
            CurlyQuotes => "curly quotes",
            PythonLiterals => "single quotes, trailing commas, `True` and `None`",
            Truncated => "the reply is cut off in the middle",
            TwoObjects => "a first object, then the corrected one",
            Refusal => "a refusal in place of the reply",
            DeafPrompt => "one prompt in three is always refused",
            Empty => "an empty reply",
            SameReply => "the same reply to a prompt for ever",
            OutOfRange => "indexes and scores out of range",
            SmallContext => "prompts of more than 4 k tokens are refused",
            NoLogprobs => "no log-probabilities",
            Throttled => "429 at the first try",
            ServerError => "500 at the first try",
            CutStream => "the stream is cut at the first try",
        }
    }

    pub fn remedy(self) -> Remedy {
        match self {
            UnclosedThoughts | MissingKeys | Truncated | Refusal | Empty | SmallContext
            | Throttled | ServerError | CutStream => Remedy::AnotherCall,
            NullAnswer | UnknownAnswer | NotApplicable | NotMentioned | DeafPrompt | SameReply
            | OutOfRange | NoLogprobs => Remedy::FallBack,
            _ => Remedy::Reading,
        }
    }

    pub(super) fn spoils_every_call(self) -> bool {
        self.remedy() != Remedy::AnotherCall || self == SmallContext
    }
}
