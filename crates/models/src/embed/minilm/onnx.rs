//! The part of ONNX's file format that the exporter writes, as protobuf. Field numbers are those of
//! `onnx.proto` (ONNX IR version 8); fields that no exported graph needs are left out.

/// ONNX intermediate representation that the messages below follow.
const IR_VERSION: i64 = 8;
/// Standard operator set; 20 is the first with `Gelu`.
const OPSET: i64 = 20;
/// Domain of the fused operators that ONNX Runtime introduced.
const CONTRIB: &str = "com.microsoft";

const FLOAT: i64 = 1;
const INT64: i64 = 7;
const EXTERNAL: i64 = 1;

/// The bytes of a protobuf message; fields are written in the order of their numbers.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    fn varint(mut self, mut value: u64) -> Self {
        while value >= 0x80 {
            self.0.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
        self
    }

    fn int(self, field: u64, value: i64) -> Self {
        self.varint(field << 3).varint(value.cast_unsigned())
    }

    fn float(self, field: u64, value: f32) -> Self {
        let mut message = self.varint(field << 3 | 5);
        message.0.extend(value.to_le_bytes());
        message
    }

    fn bytes(self, field: u64, bytes: &[u8]) -> Self {
        let mut message = self.varint(field << 3 | 2).varint(bytes.len() as u64);
        message.0.extend(bytes);
        message
    }

    fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    fn messages<'m>(self, field: u64, messages: impl IntoIterator<Item = &'m Self>) -> Self {
        messages.into_iter().fold(self, |all, message| all.bytes(field, &message.0))
    }
}

/// A graph with what it takes and gives.
#[derive(Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Message>,
    pub(super) tensors: Vec<Message>,
    pub(super) inputs: Vec<Message>,
    pub(super) outputs: Vec<Message>,
}

impl Graph {
    /// The content of a model file. `producer`: its maker with the version, `metadata`: made by
    /// [`entry`].
    pub(super) fn model(&self, name: &str, producer: [&str; 2], metadata: &[Message]) -> Vec<u8> {
        let graph = Message::default()
            .messages(1, &self.nodes)
            .text(2, name)
            .messages(5, &self.tensors)
            .messages(11, &self.inputs)
            .messages(12, &self.outputs);
        let sets =
            [Message::default().int(2, OPSET), Message::default().text(1, CONTRIB).int(2, 1)];
        Message::default()
            .int(1, IR_VERSION)
            .text(2, producer[0])
            .text(3, producer[1])
            .messages(7, [&graph])
            .messages(8, &sets)
            .messages(14, metadata)
            .0
    }
}

/// An operator; an input without a name is not given.
pub(super) fn node(op: &str, inputs: &[&str], output: &str, attributes: &[Message]) -> Message {
    let node = inputs.iter().fold(Message::default(), |node, input| node.text(1, input));
    let node = node.text(2, output).text(3, &format!("{op}:{output}")).text(4, op);
    let node = node.messages(5, attributes);
    if op == "MultiHeadAttention" { node.text(7, CONTRIB) } else { node }
}

pub(super) fn float_attribute(name: &str, value: f32) -> Message {
    Message::default().text(1, name).float(2, value).int(20, 1)
}

pub(super) fn int_attribute(name: &str, value: i64) -> Message {
    Message::default().text(1, name).int(3, value).int(20, 2)
}

/// Where a tensor's bytes lie outside of the model file.
pub(super) struct External<'a> {
    /// A file name in the model's own folder.
    pub(super) file: &'a str,
    /// In bytes.
    pub(super) offset: usize,
    /// In bytes.
    pub(super) length: usize,
}

/// A tensor of 32-bit floats whose bytes lie in another file.
pub(super) fn external_tensor(name: &str, dims: &[i64], place: &External<'_>) -> Message {
    let tensor = dims.iter().fold(Message::default(), |tensor, size| tensor.int(1, *size));
    let place = [
        entry("location", place.file),
        entry("offset", &place.offset.to_string()),
        entry("length", &place.length.to_string()),
    ];
    tensor.int(2, FLOAT).text(8, name).messages(13, &place).int(14, EXTERNAL)
}

/// A vector of integers, such as axes or a shape.
pub(super) fn int_tensor(name: &str, values: &[i64]) -> Message {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Message::default().int(1, int(values.len())).int(2, INT64).text(8, name).bytes(9, &bytes)
}

/// A graph input of 64-bit integers.
pub(super) fn int_value(name: &str, dims: &[Message]) -> Message {
    value(name, INT64, dims)
}

/// A graph output of 32-bit floats.
pub(super) fn float_value(name: &str, dims: &[Message]) -> Message {
    value(name, FLOAT, dims)
}

fn value(name: &str, element: i64, dims: &[Message]) -> Message {
    let shape = Message::default().messages(1, dims);
    let tensor = Message::default().int(1, element).messages(2, [&shape]);
    let kind = Message::default().messages(1, [&tensor]);
    Message::default().text(1, name).messages(2, [&kind])
}

/// An axis whose size varies.
pub(super) fn named_dim(name: &str) -> Message {
    Message::default().text(2, name)
}

pub(super) fn fixed_dim(size: usize) -> Message {
    Message::default().int(1, int(size))
}

pub(super) fn entry(key: &str, value: &str) -> Message {
    Message::default().text(1, key).text(2, value)
}

/// ONNX counts in 64-bit signed integers.
pub(super) fn int(size: usize) -> i64 {
    i64::try_from(size).expect("sizes of a model in memory fit 63 bits")
}
