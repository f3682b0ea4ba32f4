//! Embeddings without a model: words are hashed to directions, so that texts which share words
//! are near each other.

/// Signs and places that each word gets in the vector.
const PLACES: u32 = 4;

/// A unit vector of `dim` components, always the same for a text; 1–2 µs for a passage.
pub fn vector(text: &str, dim: usize) -> Vec<f32> {
    let mut vector = vec![0_f32; dim];
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        // Short words are in nearly every text and tell little.
        let weight = if word.len() <= 3 { 0.2 } else { 1.0 };
        let mut hash = hash(word);
        for _ in 0..PLACES {
            let sign = if hash & 1 == 0 { weight } else { -weight };
            vector[(hash >> 1) as usize % dim] += sign;
            hash = hash.rotate_right(16).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > f32::EPSILON {
        for x in &mut vector {
            *x /= length;
        }
    } else {
        vector[0] = 1.0;
    }
    vector
}

/// FNV-1a over the lower-cased bytes.
fn hash(word: &str) -> u64 {
    let step = |hash: u64, byte: u8| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0000_0100_0000_01b3)
    };
    word.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_share_words_are_near() {
        let dot = |a: &str, b: &str| {
            vector(a, 384).iter().zip(vector(b, 384)).map(|(a, b)| a * b).sum::<f32>()
        };
        let near = dot("Marie Curie was born in Warsaw", "Where was Marie Curie born?");
        let far = dot("Marie Curie was born in Warsaw", "Steel bridges span the harbour");
        assert!(near > 0.6 && far < 0.3, "{near} {far}");
        assert!((dot("one two three", "one two three") - 1.0).abs() < 1e-5);
        assert!((dot("", "") - 1.0).abs() < 1e-5);
    }
}
