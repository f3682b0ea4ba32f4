//! Edges between nodes, each kept both ways so that it can be followed and removed from either end.
use halma_core::{Edge, Layer};

use super::changes::Changed;
use super::schema::{At, at_key, edge_byte, edge_key, edge_of_key};
use super::{StoreReader, StoreWriter};

/// An edge as stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Link {
    pub(crate) from: At,
    pub(crate) edge: Edge,
    pub(crate) to: At,
    /// How often, or how strongly; 1 where neither is known.
    pub(crate) weight: f32,
}

impl StoreReader<'_> {
    /// Edges that begin at a node, of one kind or of all, in the order of their keys.
    pub(crate) fn edges_from(&self, from: At, edge: Option<Edge>) -> heed::Result<Vec<Link>> {
        self.visible(from, self.every_edge_from(from, edge)?)
    }

    /// Edges that end at a node, of one kind or of all, in the order of where they begin.
    pub(crate) fn edges_to(&self, to: At, edge: Option<Edge>) -> heed::Result<Vec<Link>> {
        self.visible(to, self.every_edge_to(to, edge)?)
    }

    /// Of the edges of a node those that this reader may see.
    fn visible(&self, node: At, links: Vec<Link>) -> heed::Result<Vec<Link>> {
        if self.visibility.is_none() {
            return Ok(links);
        }
        if !self.sees(node)? {
            return Ok(vec![]);
        }
        let mut visible = vec![];
        for link in links {
            let other = if link.from == node { link.to } else { link.from };
            if self.sees(other)? {
                visible.push(link);
            }
        }
        Ok(visible)
    }

    fn every_edge_from(&self, from: At, edge: Option<Edge>) -> heed::Result<Vec<Link>> {
        let mut links = vec![];
        for entry in self.store.db.edges.prefix_iter(self, &prefix(from, edge))? {
            let (key, weight) = entry?;
            links.extend(link(key, weight));
        }
        Ok(links)
    }

    /// Edges that end at a node, whether or not this reader may see where they begin.
    pub(super) fn every_edge_to(&self, to: At, edge: Option<Edge>) -> heed::Result<Vec<Link>> {
        let mut links = vec![];
        for entry in self.store.db.backlinks.prefix_iter(self, &prefix(to, edge))? {
            let (key, _) = entry?;
            let Some((to, edge, from)) = edge_of_key(key) else { continue };
            let weight = self.store.db.edges.get(self, &edge_key(from, edge, to))?;
            links.extend(weight.and_then(|weight| link(&edge_key(from, edge, to), weight)));
        }
        Ok(links)
    }

    /// Whether any edge of this kind ends at a node.
    pub(crate) fn is_led_to(&self, to: At, edge: Edge) -> heed::Result<bool> {
        let mut links = self.store.db.backlinks.prefix_iter(self, &prefix(to, Some(edge)))?;
        Ok(links.next().transpose()?.is_some())
    }

    /// Every stored edge, in the order of keys.
    pub(crate) fn each_edge(&self, mut each: impl FnMut(Link)) -> heed::Result<()> {
        for entry in self.store.db.edges.iter(self)? {
            let (key, weight) = entry?;
            if let Some(link) = link(key, weight)
                && self.sees(link.from)?
                && self.sees(link.to)?
            {
                each(link);
            }
        }
        Ok(())
    }
}

impl Link {
    /// An edge of weight 1.
    pub(crate) fn new(from: At, edge: Edge, to: At) -> Self {
        Self { from, edge, to, weight: 1.0 }
    }
}

impl StoreWriter<'_> {
    /// Puts in an edge, or gives the one that is there this weight.
    pub(crate) fn put_edge(&mut self, link: Link) -> heed::Result<()> {
        self.note_edge(&link);
        let key = edge_key(link.from, link.edge, link.to);
        self.store.db.edges.put(self.txn(), &key, &link.weight.to_le_bytes())?;
        let key = edge_key(link.to, link.edge, link.from);
        self.store.db.backlinks.put(self.txn(), &key, &[])
    }

    /// Notes what names something else now; of entities, and of other edges, no one asks.
    pub(super) fn note_edge(&mut self, link: &Link) {
        if link.edge != Edge::Mentions {
            return;
        }
        for end in [link.from, link.to].into_iter().filter(|end| end.0 != Layer::Entity) {
            self.changes.add(Changed::Mentions, end);
        }
    }

    pub(crate) fn remove_edge(&mut self, link: &Link) -> heed::Result<()> {
        self.note_edge(link);
        self.store.db.edges.delete(self.txn(), &edge_key(link.from, link.edge, link.to))?;
        self.store.db.backlinks.delete(self.txn(), &edge_key(link.to, link.edge, link.from))?;
        Ok(())
    }

    /// Takes out all edges of a node, both ways. Returns the nodes that they led to.
    pub(crate) fn remove_edges_of(&mut self, node: At) -> heed::Result<Vec<At>> {
        let mut links = self.edges_from(node, None)?;
        let ends = links.iter().map(|link| link.to).collect();
        links.extend(self.edges_to(node, None)?);
        for link in &links {
            self.remove_edge(link)?;
        }
        Ok(ends)
    }
}

fn prefix(node: At, edge: Option<Edge>) -> Vec<u8> {
    let mut prefix = at_key(node).to_vec();
    prefix.extend(edge.map(edge_byte));
    prefix
}

fn link(key: &[u8], weight: &[u8]) -> Option<Link> {
    let (from, edge, to) = edge_of_key(key)?;
    let weight = f32::from_le_bytes(weight.try_into().ok()?);
    Some(Link { from, edge, to, weight })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn an_edge_is_followed_both_ways_and_removed_from_either_end() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let (chunk, entity, other) = ((Layer::Chunk, 7), (Layer::Entity, 1), (Layer::Entity, 256));
        let link = |to, weight| Link { from: chunk, edge: Edge::Mentions, to, weight };
        store
            .write(|writer| {
                writer.put_edge(link(entity, 2.0))?;
                writer.put_edge(link(other, 1.0))?;
                writer.put_edge(link(other, 3.0))
            })
            .unwrap();
        let read = |node| {
            store
                .read(|reader| Ok((reader.edges_from(node, None)?, reader.edges_to(node, None)?)))
                .unwrap()
        };
        assert_eq!(read(chunk).0, [link(entity, 2.0), link(other, 3.0)]);
        assert_eq!(read(other).1, [link(other, 3.0)]);
        let ends = store.write(|writer| writer.remove_edges_of(other)).unwrap();
        assert_eq!(ends, []);
        assert_eq!(read(chunk).0, [link(entity, 2.0)]);
        let ends = store.write(|writer| writer.remove_edges_of(chunk)).unwrap();
        assert_eq!(ends, [entity]);
        let led = store.read(|reader| reader.is_led_to(entity, Edge::Mentions)).unwrap();
        assert!(!led);
    }

    /// What graph search needs of a chunk is made again where it mentions something else, and not
    /// where documents refer to each other.
    #[test]
    fn only_mentions_are_noted_as_changes() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let touched = |edge, from: At, to: At| {
            let before = store.read(|reader| reader.change_position()).unwrap();
            store.write(|writer| writer.put_edge(Link::new(from, edge, to))).unwrap();
            let changes = |reader: &StoreReader<'_>| {
                let changes = reader.changes_since(before)?.unwrap_or_default();
                reader.chunks_touched_by(&changes)
            };
            store.read(changes).unwrap()
        };
        let (chunk, document) = ((Layer::Chunk, 7), (Layer::Document, 1));
        assert_eq!(touched(Edge::Mentions, chunk, (Layer::Entity, 1)), [7]);
        assert!(touched(Edge::RefersTo, chunk, document).is_empty());
    }
}
