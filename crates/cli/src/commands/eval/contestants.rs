//! The strategies of an evaluation, at every point of its grid.
use std::collections::HashSet;

use halma_engine::Engine;
use halma_eval::{Contestant, Grid, fingerprint};

/// Builds them all before anything is asked, so that a slip of the pen costs nothing.
pub(super) fn of(
    engine: &Engine,
    names: &[String],
    grid: &[String],
) -> anyhow::Result<Vec<Contestant>> {
    let grid = Grid::parse(grid)?;
    let mut seen = HashSet::new();
    let names: Vec<&str> =
        names.iter().map(|name| name.trim()).filter(|n| seen.insert(*n)).collect();
    let mut settings = vec![];
    for name in &names {
        settings.push(engine.strategy(name)?.settings());
    }
    grid.check_used(names.iter().copied().zip(&settings))?;
    let mut contestants = vec![];
    for (name, settings) in names.iter().zip(&settings) {
        for point in grid.points(name, settings)? {
            let strategy = engine.strategy_with(name, &point.settings)?;
            let fingerprint = fingerprint([engine.fingerprint(strategy.as_ref())?]);
            let (label, point) = (point.label, point.settings);
            contestants.push(Contestant { strategy, label, fingerprint, point });
        }
    }
    Ok(contestants)
}
