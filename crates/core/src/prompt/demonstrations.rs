//! Worked examples of prompts: files next to them, or those of another prompt.
use super::file::demonstrated;
use super::{PromptError, Prompts, Source, Template};
use crate::Message;
use crate::reply::is_silent;

/// How the names of files with worked examples end: `kar3/propose.demonstrations` is next to
/// `kar3/propose`.
pub(super) const DEMONSTRATIONS: &str = ".demonstrations";

impl Prompts {
    /// Gives a prompt the worked examples of the file next to it: pairs of what is asked and what
    /// is replied, taken as they stand.
    pub(super) fn demonstrate(
        &mut self,
        name: &str,
        file: &str,
        text: &str,
    ) -> Result<(), PromptError> {
        let source = Source { name, file, text, overridden: false };
        let fail = |reason: &str| source.error(None, reason.to_owned());
        let messages = demonstrated(text);
        let paired = messages.chunks(2).all(
            |pair| matches!(pair, [ask, reply] if ask.role == "user" && reply.role == "assistant"),
        );
        if messages.is_empty() || !paired {
            return Err(fail("demonstrations are pairs of `## user` and `## assistant`"));
        }
        let template = self.templates.get_mut(name.trim_end_matches(DEMONSTRATIONS));
        template.ok_or_else(|| fail("there is no prompt next to it"))?.demonstrations = messages;
        Ok(())
    }

    /// A prompt that shows the examples of another one finds some there.
    pub(super) fn check_demonstrations(&self) -> Result<(), PromptError> {
        for (name, template) in &self.templates {
            let of = template.front.demonstrations.as_ref();
            if let Some(of) = of.filter(|_| self.demonstrations_of(template).is_empty()) {
                let (file, overridden) = (template.file.as_str(), false);
                let source = Source { name, file, text: "", overridden };
                let nearest = self.nearest(of);
                return Err(source.error(None, format!("`{of}` has no demonstrations{nearest}")));
            }
        }
        Ok(())
    }

    /// The worked examples that are shown: without those that give no answer where one must be given.
    pub(super) fn demonstrations_shown(
        &self,
        template: &Template,
        must_answer: bool,
    ) -> Vec<Message> {
        let pairs = self.demonstrations_of(template).chunks(2);
        let pairs = pairs.filter(|pair| !must_answer || !is_silent(&pair[1].text));
        pairs.flatten().cloned().collect()
    }

    /// The worked examples of a prompt, or of the prompt whose examples it shows.
    pub(super) fn demonstrations_of<'a>(&'a self, template: &'a Template) -> &'a [Message] {
        let shared = template.front.demonstrations.as_ref();
        match shared.and_then(|name| self.templates.get(name)) {
            Some(shared) if template.demonstrations.is_empty() => &shared.demonstrations,
            _ => &template.demonstrations,
        }
    }
}
