//! What the machine gives: space on the disk, open files; and what a question may cost.
use std::path::Path;

use halma_kb::{Confinement, confinement};

use super::{Finding, Health};
use crate::config::Config;

/// Below this share of the disk, or this many bytes, a build may end for lack of space.
const LOW_SHARE: f64 = 0.05;
const LOW_BYTES: u64 = 2_000_000_000;

/// Files that a server has open apart from connections: the base, its indexes, the log.
const OWN_FILES: u64 = 256;

/// Space on the disk of the base.
pub(super) fn disk(dir: &Path) -> Finding {
    const NAME: &str = "disk";
    // The folder of a base that is not made yet is on the disk of the first folder above it.
    let absolute = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let existing = absolute.ancestors().find(|dir| dir.exists()).unwrap_or(Path::new("/"));
    match rustix::fs::statvfs(existing) {
        Ok(disk) => space(disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize),
        Err(e) => Finding::bad(NAME, format!("{}: {e}", existing.display())),
    }
}

/// Bytes that are free on the disk of a folder.
pub fn free_space(dir: &Path) -> std::io::Result<u64> {
    let disk = rustix::fs::statvfs(dir)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn space(free: u64, all: u64) -> Finding {
    #[expect(clippy::cast_precision_loss, reason = "only shown, and compared with a share")]
    let (share, gigabytes) = (free as f64 / all.max(1) as f64, free as f64 / 1e9);
    let message = format!("{gigabytes:.1} GB free, {:.0} %", share * 100.0);
    if free < LOW_BYTES || share < LOW_SHARE {
        let message = format!("{message}; free some space before the next build");
        return Finding::new("disk", Health::Warning, message);
    }
    Finding::new("disk", Health::Good, message)
}

/// How many files a server may have open, against the connections that it accepts.
pub(super) fn open_files(config: &Config) -> Option<Finding> {
    let soft = rlimit::Resource::NOFILE.get_soft().ok()?;
    let connections = config.serve.connections as u64;
    let needed = connections.saturating_add(OWN_FILES);
    if soft < needed {
        let message = format!(
            "{soft} may be open, and `serve.connections` is {connections}; set LimitNOFILE={needed} \
             (systemd) or `ulimit -n {needed}` for the server, or lower `serve.connections`"
        );
        return Some(Finding::new("open files", Health::Warning, message));
    }
    Some(Finding::new("open files", Health::Good, format!("{soft} may be open")))
}

/// Whether the processes that read files and run SQL can reach what is not theirs. A program without
/// such processes does both itself.
pub(super) fn workers(config: &Config) -> Option<Finding> {
    config.worker.as_ref()?;
    let (health, message) = confined(confinement());
    Some(Finding::new("workers", health, message))
}

fn confined(confinement: Confinement) -> (Health, &'static str) {
    match confinement {
        Confinement::Full => {
            let message = "the processes that read files and run SQL cannot open your files or signal \
                           other processes";
            (Health::Good, message)
        }
        Confinement::Partial => {
            let message = "the processes that read files and run SQL cannot open your files; Linux 6.12 \
                           or newer also keeps them from signalling other processes";
            (Health::Good, message)
        }
        Confinement::None => {
            let message = "the processes that read files and run SQL can open all files of this user: \
                           the system has no Landlock (Linux 5.13 or newer, with `landlock` in its \
                           `lsm=` list); run Halma as a user of its own";
            (Health::Warning, message)
        }
    }
}

/// Whether a question can cost any amount.
pub(super) fn budget(config: &Config) -> Finding {
    const NAME: &str = "budget";
    let paid = |model: &crate::config::ModelConfig| model.price != halma_core::Price::default();
    let budget = config.budget.ask;
    let limited = budget.calls.is_some() || budget.tokens.is_some() || budget.usd.is_some();
    match (config.models.values().any(paid), limited) {
        (true, false) => {
            let message = "a question may cost any amount; set `usd` under [budget.ask]";
            Finding::new(NAME, Health::Warning, message)
        }
        (true, true) => Finding::new(NAME, Health::Good, "limits for a question are set"),
        (false, _) => Finding::new(NAME, Health::Good, "no model has a price"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_low_by_its_share_or_by_its_bytes() {
        assert_eq!(space(50_000_000_000, 100_000_000_000).health, Health::Good);
        assert_eq!(space(40_000_000_000, 1_000_000_000_000).health, Health::Warning);
        assert_eq!(space(1_000_000_000, 2_000_000_000).health, Health::Warning);
        assert_eq!(space(0, 0).health, Health::Warning);
    }

    #[test]
    fn workers_that_may_open_files_are_a_warning() {
        assert_eq!(confined(Confinement::Full).0, Health::Good);
        assert_eq!(confined(Confinement::Partial).0, Health::Good);
        let (health, message) = confined(Confinement::None);
        assert!(health == Health::Warning && message.contains("Landlock"), "{message}");
        assert!(
            workers(&Config::default()).is_none(),
            "without processes there is none to confine"
        );
    }

    #[test]
    fn a_price_without_a_limit_is_a_warning() {
        let text = "[models.m]\nurl = \"http://x/v1\"\nmodel = \"m\"\n\
                    price = { prompt = 1.0, completion = 2.0 }\n";
        let mut config: Config = toml::from_str(text).unwrap();
        assert_eq!(budget(&config).health, Health::Warning);
        config.budget.ask.usd = Some(0.1);
        assert_eq!(budget(&config).health, Health::Good);
        assert_eq!(budget(&Config::default()).health, Health::Good);
    }
}
