//! Values for the variables of all prompts.
use halma_core::{Catalog, ColumnKind, ColumnSchema, Hit, Layer, Question, Span, TableSchema};
use minijinja::value::Serde;
use minijinja::{Value, context};

pub(crate) fn hit(title: &str, text: &str) -> Hit {
    Hit {
        id: "c-1".into(),
        layer: Layer::Chunk,
        parent: None,
        document: "notes.md".into(),
        title: title.into(),
        section: Some("History".into()),
        page: None,
        text: text.into(),
        score: 0.5,
        cosine: Some(0.5),
        parts: vec![],
        span: Span { start: 0, end: text.chars().count() },
    }
}

fn candidate(hit: &Hit) -> Value {
    context! { also => ["Which reef is it?"], ..Value::from(Serde(hit)) }
}

pub(crate) fn variables(question: &Question, context: &[Hit]) -> Value {
    context! {
        question => Serde(question),
        context => Serde(context),
        candidates => context.iter().map(candidate).collect::<Vec<Value>>(),
        proposed => [context! { text => "Where is Varn?", in_vain => true }],
        history => [context! {
            question => "Where is Varn?",
            answer => "on a reef",
            answers => ["a reef"],
            more => 2,
            thing => "Varn",
            attribute => "place",
        }],
        thoughts => ["The lighthouse stands on a reef."],
        sub_question => "Who built #1?",
        entities => [context! { text => "Varn", kind => "place" }],
        used => ["Where is Varn?"],
        number => 8,
        retrieve => true,
        sub_queries => ["Where is Varn?"],
        reasoning => "Varn is a reef.",
        steps => [context! {
            thought => "What is Varn?", action => "search", argument => "Varn", seen => "A reef.",
            call => "search [Varn]",
        }],
        notes => "Varn is a reef [1].",
        left => 3,
        thought => "Varn is an island.",
        next => "An island is dry.",
        constraints => [context! { constraint => "an island", finding => "a reef", holds => false }],
        near => Serde(context),
        catalog => Serde(Catalog { tables: vec![table()], ..Catalog::default() }),
        tables => [context! { samples => [["Varn", "1911"]], ..Value::from(Serde(table())) }],
        failed => context! { sql => "SELECT 1 FROM nowhere", reason => "no such table" },
        sql => "SELECT name FROM towers",
        answer => "on a reef",
        facts => ["Varn stands on a reef."],
        reports => [context! { title => "Reefs", text => "Where Varn is." }],
        own_knowledge => true,
        lookup => &question.text,
        asked_at => &question.asked_at,
        operator => context! { name => "Relate", arguments => ["Varn", "place"] },
        leaves => [context! { number => 1, question => "Where is Varn?", operator => "Search" }],
        sources => [context! { name => "web", about => "the web" }],
        things => "towers",
        operation => "count",
        result => "2",
        coverage => "2 of 3 have a value",
        plan => context! { target => "towers", unit => "m", measure => "sum", things => "towers" },
        forecasts => [context! {
            group => "Varn",
            period => "2031",
            value => "2",
            interval => "80 % interval 0 to 4",
            wide => "95 % interval 0 to 5",
            series => "2029: 2, 2030: 2",
            method => "last value",
            errors => "last value 0.5",
            direction => "level",
        }],
        perspective => context! { name => "Pilots", concern => "light", convinced_by => "tests" },
        board => [context! { about => "When did it open?", text => "1911" }],
        evidence => [context! { about => "When did it open?", text => "1911" }],
        proposals => [context! {
            by => ["Pilots"],
            idea => "A brighter lamp.",
            mechanism => "It is seen.",
            rests_on => [1],
            risks => "Cost.",
            unknowns => "Range.",
            objections => ["Too bright."],
            score => "3",
        }],
        open => ["What is a reef?"],
        caveats => ["1 rows stated twice left out"],
        series => ["2029: 2, 2030: 2"],
        points => [context! { point => "Varn stands on a reef.", helpfulness => 0.5 }],
    }
}

fn table() -> TableSchema {
    TableSchema {
        name: "towers".into(),
        caption: "Towers by year".into(),
        document: "towers.csv".into(),
        rows: 40,
        columns: vec![ColumnSchema {
            name: "opened".into(),
            kind: ColumnKind::Integer,
            unit: "years".into(),
        }],
    }
}
