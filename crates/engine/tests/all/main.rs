//! The engine by its public interface. One program, since each is linked anew.
mod ask;
mod feedback;
mod knowledge_graph;
mod presets;
mod telemetry;
mod writing;
