//! `halma kb`: inspects a knowledge base and deletes documents.
mod cache;
mod copy;
mod delete;
mod export;
mod learn_tags;
mod list;
mod merges;
mod meta;
mod show;
mod sql;
mod stats;
mod timeline;
mod verify;

use crate::args::{Common, Kb, KbCommand};

pub(crate) async fn run(args: Kb, common: &Common) -> anyhow::Result<()> {
    match args.command {
        KbCommand::Stats(own) => stats::run(&own, common),
        KbCommand::List(own) => list::run(&own, common),
        KbCommand::Show(own) => show::run(&own, common),
        KbCommand::Export(own) => export::run(&own, common),
        KbCommand::Verify(own) => verify::run(&own, common),
        KbCommand::Copy(own) => copy::run(&own, common),
        KbCommand::Delete(own) => delete::run(&own, common),
        KbCommand::Cache(own) => cache::run(&own, common),
        KbCommand::Meta(own) => meta::run(&own, common),
        KbCommand::Tables(own) => sql::tables(&own, common),
        KbCommand::Sql(own) => sql::run(&own, common),
        KbCommand::Merges(own) => merges::run(&own, common),
        KbCommand::Timeline(own) => timeline::run(own, common),
        KbCommand::LearnTags(own) => learn_tags::run(&own, common).await,
    }
}
