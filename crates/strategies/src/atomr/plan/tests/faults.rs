//! Plans of our own, one for each mistake that models make.

/// A plan without a fault, to break.
pub(super) const WHOLE: &str = r#"{
  "Who of the two was born first, the architect of Varn or the keeper of Olm?": ["1. When was the architect of Varn born?", "2. When was the keeper of Olm born?", "3. Given answers of [1] and [2], who was born first?"],
  "1. When was the architect of Varn born?": ["4. Who is the architect of Varn?", "5. When was [4] born?"],
  "4. Who is the architect of Varn?": "Relate(\"Varn\", \"architect\")",
  "5. When was [4] born?": "Relate([4], \"date of birth\")",
  "2. When was the keeper of Olm born?": ["6. What is Olm?", "7. Who kept [6]?", "8. When was [7] born?"],
  "6. What is Olm?": "Search(\"Olm\", \"lighthouse\")",
  "7. Who kept [6]?": "Filter([6], \"keeper about [4]\")",
  "8. When was [7] born?": "Relate([7], \"date of birth\")",
  "3. Given answers of [1] and [2], who was born first?": "[END]"
}"#;

/// Name, plan.
pub(super) const FAULTS: &[(&str, &str)] = &[
    ("none", WHOLE),
    ("none: a root that is a leaf", r#"{"Who built Varn?": "Relate(\"Varn\", \"architect\")"}"#),
    (
        "none: two entities and no relation",
        r#"{"Q?": ["1. Who?", "2. Is it?"], "1. Who?": "Search(\"Ilse\")", "2. Is it?": "Relate(\"Varn\", [1])"}"#,
    ),
    (
        "a code fence and text around the plan",
        "Here is the plan:\n```json\n{\"Q?\": \"Search(\\\"Varn\\\")\"}\n```\nIt has one step.",
    ),
    ("a string of JSON", r#""{\"Q?\": \"Search('Varn')\"}""#),
    (
        "a plan within another object",
        r#"{"thinking": "two steps", "plan": {"Q?": ["1. A?"], "1. A?": "Search(\"Varn\")"}}"#,
    ),
    (
        "quotes not escaped",
        "{\"Who wrote \"Olm\", the song?\": [\"1. What is \"Olm\", the song?\", \"2. Who wrote [1]?\"],\n\"1. What is \"Olm\", the song?\": \"Search(\"Olm\", \"song (1999)\")\",\n\"2. Who wrote [1]?\": \"Relate([1], \"writer\")\"}",
    ),
    (
        "single quotes and extra commas",
        "{'Q?': ['1. A?', '2. B [1]?',],\n'1. A?': 'Search(\"King\\'s Olm\")',\n'2. B [1]?': 'Relate([1], \"x\")',}",
    ),
    (
        "refused: a list that is not closed",
        r#"{"Q?": ["1. A?", "2. B of [1]?", "1. A?": "Search(\"Varn\")", "2. B of [1]?": "Relate([1], \"x\")"}"#,
    ),
    (
        "refused: calls without quotes",
        "{\"Q?\": [\"1. A?\", \"2. B of [1]?\"],\n\"1. A?\": Search(\"Varn\", \"x\"),\n\"2. B of [1]?\": [END]}",
    ),
    (
        "an extra bracket: the rest is not read",
        r#"{"Q?": ["1. A?", "2. B of [1]?"], "1. A?": "Search(\"Varn\")"}, "2. B of [1]?": "[END]"}"#,
    ),
    (
        "refused: cut off",
        r#"{"Q?": ["1. What is Varn?", "2. Who is the architect of [1]?", "3. Is [1] older than [2]?", "4. Where is Olm?"], "1. What is Varn?": "Search(\"Varn\")", "2. Who is the architect of [1]?": "Relate([1], "#,
    ),
    (
        "objects in objects",
        r#"{"Q?": {"1. A?": {"3. C?": "Search(\"C\")", "4. D of [3]?": "Relate([3], \"d\")"}, "2. B of [1]?": "Relate([1], \"b\")"}}"#,
    ),
    (
        "objects in a list",
        r#"{"Q?": [{"1. A?": "Search(\"A\")"}, {"2. B of [1]?": "Relate([1], \"b\")"}]}"#,
    ),
    (
        "a repeated key: the last value counts",
        r#"{"Q?": ["1. A?"], "1. A?": "Search(\"Wrong\")", "1. A?": "Search(\"Varn\")"}"#,
    ),
    (
        "the question last",
        r#"{"1. A?": "Search(\"A\")", "2. B of [1]?": "[END]", "Q?": ["1. A?", "2. B of [1]?"]}"#,
    ),
    (
        "reworded, by words and by number",
        r#"{"Q?": ["1. What is varn", "2. Who built [1]?", "3"], "1. What is Varn?": "Search(\"Varn\")", "2. Who was [1] built by, and when?": "Relate([1], \"architect\")", "3. Where?": "Relate([1], \"place\")"}"#,
    ),
    (
        "reworded, the number too",
        r#"{"Q?": ["1. A?", "2. Who built [1]?"], "1. A?": "Search(\"Varn\")", "5. Who built [1]?": "Relate([1], \"architect\")"}"#,
    ),
    (
        "in no list",
        r#"{"Q?": ["1. A?", "3. C of [1] and [2]?"], "1. A?": "Search(\"A\")", "2. B?": "Search(\"B\")", "3. C of [1] and [2]?": "[END]"}"#,
    ),
    (
        "no list at all",
        r#"{"Q?": "[END]", "1. A?": "Search(\"A\")", "2. B of [1]?": "Relate([1], \"b\")"}"#,
    ),
    ("a root with a call of its own", r#"{"Who?": "Search(\"A\")", "1. B?": "Search(\"B\")"}"#),
    (
        "listed twice",
        r#"{"Q?": ["1. A?", "2. B?"], "1. A?": ["3. C?"], "2. B?": ["3. C?", "4. D?"], "3. C?": "Search(\"C\")", "4. D?": "Search(\"D\")"}"#,
    ),
    (
        "listed twice, and nothing else",
        r#"{"Q?": ["1. A?", "2. B?"], "1. A?": ["3. C?"], "2. B?": ["3. C?"], "3. C?": "Search(\"C\")"}"#,
    ),
    (
        "a part that is the question, or itself",
        r#"{"Q?": ["1. A?", "Q?", "[END]"], "1. A?": ["1. A?", "2. B?"], "2. B?": "Search(\"B\")"}"#,
    ),
    (
        "keys that are not questions",
        r#"{"Q?": ["1. A?"], "1. A?": "Search(\"A\")", "note": "one step", "1. a": "Search(\"A\")"}"#,
    ),
    (
        "numbers of several parts, repeated, missing",
        r#"{"Q?": ["1. A?", "2. B?", "C of [2]?"], "1. A?": "Search(\"A\")", "2. B?": ["2.1 D?", "2.2 E of [2.1]?", "1. F of [2.2]?", "4. G of [1]?"], "2.1 D?": "Search(\"D\")", "2.2 E of [2.1]?": "Relate([2.1], \"e\")", "1. F of [2.2]?": "Relate([2.2], \"f\")", "4. G of [1]?": "Relate([1], \"g\")", "C of [2]?": "[END]"}"#,
    ),
    (
        "calls in a list",
        r#"{"Q?": ["1. A?", "2. B of each?"], "1. A?": ["Search(\"A\")"], "2. B of each?": ["Relate(\"C\", \"b\")", "3. And of D? Relate(\"D\", \"b\")"]}"#,
    ),
    (
        "calls in calls",
        r#"{"Q?": ["1. A?", "2. B of [1]?"], "1. A?": "Filter(Relate(Search(\"X\", \"band\"), \"albums\"), \"before 2000\")", "2. B of [1]?": "Relate([1], \"b\")"}"#,
    ),
    (
        "calls in calls at the root",
        r#"{"Which?": "Filter(Relate(\"X\", \"albums\"), \"before 2000\")"}"#,
    ),
    (
        "several calls, several names",
        r#"{"Q?": ["1. A?", "2. B?"], "1. A?": "Search(\"A\") and Relate(\"B\", \"b\")", "2. B?": "Relate([\"C\", [1]], \"b\")"}"#,
    ),
    (
        "other functions",
        r#"{"Q?": ["1. A?", "2. B?", "3. C?"], "1. A?": "Search(\"A\")", "2. B?": "Count(Filter([1], \"b\"))", "3. C?": "Intersect([1], [2])"}"#,
    ),
    (
        "quotes and brackets of calls",
        r#"{"Q?": ["1. A?", "2. B?", "3. C?", "4. D?"], "1. A?": "Search(\"Olm \"56\", \"film\")]", "2. B?": "Search(\"about \"Varn, the rock' and more\", \"x", "3. C?": "Search(Varn light, a rock)", "4. D?": "Filter([1, 2], \"old\""}"#,
    ),
    (
        "words around a call",
        r#"{"Q?": ["1. A?", "2. B?"], "1. A?": "Search(\"A\")", "2. B?": "Given answers of [1], Relate([1], \"b\") [END]"}"#,
    ),
    (
        "[END] in other words",
        r#"{"Q?": ["1. A?", "2. B?", "3. C of [1]?", "4. D of [1] and [2]?", "5. E? [END]"], "1. A?": "Search(\"A\")", "2. B?": "Search(\"B\")", "3. C of [1]?": "[DR]", "4. D of [1] and [2]?": "Given answers of [1] and [2], which is older? [END]"}"#,
    ),
    (
        "missing steps",
        r#"{"Q?": ["1. What is Varn?", "2. Who is the founder of [1]?", "3. Who is [2]?", "4. Is [1] older than [2]?", "5. Based on [2], how old?"], "1. What is Varn?": "", "3. Who is [2]?": null, "2. Who is the founder of [1]?": []}"#,
    ),
    (
        "nothing to conclude from",
        r#"{"Q?": ["1. What year was last year?", "2. B of [1]?"], "1. What year was last year?": "[END]", "2. B of [1]?": "[END]"}"#,
    ),
    (
        "more arguments",
        r#"{"Q?": ["1. A?", "2. B?", "3. C?", "4. D?"], "1. A?": "Search(\"A\", \"x\", \"y\")", "2. B?": "Relate([1], [3], \"cause\")", "3. C?": "Relate(\"C\", \"time\", [1])", "4. D?": "Filter([1], [3], \"old\", \"red\")"}"#,
    ),
    (
        "refused: missing arguments",
        r#"{"Q?": ["1. A?", "2. Who is the founder of [1]?", "3. Which of [2] is old?", "4. Which are red?"], "1. A?": "Search(\"A\")", "2. Who is the founder of [1]?": "Relate([1])", "3. Which of [2] is old?": "Filter(\"old\")", "4. Which are red?": "Filter([2])"}"#,
    ),
    (
        "other forms of references",
        r#"{"Q?": ["1. A?", "2. Who is #1?"], "1. A?": "Search(\"A\")", "2. Who is #1?": "Relate(#1, \"b of <1>\")"}"#,
    ),
    (
        "numbers that are not references",
        r#"{"Who won the [7] of [1999]?": ["1. What is [7]?", "2. Who won [1] in [1999]?"], "1. What is [7]?": "Search(\"[7] 1.5 [1.5]\")", "2. Who won [1] in [1999]?": "Relate([1], \"winner of [1999]\")"}"#,
    ),
    (
        "refused: references to nothing, to itself, to a question above",
        r#"{"Q?": ["1. A?", "2. Who is the head of [2]?", "3. B of [1]?"], "1. A?": "Search(\"A\")", "2. Who is the head of [2]?": "Relate([0], \"head\")", "3. B of [1]?": "Relate([9], \"b\")"}"#,
    ),
    (
        "a question that refers to its parts",
        r#"{"Q?": ["1. Which is older, [2] or [3]?"], "1. Which is older, [2] or [3]?": ["2. A?", "3. B?"], "2. A?": "Search(\"A\")", "3. B?": "Search(\"B\")"}"#,
    ),
    ("refused: no object", "TREE_PARSING_ERROR"),
    ("refused: an object without questions", r#"{} and {"x": null}"#),
    ("refused: cut off too early", r#"{"Q?": ["1. A?", "2. B"#),
    ("refused: another object", r#"{"question": "Who built Varn?", "sub_questions": ["Who?"]}"#),
    ("refused: only [END]", r#"{"Q?": "[END]"}"#),
    (
        "refused: a reference to nothing",
        r#"{"Q?": ["1. A?", "2. B?", "3. C of [9]?"], "1. A?": "Search(\"A\")", "2. B?": "Search(\"B\")", "3. C of [9]?": "Relate([9], \"c\")"}"#,
    ),
    (
        "refused: a circle",
        r#"{"Q?": ["1. A of [2]?", "2. B of [1]?"], "1. A of [2]?": "Relate([2], \"a\")", "2. B of [1]?": "Relate([1], \"b\")"}"#,
    ),
];
