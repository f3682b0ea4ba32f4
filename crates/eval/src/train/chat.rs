//! Training examples in the chat formats that trainers read.
use std::str::FromStr;

use halma_core::Message;
use serde_json::{Value, json};

use super::folder::OutputFile;

/// What reads the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatFormat {
    /// Hugging Face TRL: `prompt` and `completion`, or `chosen` and `rejected`, as messages.
    Trl,
    /// LLaMA-Factory: messages, with its `dataset_info.json` and a configuration.
    LlamaFactory,
    /// The fine-tuning API of OpenAI, which others copy.
    OpenAi,
}

impl ChatFormat {
    pub const ALL: [Self; 3] = [Self::Trl, Self::LlamaFactory, Self::OpenAi];

    pub fn name(self) -> &'static str {
        match self {
            Self::Trl => "trl",
            Self::LlamaFactory => "llama-factory",
            Self::OpenAi => "openai",
        }
    }
}

impl FromStr for ChatFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| format!("it is not one of {}", Self::ALL.map(Self::name).join(", ")))
    }
}

/// The constants with which a paper trains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recipe {
    /// PIKE-RAG, Section 6.4: `LoRA` of rank 16 with alpha 64, learning rate 1.5e-5, else the
    /// defaults of TRL (3 epochs).
    Proposer,
    /// DEC, Section 4.1: learning rate 5e-5, 2 epochs; the rank is LLaMA-Factory's default.
    Keywords,
}

/// A prompt with the reply that is learned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Example {
    pub(super) prompt: Vec<Message>,
    pub(super) reply: String,
    /// The reply that is unlearned, in a preference.
    pub(super) rejected: Option<String>,
}

/// The files of a training set in the order of the examples: training, held out, and what else the
/// format needs.
pub(super) fn files(
    format: ChatFormat,
    recipe: Recipe,
    (train, held_out): (&[Example], &[Example]),
) -> Vec<OutputFile> {
    let prefers = train.iter().chain(held_out).any(|example| example.rejected.is_some());
    let lines = |examples: &[Example]| {
        let mut bytes = vec![];
        for example in examples {
            bytes.extend(line(format, example).to_string().into_bytes());
            bytes.push(b'\n');
        }
        bytes
    };
    let mut files = vec![
        OutputFile { name: "train.jsonl", bytes: lines(train) },
        OutputFile { name: "heldout.jsonl", bytes: lines(held_out) },
    ];
    if format == ChatFormat::LlamaFactory {
        let info = pretty(&dataset_info(prefers));
        files.push(OutputFile { name: "dataset_info.json", bytes: info });
        let configuration = configuration(recipe, prefers, !held_out.is_empty()).into_bytes();
        files.push(OutputFile { name: "llamafactory.yaml", bytes: configuration });
    }
    files
}

pub(super) fn pretty(value: &Value) -> Vec<u8> {
    let mut text = format!("{value:#}");
    text.push('\n');
    text.into_bytes()
}

fn line(format: ChatFormat, example: &Example) -> Value {
    let Example { prompt, reply, rejected } = example;
    let prompt: Vec<Value> = prompt.iter().map(|m| message(&m.role, &m.text)).collect();
    let reply = message("assistant", reply);
    let with_reply = || prompt.iter().cloned().chain([reply.clone()]).collect::<Vec<Value>>();
    let Some(rejected) = rejected.as_ref().map(|text| message("assistant", text)) else {
        return match format {
            ChatFormat::Trl => json!({ "prompt": prompt, "completion": [reply] }),
            ChatFormat::LlamaFactory | ChatFormat::OpenAi => json!({ "messages": with_reply() }),
        };
    };
    match format {
        ChatFormat::Trl => json!({ "prompt": prompt, "chosen": [reply], "rejected": [rejected] }),
        ChatFormat::LlamaFactory => {
            json!({ "messages": prompt, "chosen": reply, "rejected": rejected })
        }
        ChatFormat::OpenAi => json!({
            "input": { "messages": prompt, "tools": [], "parallel_tool_calls": true },
            "preferred_output": [reply],
            "non_preferred_output": [rejected],
        }),
    }
}

fn message(role: &str, content: &str) -> Value {
    json!({ "role": role, "content": content })
}

fn dataset_info(prefers: bool) -> Value {
    let entry = |file: &str| {
        let mut entry = json!({
            "file_name": file,
            "formatting": "sharegpt",
            "columns": { "messages": "messages" },
            "tags": {
                "role_tag": "role",
                "content_tag": "content",
                "user_tag": "user",
                "assistant_tag": "assistant",
                "system_tag": "system",
            },
        });
        if prefers {
            entry["ranking"] = json!(true);
            entry["columns"]["chosen"] = json!("chosen");
            entry["columns"]["rejected"] = json!("rejected");
        }
        entry
    };
    json!({ "halma_train": entry("train.jsonl"), "halma_heldout": entry("heldout.jsonl") })
}

/// What is trained by default is the model of the paper; name another one in the file. A set for
/// evaluation that is empty ends LLaMA-Factory, so it is named only where something is held out.
fn configuration(recipe: Recipe, prefers: bool, evaluates: bool) -> String {
    let (model, template, rank, alpha, rate, epochs, cutoff) = match recipe {
        Recipe::Proposer => {
            ("meta-llama/Llama-3.1-8B-Instruct", "llama3", 16, 64, "1.5e-5", 3, 2048)
        }
        Recipe::Keywords => ("meta-llama/Llama-3.2-3B-Instruct", "llama3", 8, 16, "5.0e-5", 2, 512),
    };
    let held_out = if evaluates { "eval_dataset: halma_heldout\n" } else { "" };
    let stage = if prefers { "dpo\npref_beta: 0.1" } else { "sft" };
    format!(
        "model_name_or_path: {model}\ntemplate: {template}\nstage: {stage}\ndo_train: true\n\
         finetuning_type: lora\nlora_target: all\nlora_rank: {rank}\nlora_alpha: {alpha}\n\
         dataset_dir: .\ndataset: halma_train\n{held_out}cutoff_len: {cutoff}\n\
         learning_rate: {rate}\nnum_train_epochs: {epochs}\nbf16: true\nseed: 1\n\
         output_dir: adapter\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(rejected: Option<&str>) -> Example {
        let prompt = [("system", "Decide."), ("user", "Who?")];
        let prompt = prompt.map(|(role, text)| Message { role: role.into(), text: text.into() });
        let rejected = rejected.map(str::to_owned);
        Example { prompt: prompt.to_vec(), reply: "A".into(), rejected }
    }

    #[test]
    fn every_format_has_the_keys_of_its_reader() {
        let keys = |format, rejected| {
            let line = line(format, &example(rejected));
            let keys: Vec<String> = line.as_object().unwrap().keys().cloned().collect();
            keys.join(" ")
        };
        assert_eq!(keys(ChatFormat::Trl, None), "prompt completion");
        assert_eq!(keys(ChatFormat::Trl, Some("B")), "prompt chosen rejected");
        assert_eq!(keys(ChatFormat::LlamaFactory, None), "messages");
        assert_eq!(keys(ChatFormat::LlamaFactory, Some("B")), "messages chosen rejected");
        assert_eq!(keys(ChatFormat::OpenAi, None), "messages");
        let dpo = "input preferred_output non_preferred_output";
        assert_eq!(keys(ChatFormat::OpenAi, Some("B")), dpo);
        let last = &line(ChatFormat::OpenAi, &example(None))["messages"][2];
        assert_eq!(*last, json!({ "role": "assistant", "content": "A" }));
    }

    #[test]
    fn llama_factory_gets_what_it_needs_to_start() {
        let examples = [example(Some("B"))];
        let with = |held_out: &[Example]| {
            let files = files(ChatFormat::LlamaFactory, Recipe::Proposer, (&examples, held_out));
            String::from_utf8(files[3].bytes.clone()).unwrap()
        };
        assert!(with(&examples).contains("\neval_dataset: halma_heldout\n"));
        assert!(!with(&[]).contains("eval_dataset"));
        let files = files(ChatFormat::LlamaFactory, Recipe::Proposer, (&examples, &[]));
        let names: Vec<&str> = files.iter().map(|file| file.name).collect();
        assert_eq!(
            names,
            ["train.jsonl", "heldout.jsonl", "dataset_info.json", "llamafactory.yaml"]
        );
        let yaml = String::from_utf8(files[3].bytes.clone()).unwrap();
        assert!(yaml.contains("stage: dpo") && yaml.contains("lora_rank: 16"), "{yaml}");
        let info: Value = serde_json::from_slice(&files[2].bytes).unwrap();
        assert_eq!(info["halma_train"]["ranking"], true);
    }
}
