//! The strategies of an evaluation, at every point of its grid.
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use halma_core::{ConfigError, Mode, Strategy};
use halma_engine::{Config, Engine, configured_strategy};
use halma_eval::{Grid, Point, SystemUnderTest};

use crate::commands::vectors;

/// The setting of strategies that search.
const MODE: &str = "mode";

/// Names and a grid, as they were given.
pub(super) struct Strategies {
    names: Vec<String>,
    grid: Grid,
}

impl Strategies {
    /// Each name once.
    pub(super) fn new(names: &[String], grid: &[String]) -> anyhow::Result<Self> {
        let grid = Grid::parse(grid)?;
        let mut unique = HashSet::new();
        let names = names.iter().map(|name| name.trim().to_owned());
        Ok(Self { names: names.filter(|name| unique.insert(name.clone())).collect(), grid })
    }

    /// Builds them all without a base, so that a typing error costs nothing.
    pub(super) fn check(&self, config: &Config) -> anyhow::Result<()> {
        for (name, point) in
            self.points(|name, settings| configured_strategy(config, name, settings))?
        {
            configured_strategy(config, name, &point.settings)?;
        }
        Ok(())
    }

    /// Refuses a setting that `--set` gives one value and `--grid` others: the first would be lost.
    pub(super) fn check_not_set(&self, config: &Config, sets: &[String]) -> anyhow::Result<()> {
        let points = self.points(|name, settings| configured_strategy(config, name, settings))?;
        let keys = points.iter().flat_map(|(name, point)| {
            point.settings.keys().map(move |key| format!("{name}.{key}"))
        });
        let set: HashSet<&str> =
            sets.iter().filter_map(|set| set.split_once('=')).map(|(key, _)| key.trim()).collect();
        let Some(key) = keys.into_iter().find(|key| set.contains(key.as_str())) else {
            return Ok(());
        };
        let error = ConfigError {
            file: "--set".into(),
            key: format!("strategy.{key}"),
            reason: "`--grid` gives this setting its values".into(),
            hint: "write it in one of the two".into(),
        };
        Err(error.into())
    }

    /// Refuses those that need what is not configured, before their base is built. A grid that asks
    /// for vectors where there are none is an error; a strategy that searches so by itself is run.
    pub(super) fn check_requirements(&self, engine: &Engine) -> anyhow::Result<()> {
        let mut compared = vec![];
        for (name, point) in self.points(|name, settings| engine.strategy_with(name, settings))? {
            let strategy = engine.strategy_with(name, &point.settings)?;
            if let Some(mode) = point.settings.get(MODE).and_then(|mode| named(mode)) {
                vectors::check(engine, mode, "--grid")?;
            } else if mode_of(strategy.as_ref()) == Some(Mode::Dense) {
                compared.push(point.label);
            }
        }
        vectors::warn_of_strategies(engine, &compared);
        Ok(())
    }

    /// On a base that is complete: what they are is told by it as well.
    pub(super) fn systems(&self, engine: &Engine) -> anyhow::Result<Vec<SystemUnderTest>> {
        let points = self.points(|name, settings| engine.strategy_with(name, settings))?;
        let system = |(name, Point { label, settings }): (&str, Point)| {
            engine.system_under_test(name, label, settings).map_err(anyhow::Error::from)
        };
        points.into_iter().map(system).collect()
    }

    /// Every strategy at every point of the grid; each axis must concern one of them.
    fn points(
        &self,
        build: impl Fn(&str, &BTreeMap<String, String>) -> Result<Arc<dyn Strategy>, ConfigError>,
    ) -> anyhow::Result<Vec<(&str, Point)>> {
        let mut strategies = vec![];
        for name in &self.names {
            strategies.push((name.as_str(), build(name, &BTreeMap::new())?.settings()));
        }
        self.grid.check_used(strategies.iter().map(|(name, settings)| (*name, settings)))?;
        let mut points = vec![];
        for (name, settings) in &strategies {
            points
                .extend(self.grid.points(name, settings)?.into_iter().map(|point| (*name, point)));
        }
        Ok(points)
    }
}

/// The mode in which a strategy searches, where it has that setting.
fn mode_of(strategy: &dyn Strategy) -> Option<Mode> {
    named(strategy.settings().get(MODE)?.as_str()?)
}

/// Whether settings ask for a search that compares vectors alone.
pub(super) fn is_dense(settings: &BTreeMap<String, String>) -> bool {
    settings.get(MODE).and_then(|mode| named(mode)) == Some(Mode::Dense)
}

fn named(mode: &str) -> Option<Mode> {
    Mode::ALL.into_iter().find(|candidate| candidate.name() == mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(names: &[&str], grid: &[&str]) -> Option<String> {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let strategies = Strategies::new(&owned(names), &owned(grid));
        strategies.and_then(|made| made.check(&Config::default())).err().map(|e| e.to_string())
    }

    #[test]
    fn a_setting_is_of_the_grid_or_set() {
        let strategies = Strategies::new(&["naive".into()], &["chunks=2".into()]).unwrap();
        let check = |set: &str| strategies.check_not_set(&Config::default(), &[set.to_owned()]);
        assert!(check("naive.mode=bm25").is_ok() && check("kar3.chunks=7").is_ok());
        let error = check("naive.chunks=7").unwrap_err().to_string();
        assert!(error.contains("`strategy.naive.chunks`"), "{error}");
    }

    #[test]
    fn a_typing_error_is_told_without_a_base() {
        assert_eq!(refused(&["kar3", " kar3", "naive"], &["n=1..3"]), None);
        let told = |names: &[&str], grid: &[&str], words: &str| {
            assert!(refused(names, grid).is_some_and(|error| error.contains(words)), "{words}");
        };
        told(&["kra3"], &[], "no such strategy");
        told(&["kar3"], &["n=3..1"], "upwards");
        told(&["kar3"], &["depth=1|2"], "no strategy of this evaluation");
        told(&["kar3"], &["mode=vectors|graph"], "vectors");
    }
}
