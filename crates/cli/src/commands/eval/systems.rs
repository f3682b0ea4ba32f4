//! The strategies of an evaluation, at every point of its grid.
use std::collections::HashSet;

use halma_engine::Engine;
use halma_eval::{Grid, SystemUnderTest};

/// Builds them all before anything is asked, so that a typing error costs nothing.
pub(super) fn build(
    engine: &Engine,
    names: &[String],
    grid: &[String],
) -> anyhow::Result<Vec<SystemUnderTest>> {
    let grid = Grid::parse(grid)?;
    let mut unique = HashSet::new();
    let names: Vec<&str> =
        names.iter().map(|name| name.trim()).filter(|n| unique.insert(*n)).collect();
    let mut settings = vec![];
    for name in &names {
        settings.push(engine.strategy(name)?.settings());
    }
    grid.check_used(names.iter().copied().zip(&settings))?;
    let mut systems = vec![];
    for (name, settings) in names.iter().zip(&settings) {
        for point in grid.points(name, settings)? {
            systems.push(engine.system_under_test(name, point.label, point.settings)?);
        }
    }
    Ok(systems)
}
