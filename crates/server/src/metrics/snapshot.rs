//! Gauges: what is true at the moment when metrics are asked for.
use std::sync::atomic::AtomicU64;

use halma_engine::BaseSize;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use super::labels::{LayerLabels, VersionLabel, WorkspaceLabel};
use super::process::Process;
use crate::app::App;
use crate::workspace::Workspace;

/// Workspaces with series of their own; the others are counted together.
const MAX_WORKSPACES: usize = 100;

/// The name under which the others are counted; it is not a valid name of a workspace.
const OTHERS: &str = "(others)";

type Gauges<L> = Family<L, Gauge<u64, AtomicU64>>;

/// The state of a server at one moment.
#[derive(Default)]
pub(crate) struct Snapshot {
    questions_running: u64,
    questions_limit: u64,
    workspaces: Vec<WorkspaceState>,
    process: Process,
}

/// The state of one open workspace.
struct WorkspaceState {
    name: String,
    requests_waiting: u64,
    builds_pending: u64,
    /// `None` while the base cannot be read.
    size: Option<BaseSize>,
}

impl Snapshot {
    /// Reads from the disk; must run on the blocking pool.
    pub(crate) fn read(app: &App) -> Self {
        let limit = app.config.concurrent_asks;
        let running = limit.saturating_sub(app.asks.available_permits());
        Self {
            questions_running: running as u64,
            questions_limit: limit as u64,
            workspaces: app.workspaces.open().iter().map(|one| state(one)).collect(),
            process: Process::read(),
        }
    }

    /// The gauges as metrics.
    pub(super) fn registry(&self) -> Registry {
        let mut registry = Registry::default();
        self.process(&mut registry);
        let all = registry.sub_registry_with_prefix("halma");
        let version = VersionLabel { version: env!("CARGO_PKG_VERSION") };
        all.register("build", "The version of the program", Info::new(version));
        all.register("questions_running", "Questions under way", gauge(self.questions_running));
        all.register(
            "questions_limit",
            "Questions that may be under way: `serve.concurrent_asks`",
            gauge(self.questions_limit),
        );
        self.workspaces(all);
        registry
    }

    fn workspaces(&self, all: &mut Registry) {
        let (waiting, pending) = (Gauges::default(), Gauges::default());
        let (nodes, bytes, cached) = (Gauges::default(), Gauges::default(), Gauges::default());
        for (at, one) in self.workspaces.iter().enumerate() {
            let workspace = if at < MAX_WORKSPACES { one.name.clone() } else { OTHERS.to_owned() };
            let label = WorkspaceLabel { workspace: workspace.clone() };
            waiting.get_or_create(&label).inc_by(one.requests_waiting);
            pending.get_or_create(&label).inc_by(one.builds_pending);
            let Some(size) = &one.size else { continue };
            bytes.get_or_create(&label).inc_by(size.bytes_on_disk);
            cached.get_or_create(&label).inc_by(size.cached_replies);
            for (layer, count) in &size.layers {
                let workspace = workspace.clone();
                let labels = LayerLabels { workspace, layer: layer.name() };
                nodes.get_or_create(&labels).inc_by(*count);
            }
        }
        all.register("requests_waiting", "Requests that wait for their turn", waiting);
        all.register("builds_pending", "Builds that are queued or run", pending);
        all.register("base_nodes", "Nodes of a base by layer", nodes);
        all.register_with_unit("base_size", "Size of a base on disk", Unit::Bytes, bytes);
        all.register("cached_replies", "Replies of models in the cache", cached);
    }

    fn process(&self, registry: &mut Registry) {
        let all = registry.sub_registry_with_prefix("process");
        let Process { resident_bytes, cpu_seconds, open_files } = self.process;
        if let Some(bytes) = resident_bytes {
            let help = "Memory of the process without that of its worker processes";
            all.register_with_unit("resident_memory", help, Unit::Bytes, gauge(bytes));
        }
        if let Some(files) = open_files {
            all.register("open_fds", "Open file descriptors", gauge(files));
        }
        if let Some(seconds) = cpu_seconds {
            let counter = Counter::<f64, AtomicU64>::default();
            counter.inc_by(seconds);
            all.register_with_unit("cpu", "Processor time of the process", Unit::Seconds, counter);
        }
    }
}

fn gauge(value: u64) -> Gauge<u64, AtomicU64> {
    let gauge = Gauge::default();
    gauge.set(value);
    gauge
}

fn state(workspace: &Workspace) -> WorkspaceState {
    let size = workspace.engine().base_size();
    if let Err(e) = &size {
        tracing::warn!("the size of the workspace `{}` cannot be read: {e}", workspace.name);
    }
    let builds = workspace.builds.list();
    WorkspaceState {
        name: workspace.name.clone(),
        requests_waiting: workspace.waiting() as u64,
        builds_pending: builds.iter().filter(|build| build.state.is_pending()).count() as u64,
        size: size.ok(),
    }
}
