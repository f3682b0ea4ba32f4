//! Words that tell what sort of question is asked.

/// Words and phrases that tell a kind, surest kind first.
pub(super) const CUES: &[(&str, &[&str])] = &[
    (
        "predictive",
        &[
            "will",
            "forecast",
            "forecasts",
            "predict",
            "expect",
            "expected",
            "next year",
            "next month",
            "next quarter",
            "next decade",
            "projection",
            "in the future",
            "by 2030",
            "by 2040",
            "by 2050",
        ],
    ),
    (
        "creative",
        &[
            "propose",
            "suggest",
            "ideas",
            "idea for",
            "how could we",
            "how might we",
            "how can we",
            "what could be done",
            "brainstorm",
            "invent",
            "imagine",
            "design a",
            "come up with",
            "devise",
        ],
    ),
    (
        "summarising",
        &[
            "summarise",
            "summarize",
            "summary",
            "overview",
            "main themes",
            "main points",
            "key points",
            "main topics",
            "themes",
            "in general",
            "outline",
            "gist",
            "describe the",
            "what is discussed",
            "tell me about",
            "recurring",
            "what are the main",
        ],
    ),
];

pub(super) const COUNTS: &[&str] = &[
    "how many",
    "number of",
    "average",
    "mean",
    "total",
    "sum of",
    "count",
    "how often",
    "median",
    "percentage of",
    "share of",
    "in total",
    "altogether",
    "how much",
];

/// Words that ask for the end of a list, which takes a whole table to tell.
pub(super) const ENDS: &[&str] =
    &["most", "least", "highest", "lowest", "largest", "smallest", "maximum", "minimum", "top"];
