//! Everything that talks to the world outside: chat models, embedders, and the local ones that
//! answer without a network.
pub mod embed;
pub mod llm;
