//! `halma kg`: loads and queries the knowledge graph.
mod ask;
mod load;
mod show;

use crate::args::{Common, Kg, KgCommand};

pub(crate) async fn run(args: Kg, common: &Common) -> anyhow::Result<()> {
    match args.command {
        KgCommand::Load(own) => load::load(&own, common),
        KgCommand::Unload(own) => load::unload(&own, common),
        KgCommand::Show(own) => show::run(&own, common),
        KgCommand::Find(own) => ask::find(&own, common).await,
        KgCommand::Relate(own) => ask::relate(&own, common).await,
        KgCommand::Filter(own) => ask::filter(&own, common).await,
    }
}
