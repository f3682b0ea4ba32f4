//! The part of ONNX's file format that the exporter writes: plain protobuf messages and short
//! constructors for them. Field numbers are those of `onnx.proto` (ONNX IR version 8); messages
//! and fields that no exported graph needs are left out.
use prost::Message;

/// ONNX intermediate representation that the messages below follow.
pub(super) const IR_VERSION: i64 = 8;
/// Standard operator set; 20 is the first with `Gelu`.
pub(super) const OPSET: i64 = 20;
/// Domain of the fused operators that ONNX Runtime introduced.
pub(super) const CONTRIB: &str = "com.microsoft";

const FLOAT: i32 = 1;
const INT64: i32 = 7;
const EXTERNAL: i32 = 1;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Model {
    #[prost(int64, tag = "1")]
    pub(super) ir_version: i64,
    #[prost(string, tag = "2")]
    pub(super) producer_name: String,
    #[prost(string, tag = "3")]
    pub(super) producer_version: String,
    #[prost(message, optional, tag = "7")]
    pub(super) graph: Option<Graph>,
    #[prost(message, repeated, tag = "8")]
    pub(super) opset_import: Vec<OperatorSet>,
    #[prost(message, repeated, tag = "14")]
    pub(super) metadata: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OperatorSet {
    #[prost(string, tag = "1")]
    pub(super) domain: String,
    #[prost(int64, tag = "2")]
    pub(super) version: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct KeyValue {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(string, tag = "2")]
    pub(super) value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Graph {
    #[prost(message, repeated, tag = "1")]
    pub(super) node: Vec<OnnxNode>,
    #[prost(string, tag = "2")]
    pub(super) name: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) initializer: Vec<Tensor>,
    #[prost(message, repeated, tag = "11")]
    pub(super) input: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub(super) output: Vec<ValueInfo>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OnnxNode {
    #[prost(string, repeated, tag = "1")]
    pub(super) input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(super) output: Vec<String>,
    #[prost(string, tag = "3")]
    pub(super) name: String,
    #[prost(string, tag = "4")]
    pub(super) op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) attribute: Vec<Attribute>,
    #[prost(string, tag = "7")]
    pub(super) domain: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(float, optional, tag = "2")]
    pub(super) f: Option<f32>,
    #[prost(int64, optional, tag = "3")]
    pub(super) i: Option<i64>,
    /// 1 for a float, 2 for an integer.
    #[prost(int32, tag = "20")]
    pub(super) kind: i32,
}

impl Attribute {
    pub(super) fn float(name: &str, value: f32) -> Self {
        Self { name: name.to_owned(), f: Some(value), i: None, kind: 1 }
    }

    pub(super) fn int(name: &str, value: i64) -> Self {
        Self { name: name.to_owned(), f: None, i: Some(value), kind: 2 }
    }
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Tensor {
    /// Unpacked, as in the `proto2` that ONNX is defined in.
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub(super) dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub(super) data_type: i32,
    #[prost(string, tag = "8")]
    pub(super) name: String,
    #[prost(bytes = "vec", optional, tag = "9")]
    pub(super) raw_data: Option<Vec<u8>>,
    #[prost(message, repeated, tag = "13")]
    pub(super) external_data: Vec<KeyValue>,
    #[prost(int32, optional, tag = "14")]
    pub(super) data_location: Option<i32>,
}

/// Where a tensor's bytes lie outside of the model file.
pub(super) struct External<'a> {
    /// A file name in the model's own folder.
    pub(super) file: &'a str,
    /// In bytes.
    pub(super) offset: u64,
    /// In bytes.
    pub(super) length: u64,
}

impl Tensor {
    /// A tensor of 32-bit floats whose bytes lie in another file.
    pub(super) fn external(name: &str, dims: Vec<i64>, place: &External<'_>) -> Self {
        let entry = |key: &str, value: String| KeyValue { key: key.to_owned(), value };
        Self {
            dims,
            data_type: FLOAT,
            name: name.to_owned(),
            raw_data: None,
            external_data: vec![
                entry("location", place.file.to_owned()),
                entry("offset", place.offset.to_string()),
                entry("length", place.length.to_string()),
            ],
            data_location: Some(EXTERNAL),
        }
    }

    /// A vector of integers, such as axes or a shape.
    pub(super) fn ints(name: &str, values: &[i64]) -> Self {
        Self {
            dims: vec![i64::try_from(values.len()).expect("a shape has few axes")],
            data_type: INT64,
            name: name.to_owned(),
            raw_data: Some(values.iter().flat_map(|value| value.to_le_bytes()).collect()),
            external_data: vec![],
            data_location: None,
        }
    }
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ValueInfo {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(message, optional, tag = "2")]
    pub(super) kind: Option<ValueType>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ValueType {
    #[prost(message, optional, tag = "1")]
    pub(super) tensor: Option<TensorType>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorType {
    #[prost(int32, tag = "1")]
    pub(super) element: i32,
    #[prost(message, optional, tag = "2")]
    pub(super) shape: Option<Shape>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Shape {
    #[prost(message, repeated, tag = "1")]
    pub(super) dim: Vec<Dim>,
}

/// One axis: either its size or, when it varies, its name.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Dim {
    #[prost(int64, optional, tag = "1")]
    pub(super) value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
}

impl Dim {
    pub(super) fn named(name: &str) -> Self {
        Self { value: None, name: Some(name.to_owned()) }
    }

    pub(super) fn fixed(size: i64) -> Self {
        Self { value: Some(size), name: None }
    }
}

impl ValueInfo {
    /// A graph input of 64-bit integers.
    pub(super) fn ints(name: &str, dim: Vec<Dim>) -> Self {
        Self::new(name, INT64, dim)
    }

    /// A graph output of 32-bit floats.
    pub(super) fn floats(name: &str, dim: Vec<Dim>) -> Self {
        Self::new(name, FLOAT, dim)
    }

    fn new(name: &str, element: i32, dim: Vec<Dim>) -> Self {
        let tensor = TensorType { element, shape: Some(Shape { dim }) };
        Self { name: name.to_owned(), kind: Some(ValueType { tensor: Some(tensor) }) }
    }
}
