//! What a build has left to do in a base.
use halma_core::text::thousands;
use halma_kb::{Migration, Stats};

/// What is not as the configuration or the documents want it until the next build.
pub(super) fn unfinished(stats: &Stats) -> String {
    let mut message = String::new();
    if let Some(Migration { from, to, done, total }) = &stats.migration {
        let (done, total) = (thousands(*done), thousands(*total));
        message = format!(
            "; {done} of {total} texts have a vector of {to}, and searches use those of {from} until \
             all have: run `halma index` with that embedder configured"
        );
    }
    if stats.pending_units > 0 {
        let embed = stats.figures.units.get("embed");
        let texts = thousands(*embed.and_then(|counts| counts.get("pending")).unwrap_or(&0));
        message = format!(
            "{message}; units of work that are left: {}, of them texts without a vector: {texts}; run \
             `halma index` again, which resumes the build",
            thousands(stats.pending_units)
        );
    }
    if stats.communities_stale {
        message += "; its communities are those of former entities, or wait for their summaries: \
                  `halma index` makes them again";
    }
    message
}

#[cfg(test)]
mod tests {
    use halma_kb::{Base, BaseOptions};

    use super::*;

    #[test]
    fn work_that_an_interrupted_build_left_is_reported_with_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let base = Base::create_or_open(dir.path(), BaseOptions::default()).unwrap();
        let mut stats = base.inspector().stats().unwrap();
        assert_eq!(unfinished(&stats), "");
        stats.pending_units = 5000;
        stats.figures.units.insert("embed", [("pending", 3)].into());
        let message = unfinished(&stats);
        assert!(message.contains("left: 5,000, of them texts without a vector: 3; run"));
    }
}
