//! A base in step with files that come, change and go.
mod mail;
mod update;
mod watch;
