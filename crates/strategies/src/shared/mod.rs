//! Steps that several strategies share.
pub(crate) mod citing;
pub(crate) mod closing;
pub(crate) mod kinds;
pub(crate) mod overlap;
pub(crate) mod plan;
pub(crate) mod recall;
pub(crate) mod references;
pub(crate) mod settings;
pub(crate) mod sources;
pub(crate) mod steps;
