//! Commands about the program and its server rather than about documents and questions.
pub(crate) mod backup;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod health;
pub(crate) mod man;
pub(crate) mod worker;
