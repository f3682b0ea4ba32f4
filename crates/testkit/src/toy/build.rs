//! Putting a toy base together.
use halma_core::{Edge, Hit, Layer, NodeId, Span};
use serde_json::Value;

use super::Toy;

impl Toy {
    /// [`Toy::new`], to be added to.
    #[must_use]
    pub fn of(rows: &[(&str, &str, &str, &[&str])]) -> Self {
        let mut toy = Self::default();
        for (id, title, text, atoms) in rows {
            let chunk = node(Layer::Chunk, id, title, text);
            let chunk = Hit { document: format!("{id}.md"), ..chunk };
            for (i, atom) in atoms.iter().enumerate() {
                toy.nodes.push(Hit {
                    id: NodeId(format!("{id}#{}", i + 1)),
                    layer: Layer::Atom,
                    parent: Some(chunk.id.clone()),
                    text: (*atom).to_owned(),
                    ..chunk.clone()
                });
            }
            toy.nodes.push(chunk);
        }
        toy
    }

    /// A section under a heading that holds these chunks one after the other; all become parts of
    /// one document.
    #[must_use]
    pub fn with_section(mut self, id: &str, heading: &str, chunks: &[&str]) -> Self {
        let (document, mut start, mut texts) = (format!("{id}.md"), 0, vec![]);
        for chunk in chunks {
            let chunk = NodeId::from(*chunk);
            for hit in self.nodes.iter_mut().filter(|hit| hit.id == chunk) {
                hit.parent = Some(id.into());
                hit.section = Some(heading.to_owned());
                hit.document.clone_from(&document);
                hit.span = Span { start, end: start + hit.text.chars().count() };
                start = hit.span.end;
                texts.push(hit.text.clone());
            }
        }
        let section = node(Layer::Section, id, heading, &texts.join(" "));
        self.nodes.push(Hit { document, section: Some(heading.to_owned()), ..section });
        self
    }

    /// A node made of a chunk or of another node, whose document it shares; `""` for none.
    #[must_use]
    pub fn with_node(
        mut self,
        layer: Layer,
        id: &str,
        (title, text): (&str, &str),
        of: &str,
    ) -> Self {
        let made = node(layer, id, title, text);
        let made = match self.node(&of.into()).cloned() {
            Some(parent) => Hit {
                parent: Some(parent.id),
                document: parent.document,
                section: parent.section,
                span: parent.span,
                ..made
            },
            None => made,
        };
        self.nodes.push(made);
        self
    }

    /// Edges between nodes that are there.
    #[must_use]
    pub fn with_edges(mut self, edges: &[(&str, Edge, &str)]) -> Self {
        self.edges
            .extend(edges.iter().map(|(from, edge, to)| ((*from).into(), *edge, (*to).into())));
        self
    }

    /// Tags by name, each with the chunks that have it. A tag's id is its name after `tag:`.
    #[must_use]
    pub fn with_tags(mut self, tags: &[(&str, &[&str])]) -> Self {
        for (name, chunks) in tags {
            let id = format!("tag:{name}");
            self.nodes.push(node(Layer::Tag, &id, "topic", name));
            let tagged = |chunk: &&str| ((*chunk).into(), Edge::Tagged, id.as_str().into());
            self.edges.extend(chunks.iter().map(tagged));
        }
        self
    }

    /// Entities by (name, description), each with the chunks that mention it. An entity's id is its
    /// name after `entity:`.
    #[must_use]
    pub fn with_entities(mut self, entities: &[((&str, &str), &[&str])]) -> Self {
        for ((name, description), chunks) in entities {
            let id = format!("entity:{name}");
            self.nodes.push(node(Layer::Entity, &id, name, description));
            let mentions = |chunk: &&str| ((*chunk).into(), Edge::Mentions, id.as_str().into());
            self.edges.extend(chunks.iter().map(mentions));
        }
        self
    }

    /// Communities by (title, summary), each with the entities in it, by name. A community's id is
    /// its title after `community:`.
    #[must_use]
    pub fn with_communities(mut self, communities: &[((&str, &str), &[&str])]) -> Self {
        for ((title, summary), members) in communities {
            let id = format!("community:{title}");
            self.nodes.push(node(Layer::Community, &id, title, summary));
            for name in *members {
                let member = NodeId(format!("entity:{name}"));
                self.edges.push((member, Edge::MemberOf, id.as_str().into()));
            }
        }
        self
    }

    /// A table with its columns by (name, kind), and its rows, which are nodes `name:1`, `name:2`,
    /// …. `SELECT * FROM name LIMIT n` is answered from the rows.
    #[must_use]
    pub fn with_table(
        mut self,
        name: &str,
        columns: &[(&str, &str)],
        rows: Vec<Vec<Value>>,
    ) -> Self {
        let document = format!("{name}.csv");
        for (i, row) in rows.iter().enumerate() {
            let cells: Vec<String> = columns
                .iter()
                .zip(row)
                .map(|((column, _), value)| format!("{column}: {value}"))
                .collect();
            let made = node(Layer::Row, &format!("{name}:{}", i + 1), name, &cells.join("; "));
            self.nodes.push(Hit { document: document.clone(), ..made });
        }
        self.tables.add((name, &document), columns, rows);
        self
    }

    /// What a query over the tables gives: columns, and rows of (values, the nodes each comes from).
    #[must_use]
    pub fn with_result(
        mut self,
        sql: &str,
        columns: &[&str],
        rows: Vec<(Vec<Value>, &[&str])>,
    ) -> Self {
        self.tables.answer(sql, columns, rows);
        self
    }

    /// The result of this query was cut at the limit of rows.
    #[must_use]
    pub fn cut(mut self, sql: &str) -> Self {
        self.tables.cut(sql);
        self
    }
}

fn node(layer: Layer, id: &str, title: &str, text: &str) -> Hit {
    Hit {
        id: NodeId::from(id),
        layer,
        parent: None,
        document: String::new(),
        title: title.to_owned(),
        section: None,
        page: None,
        text: text.to_owned(),
        score: 1.0,
        cosine: None,
        parts: vec![],
        span: Span { start: 0, end: text.chars().count() },
    }
}
