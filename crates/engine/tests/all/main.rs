//! The engine by its public interface.
//! One program, since every program is linked with all that it depends on.
mod ask;
mod feedback;
mod knowledge_graph;
mod presets;
mod telemetry;
mod writing;
