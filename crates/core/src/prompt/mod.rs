//! Prompts: their words are files, their replies are typed.
mod demonstrations;
mod file;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use include_dir::{Dir, include_dir};
use minijinja::{Environment, ErrorKind, UndefinedBehavior};
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::demonstrations::DEMONSTRATIONS;
use self::file::{Front, Section, form, images, includes, line_of, parse_file};
pub use self::file::{PromptFile, PromptSet, Shape};
use crate::{Message, parse_json};

/// One prompt: its words are the file `name`, `parse` makes a value of the model's reply or says
/// what is wrong with it.
pub struct Prompt<R> {
    pub name: &'static str,
    pub parse: fn(&str) -> Result<R, String>,
}

impl<R: DeserializeOwned> Prompt<R> {
    /// A prompt that asks for JSON in the shape of `R`, parsed tolerantly.
    pub const fn json(name: &'static str) -> Self {
        Self { name, parse: |text| parse_json(text) }
    }
}

impl Prompt<String> {
    /// A prompt whose reply is taken as it is; an empty one does not fit.
    pub const fn text(name: &'static str) -> Self {
        Self {
            name,
            parse: |text| match text.trim() {
                "" => Err("the reply is empty".into()),
                text => Ok(text.to_owned()),
            },
        }
    }
}

impl Prompt<Vec<String>> {
    /// A prompt that asks for one item a line; bullets and numbers are stripped, empties dropped.
    pub const fn lines(name: &'static str) -> Self {
        Self { name, parse: |text| crate::reply::parse_lines(text) }
    }
}

/// A prompt file that cannot be used, or that does not fit the variables it is given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct PromptError {
    pub prompt: String,
    pub file: String,
    pub line: Option<usize>,
    pub reason: String,
}

impl std::fmt::Display for PromptError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: prompt `{}`: ", self.file, self.prompt)?,
            None => write!(f, "{}: prompt `{}`: ", self.file, self.prompt)?,
        }
        f.write_str(&self.reason)
    }
}

/// What `halma prompts list` shows for one prompt.
#[derive(Debug, Clone, Serialize)]
pub struct PromptInfo {
    pub name: String,
    pub task: String,
    pub role: String,
    pub variables: Vec<String>,
    /// JSON schema of the reply; `None` when the reply is text.
    pub reply_schema: Option<serde_json::Value>,
    /// A file of the user's replaces the shipped one.
    pub overridden: bool,
    /// The file in use and the hash of its text, which the trace records.
    pub file: String,
    pub hash: String,
}

/// A prompt rendered with its variables, ready to be asked.
#[derive(Debug, Clone)]
pub struct Rendered {
    pub messages: Vec<Message>,
    /// Worked examples that may be put before the last message.
    pub demonstrations: Vec<Message>,
    /// Whether it asks for an answer that is never empty.
    pub must_answer: bool,
    pub hash: Arc<str>,
    pub task: String,
    pub role: String,
    pub max_tokens: u32,
    pub temperature: f32,
    pub stop: Vec<String>,
    pub schema: Option<Arc<serde_json::Value>>,
    /// Images to send along, as data URLs.
    pub images: Vec<String>,
}

struct Template {
    front: Front,
    schema: Option<Arc<serde_json::Value>>,
    sections: Vec<(String, String)>,
    /// Of its own text; [`Prompts::hash_of`] adds that of its parts.
    hash: Arc<str>,
    /// The parts that it includes.
    parts: Vec<String>,
    /// Worked examples: messages before the last one, shown where demonstrations are wanted.
    demonstrations: Vec<Message>,
    file: String,
    overridden: bool,
}

impl Template {
    /// Whether it asks for the answer to a question that is always answered.
    fn must_answer(&self, vars: &minijinja::Value) -> bool {
        let question = vars.get_attr("question").unwrap_or_default();
        let may_abstain = question.get_attr("abstain").unwrap_or_default();
        may_abstain == minijinja::Value::from(false)
            && self.parts.iter().any(|part| WITHOUT_ANSWER.contains(&part.as_str()))
    }
}

/// The prompts that core itself needs: the complaint about a reply that does not fit; the question
/// for the entities of a text; and the parts that prompts of all crates include,
/// `{% include "part/answer_form" %}`.
pub const PROMPTS: PromptSet = PromptSet::Folder(&FILES);

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/prompts");

/// The folder of files that are parts of prompts and are never asked by themselves.
const PARTS: &str = "part/";

/// The parts that say what a prompt for an answer expects where there is none: an empty answer, or of
/// a question that is always answered the most likely one.
const WITHOUT_ANSWER: [&str; 2] = ["part/unanswered", "part/unknown"];

/// Stands in a prompt for the types of the reply's fields.
const FORM: &str = "{{ form }}";

/// Steps of the template engine for one message of a prompt: far more than the longest list of
/// passages takes, and less than a second.
const MAX_STEPS: u64 = 5_000_000;

/// Where a prompt comes from.
#[derive(Clone, Copy)]
struct Source<'a> {
    name: &'a str,
    file: &'a str,
    text: &'a str,
    /// Whether it is a user's file in place of the shipped one.
    overridden: bool,
}

impl Source<'_> {
    fn error(&self, line: Option<usize>, reason: String) -> PromptError {
        let (prompt, file) = (self.name.to_owned(), self.file.to_owned());
        PromptError { prompt, file, line, reason }
    }
}

/// All prompts of a running engine. Strict: an undefined variable is an error with its line.
pub struct Prompts {
    environment: Environment<'static>,
    templates: BTreeMap<String, Template>,
}

impl Prompts {
    /// The shipped prompts of some crates, [`PROMPTS`] included.
    pub fn shipped(sets: &[PromptSet]) -> Result<Self, PromptError> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_fuel(Some(MAX_STEPS));
        let mut prompts = Self { environment, templates: BTreeMap::new() };
        let files = std::iter::once(&PROMPTS).chain(sets).copied().flatten();
        let (demonstrations, files): (Vec<PromptFile>, Vec<PromptFile>) =
            files.partition(|file| file.name.ends_with(DEMONSTRATIONS));
        for file in files {
            let path = format!("prompts/{}.md", file.name);
            let (front, sections) = parse_file(file.name, &path, file.text, None)?;
            let (name, text, overridden) = (file.name, file.text, false);
            prompts.insert(Source { name, file: &path, text, overridden }, front, sections)?;
        }
        for file in demonstrations {
            let path = format!("prompts/{}.md", file.name);
            prompts.demonstrate(file.name, &path, file.text)?;
        }
        prompts.check_demonstrations()?;
        Ok(prompts)
    }

    /// Replaces a shipped prompt by a user's file, which is checked against the variables it will
    /// be given. Front matter it leaves out is taken from the shipped file.
    pub fn replace(&mut self, name: &str, file: &str, text: &str) -> Result<(), PromptError> {
        if name.ends_with(DEMONSTRATIONS) {
            return self.demonstrate(name, file, text);
        }
        let source = Source { name, file, text, overridden: true };
        let Some(shipped) = self.templates.get(name) else {
            let reason = format!("there is no prompt of this name{}", self.nearest(name));
            return Err(source.error(None, reason));
        };
        let (front, sections) = parse_file(name, file, text, Some(&shipped.front))?;
        let roles: BTreeSet<&str> =
            self.templates.values().map(|template| template.front.role.as_str()).collect();
        if !roles.contains(front.role.as_str()) {
            let roles = roles.into_iter().collect::<Vec<_>>().join(", ");
            let reason = format!("`{}` is not a role; the roles are {roles}", front.role);
            return Err(source.error(None, reason));
        }
        self.insert(source, front, sections)?;
        self.check_demonstrations()
    }

    fn insert(
        &mut self,
        source: Source<'_>,
        front: Front,
        sections: Vec<Section>,
    ) -> Result<(), PromptError> {
        let Source { name, file, text, overridden } = source;
        let mut used: Vec<String> = front.images.clone();
        let mut compiled = vec![];
        let mut parts: Vec<String> = vec![];
        let form = front.schema.as_ref().map(form).unwrap_or_default();
        for (i, mut section) in sections.into_iter().enumerate() {
            let id = format!("{name}#{i}");
            section.source = section.source.replace(FORM, &form);
            used.extend(self.compile(&id, source, &section, &front.variables)?);
            parts.extend(includes(&section.source).into_iter().map(|(part, _)| part.to_owned()));
            compiled.push((section.role, id));
        }
        // A shipped prompt that ignores a variable is a mistake; a user's may leave words out.
        if let Some(unused) = front.variables.iter().find(|v| !overridden && !used.contains(v)) {
            let reason = format!("variable `{unused}` is declared and not used");
            return Err(source.error(Some(1), reason));
        }
        let hash = blake3::hash(text.as_bytes()).to_hex()[..16].into();
        let schema = front.schema.clone().map(Arc::new);
        let file = file.to_owned();
        // A user's words keep the examples of those that they replace.
        let demonstrations = self.templates.remove(name).map(|t| t.demonstrations);
        let demonstrations = demonstrations.unwrap_or_default();
        let sections = compiled;
        let template =
            Template { front, schema, sections, hash, parts, demonstrations, file, overridden };
        self.templates.insert(name.to_owned(), template);
        Ok(())
    }

    /// Compiles a section under an id, and returns the variables that it uses, all of which are to
    /// be among those that it is given.
    fn compile(
        &mut self,
        id: &str,
        source: Source<'_>,
        section: &Section,
        given: &[String],
    ) -> Result<Vec<String>, PromptError> {
        let mut used = vec![];
        for (part, line) in includes(&section.source) {
            let needed = self.needs(source.name, part, given);
            used.extend(needed.map_err(|reason| source.error(Some(line), reason))?);
        }
        let invalid = |e: minijinja::Error| source.error(e.line(), e.to_string());
        self.add(id, &section.source).map_err(invalid)?;
        if source.name.starts_with(PARTS) {
            // Included by its name, without the lines that number its own.
            self.add(source.name, section.source.trim()).map_err(invalid)?;
        }
        for variable in self.undeclared(id) {
            if !given.contains(&variable) {
                let line = line_of(&section.source, &variable);
                let given = given.join("`, `");
                let reason = format!("there is no variable `{variable}` here (given: `{given}`)");
                return Err(source.error(line, reason));
            }
            used.push(variable);
        }
        Ok(used)
    }

    fn add(&mut self, id: &str, source: &str) -> Result<(), minijinja::Error> {
        self.environment.add_template_owned(id.to_owned(), source.to_owned())
    }

    /// The variables of a part that a prompt includes, all of which it must be given.
    fn needs(&self, prompt: &str, part: &str, given: &[String]) -> Result<Vec<String>, String> {
        if prompt.starts_with(PARTS) {
            return Err("a part includes no other".into());
        }
        let Some(template) = self.templates.get(part).filter(|_| part.starts_with(PARTS)) else {
            return Err(format!("there is no part `{part}`{}", self.nearest(part)));
        };
        let needed = &template.front.variables;
        match needed.iter().find(|variable| !given.contains(variable)) {
            Some(missing) => Err(format!("`{part}` needs the variable `{missing}`")),
            None => Ok(needed.clone()),
        }
    }

    /// The hash of a prompt's words, those of its parts and its worked examples included.
    fn hash_of(&self, template: &Template) -> Arc<str> {
        let demonstrations = self.demonstrations_of(template);
        if template.parts.is_empty() && demonstrations.is_empty() {
            return Arc::clone(&template.hash);
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(template.hash.as_bytes());
        for part in template.parts.iter().filter_map(|name| self.templates.get(name)) {
            hasher.update(part.hash.as_bytes());
        }
        for message in demonstrations {
            hasher.update(message.text.as_bytes());
        }
        hasher.finalize().to_hex()[..16].into()
    }

    fn undeclared(&self, id: &str) -> Vec<String> {
        let globals: Vec<&str> = self.environment.globals().map(|(name, _)| name).collect();
        let used = self.environment.get_template(id).map(|t| t.undeclared_variables(false));
        let mut used: Vec<String> = used.unwrap_or_default().into_iter().collect();
        used.retain(|name| !globals.contains(&name.as_str()));
        used.sort();
        used
    }

    fn nearest(&self, name: &str) -> String {
        let step = name.rsplit('/').next().unwrap_or(name);
        let mut out = String::new();
        for name in self.templates.keys().filter(|name| name.ends_with(step)) {
            let _ =
                write!(out, "{}`{name}`", if out.is_empty() { "; did you mean " } else { ", " });
        }
        out
    }

    /// Renders every section on its own, so that substituted text stays inside its message.
    pub fn render(&self, name: &str, vars: &minijinja::Value) -> Result<Rendered, PromptError> {
        let Some(template) = self.templates.get(name) else {
            return Err(PromptError {
                prompt: name.into(),
                file: format!("prompts/{name}.md"),
                line: None,
                reason: "there is no such file".into(),
            });
        };
        let mut messages = Vec::with_capacity(template.sections.len());
        for (role, id) in &template.sections {
            let text = self
                .environment
                .get_template(id)
                .and_then(|compiled| compiled.render(vars))
                .map_err(|e| PromptError {
                    prompt: name.into(),
                    file: template.file.clone(),
                    line: e.line(),
                    reason: match e.kind() {
                        ErrorKind::OutOfFuel => {
                            format!(
                                "a message takes more than {MAX_STEPS} steps: shorten its loops"
                            )
                        }
                        _ => e.to_string(),
                    },
                })?;
            messages.push(Message { role: role.clone(), text: text.trim().to_owned() });
        }
        let must_answer = template.must_answer(vars);
        Ok(Rendered {
            messages,
            hash: self.hash_of(template),
            demonstrations: self.demonstrations_shown(template, must_answer),
            must_answer,
            task: template.front.task.clone(),
            role: template.front.role.clone(),
            max_tokens: template.front.max_tokens,
            temperature: template.front.temperature,
            stop: template.front.stop.clone(),
            schema: template.schema.clone(),
            images: images(&template.front.images, vars),
        })
    }

    pub fn list(&self) -> Vec<PromptInfo> {
        let info = |(name, template): (&String, &Template)| PromptInfo {
            name: name.clone(),
            task: template.front.task.clone(),
            role: template.front.role.clone(),
            variables: template.front.variables.clone(),
            reply_schema: template.front.schema.clone(),
            overridden: template.overridden,
            file: template.file.clone(),
            hash: self.hash_of(template).to_string(),
        };
        self.templates.iter().map(info).collect()
    }
}
