//! Chat models: the client for OpenAI-compatible endpoints with its wrapping
//! (`Cached ▸ Limited ▸ Retried`), and the offline model.
pub mod extractive;
