//! Rounding in a form that the compiler makes vectors of: without SSE 4.1, which our builds do not
//! assume, `f32::round` is a call of the C library for each number.

/// The nearest whole number, halves away from zero, as `f32::round` gives it; 0 for what is not a
/// number. For values whose whole part fits into 32 bits.
#[expect(clippy::inline_always, reason = "so that loops over it become vector code")]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the whole part is what is wanted, and the rest of it is exact"
)]
#[inline(always)]
pub(crate) fn rounded(x: f32) -> i32 {
    let whole = x as i32;
    let rest = x - whole as f32;
    whole + i32::from(rest >= 0.5) - i32::from(rest <= -0.5)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn differs(x: f32) -> bool {
        (rounded(x) as f32 - x.round()).abs() > f32::EPSILON
    }

    #[test]
    fn halves_and_their_neighbours_are_rounded_as_by_the_library() {
        for whole in i8::MIN..=i8::MAX {
            for half in [-0.5, 0.0, 0.5] {
                let x: f32 = f32::from(whole) + half;
                for x in [x.next_down(), x, x.next_up()] {
                    assert!(!differs(x), "{x}");
                }
            }
        }
        assert_eq!(rounded(f32::NAN), 0);
    }

    proptest! {
        #[test]
        fn any_number_is_rounded_as_by_the_library(x in -1e6_f32..1e6) {
            prop_assert!(!differs(x));
        }
    }
}
