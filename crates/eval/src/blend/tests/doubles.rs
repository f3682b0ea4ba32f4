//! A graph, web pages and a reader of a few lines each.
use async_trait::async_trait;
use halma_core::{
    BoxError, ChatReply, ChatRequest, Entity, EntityId, Fact, FactValue, Facts, Hit, Layer, Llm,
    LlmError, NodeId, Source, Span, Tail, ValueKind, text,
};
use serde_json::{Value, json};

pub(super) fn hit(document: &str, title: &str, text: &str, layer: Layer) -> Hit {
    Hit {
        id: NodeId(document.to_owned()),
        layer,
        parent: None,
        document: document.to_owned(),
        title: title.to_owned(),
        section: None,
        page: None,
        text: text.to_owned(),
        score: 1.0,
        cosine: None,
        parts: vec![],
        span: Span::default(),
    }
}

/// Facts by the labels of their ends; what begins with a digit is a day.
pub(super) struct Graph {
    facts: Vec<(String, String, String)>,
    /// About this entity it says nothing and fails.
    silent: Option<String>,
}

impl Graph {
    pub(super) fn of(facts: &[(&str, &str, &str)]) -> Self {
        let own = |(head, relation, tail): &(&str, &str, &str)| {
            ((*head).to_owned(), (*relation).to_owned(), (*tail).to_owned())
        };
        Self { facts: facts.iter().map(own).collect(), silent: None }
    }

    pub(super) fn failing(facts: &[(&str, &str, &str)], about: &str) -> Self {
        Self { silent: Some(about.to_owned()), ..Self::of(facts) }
    }

    fn entity(label: &str) -> Entity {
        let kind = if label.contains(' ') { "person" } else { "town" };
        Entity {
            id: label.into(),
            label: label.to_owned(),
            description: String::new(),
            types: vec![kind.to_owned()],
            score: 1.0,
        }
    }

    fn all(&self) -> impl Iterator<Item = Fact> {
        self.facts.iter().map(|(head, relation, tail)| {
            let value = tail.starts_with(|c: char| c.is_ascii_digit());
            let line = format!("{head} {relation} {tail}");
            Fact {
                head: Self::entity(head),
                relation: relation.clone(),
                tail: if value {
                    Tail::Value(FactValue {
                        text: tail.clone(),
                        kind: ValueKind::Date,
                        unit: String::new(),
                    })
                } else {
                    Tail::Entity(Self::entity(tail))
                },
                qualifiers: vec![],
                score: 1.0,
                evidence: hit("graph", head, &line, Layer::Fact),
            }
        })
    }
}

fn touches(fact: &Fact, entity: &EntityId) -> bool {
    fact.head.id == *entity || matches!(&fact.tail, Tail::Entity(tail) if tail.id == *entity)
}

#[async_trait]
impl Facts for Graph {
    fn name(&self) -> &'static str {
        "kg"
    }

    fn about(&self) -> &'static str {
        "a town and its people"
    }

    async fn find(&self, name: &str, _: Option<&str>, _: usize) -> Result<Vec<Entity>, BoxError> {
        let ends = self.facts.iter().flat_map(|(head, _, tail)| [head, tail]);
        let mut labels: Vec<&String> = ends.collect();
        labels.sort();
        labels.dedup();
        // Of a longer name the first word is an alias.
        let score = |label: &str| match label.strip_prefix(name) {
            Some("") => 1.0,
            Some(rest) if rest.starts_with(' ') => 0.9,
            _ => 0.0,
        };
        let entities =
            labels.into_iter().map(|label| Entity { score: score(label), ..Self::entity(label) });
        Ok(entities.filter(|entity| entity.score > 0.0).collect())
    }

    async fn relate(&self, entity: &EntityId, relation: &str) -> Result<Vec<Fact>, BoxError> {
        Ok(self.all().filter(|f| f.relation == relation && touches(f, entity)).collect())
    }

    async fn between(&self, _: &EntityId, _: &EntityId) -> Result<Vec<Fact>, BoxError> {
        Ok(vec![])
    }

    async fn filter(&self, _: &[EntityId], _: &str) -> Result<Option<Vec<Fact>>, BoxError> {
        Ok(None)
    }

    async fn facts_of(&self, entity: &EntityId, limit: usize) -> Result<Vec<Fact>, BoxError> {
        if self.silent.as_ref() == Some(&entity.0) {
            return Err("the graph is gone".into());
        }
        Ok(self.all().filter(|fact| touches(fact, entity)).take(limit).collect())
    }
}

/// Pages by address; those are found that hold the query.
pub(super) struct Pages(pub(super) &'static [(&'static str, &'static str)]);

#[async_trait]
impl Source for Pages {
    fn name(&self) -> &'static str {
        "web"
    }

    fn about(&self) -> &'static str {
        "news"
    }

    async fn search(&self, query: &str, limit: usize) -> Result<Vec<Hit>, BoxError> {
        let found = self.0.iter().filter(|(_, text)| text.contains(query)).take(limit);
        Ok(found.map(|(address, text)| hit(address, "News", text, Layer::Chunk)).collect())
    }
}

/// Breaks passages up into sentences, and answers the questions that it knows.
pub(super) struct Reader(pub(super) &'static [(&'static str, &'static str)]);

#[async_trait]
impl Llm for Reader {
    fn model(&self) -> &'static str {
        "reader"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let variables = serde_json::to_value(&request.variables).unwrap();
        let said = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let reply = if request.prompt == "blend/statements" {
            let text = said(&variables["chunk"]["text"]);
            let lines: Vec<&str> =
                text::sentences(&text).into_iter().map(|range| &text[range]).collect();
            lines.join("\n")
        } else {
            let asked = said(&variables["question"]["text"]);
            let known = self.0.iter().find(|(question, _)| *question == asked);
            json!({"rationale": "", "answer": known.map_or("", |(_, answer)| answer)}).to_string()
        };
        Ok(ChatReply { text: reply, ..ChatReply::default() })
    }
}
