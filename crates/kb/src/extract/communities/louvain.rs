//! Communities of a weighted graph by modularity (Louvain, with the connectedness that Leiden
//! guarantees). No chance in it: nodes are visited in the order they are given.
use std::collections::{BTreeMap, VecDeque};

/// An undirected graph: for each node its neighbours with weights, itself among them where it
/// stands for several.
#[derive(Debug, Clone, Default)]
pub(super) struct WeightedGraph {
    pub(super) neighbours: Vec<Vec<(usize, f64)>>,
}

/// Passes over all nodes within one level; later ones move next to nothing.
const PASSES: usize = 20;

/// Gains smaller than this are rounding.
const LEAST: f64 = 1e-9;

impl WeightedGraph {
    /// From edges between `nodes` nodes; parallel ones add up.
    pub(super) fn new(nodes: usize, edges: impl IntoIterator<Item = (usize, usize, f64)>) -> Self {
        let mut sums: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for (one, two, weight) in edges {
            *sums.entry((one.min(two), one.max(two))).or_default() += weight;
        }
        let mut neighbours = vec![vec![]; nodes];
        for ((one, two), weight) in sums {
            neighbours[one].push((two, weight));
            if one != two {
                neighbours[two].push((one, weight));
            }
        }
        Self { neighbours }
    }

    fn degree(&self, node: usize) -> f64 {
        // A loop has both its ends here.
        let of = |(to, weight): &(usize, f64)| if *to == node { 2.0 * weight } else { *weight };
        self.neighbours[node].iter().map(of).sum()
    }
}

/// Communities of each level, the smallest first: for every node of the graph the number of its
/// community. A level that joins nothing any more is left out.
pub(super) fn levels(graph: &WeightedGraph, max_levels: usize) -> Vec<Vec<usize>> {
    let mut levels: Vec<Vec<usize>> = vec![];
    let mut current = graph.clone();
    let mut place: Vec<usize> = (0..graph.neighbours.len()).collect();
    while levels.len() < max_levels {
        let (communities, count) = connected(&current, &one_level(&current));
        if count == current.neighbours.len() {
            break;
        }
        for at in &mut place {
            *at = communities[*at];
        }
        levels.push(place.clone());
        current = joined(&current, &communities, count);
    }
    levels
}

/// Moves nodes to the community of a neighbour as long as modularity grows.
fn one_level(graph: &WeightedGraph) -> Vec<usize> {
    let count = graph.neighbours.len();
    let degrees: Vec<f64> = (0..count).map(|node| graph.degree(node)).collect();
    let whole: f64 = degrees.iter().sum();
    let mut community: Vec<usize> = (0..count).collect();
    let mut total = degrees.clone();
    if whole <= 0.0 {
        return community;
    }
    for _ in 0..PASSES {
        let mut moved = false;
        for node in 0..count {
            let home = community[node];
            let mut links: BTreeMap<usize, f64> = BTreeMap::new();
            for (to, weight) in graph.neighbours[node].iter().filter(|(to, _)| *to != node) {
                *links.entry(community[*to]).or_default() += weight;
            }
            total[home] -= degrees[node];
            let gain = |to: usize, link: f64| link - total[to] * degrees[node] / whole;
            let mut best = (home, gain(home, links.get(&home).copied().unwrap_or_default()));
            for (to, link) in links {
                let gain = gain(to, link);
                if gain > best.1 + LEAST {
                    best = (to, gain);
                }
            }
            total[best.0] += degrees[node];
            moved |= best.0 != home;
            community[node] = best.0;
        }
        if !moved {
            break;
        }
    }
    community
}

/// Splits communities into their connected parts and numbers them from 0 in the order of their
/// first nodes.
fn connected(graph: &WeightedGraph, community: &[usize]) -> (Vec<usize>, usize) {
    let mut numbers = vec![usize::MAX; community.len()];
    let mut count = 0;
    for start in 0..community.len() {
        if numbers[start] != usize::MAX {
            continue;
        }
        numbers[start] = count;
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for (to, _) in &graph.neighbours[node] {
                if numbers[*to] == usize::MAX && community[*to] == community[start] {
                    numbers[*to] = count;
                    queue.push_back(*to);
                }
            }
        }
        count += 1;
    }
    (numbers, count)
}

/// The graph whose nodes are the communities.
fn joined(graph: &WeightedGraph, communities: &[usize], count: usize) -> WeightedGraph {
    let edges = graph.neighbours.iter().enumerate().flat_map(|(node, links)| {
        links
            .iter()
            .filter(move |(to, _)| *to >= node)
            .map(move |(to, weight)| (communities[node], communities[*to], *weight))
    });
    WeightedGraph::new(count, edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cliques of four, each tied to the next by one edge.
    fn cliques(count: usize) -> WeightedGraph {
        let mut edges = vec![];
        for clique in 0..count {
            let first = clique * 4;
            for one in first..first + 4 {
                edges.extend((one + 1..first + 4).map(|two| (one, two, 1.0)));
            }
            edges.push((first + 3, (first + 4) % (count * 4), 1.0));
        }
        WeightedGraph::new(count * 4, edges)
    }

    #[test]
    fn cliques_are_communities_and_join_at_higher_levels() {
        let levels = levels(&cliques(16), 5);
        assert!(levels.len() >= 2, "{levels:?}");
        for clique in 0..16 {
            let members = &levels[0][clique * 4..clique * 4 + 4];
            assert!(members.iter().all(|c| *c == members[0]), "{members:?}");
        }
        let size = |level: &[usize]| level.iter().max().unwrap() + 1;
        assert_eq!(size(&levels[0]), 16);
        assert!(size(&levels[1]) < 16);
        // What is together stays together.
        for (one, two) in (0..64).flat_map(|one| (0..64).map(move |two| (one, two))) {
            assert!(levels[0][one] != levels[0][two] || levels[1][one] == levels[1][two]);
        }
    }

    #[test]
    fn unconnected_nodes_are_alone() {
        assert!(levels(&WeightedGraph::new(5, []), 3).is_empty());
        let levels = levels(&WeightedGraph::new(4, [(0, 1, 1.0), (2, 3, 1.0)]), 3);
        assert_eq!(levels, [[0, 0, 1, 1]]);
    }
}
