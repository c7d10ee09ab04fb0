//! Inner products, with the instructions that the processor at hand has. The portable forms define what each kernel returns.
//! It must not know what the numbers mean.
#![allow(unsafe_code)] // AVX2 loads and the calls into functions compiled for AVX2; each block says why it is sound.

use super::codes::REST_PARTS;

/// Bytes that a row of codes is padded to: one AVX2 register.
pub(super) const ROW_ALIGN: usize = 32;

/// Largest magnitude of a code. -128 is left out: then neither the sign trick nor the 16-bit pair sums of the AVX2 kernel can overflow.
pub(super) const CODE_MAX: i8 = 127;

/// Inner product of two int8 vectors of one length, exact. Codes lie in -127..=127. Of unequal lengths the shorter counts.
#[inline]
pub(crate) fn dot_codes(a: &[i8], b: &[i8]) -> i32 {
    let mut out = [0];
    let length = a.len().min(b.len());
    dot_code_rows(&a[..length], &b[..length], &mut out);
    out[0]
}

/// Inner products of `query` with the rows that stand one after the other in `rows`; each is as long as `query`. Exact. Codes lie in -127..=127.
///
/// # Panics
/// When `rows` is not `out.len()` rows long.
#[inline]
pub(crate) fn dot_code_rows(query: &[i8], rows: &[i8], out: &mut [i32]) {
    assert_eq!(rows.len(), query.len() * out.len(), "rows of another length than the query");
    #[cfg(target_arch = "x86_64")]
    if query.len().is_multiple_of(ROW_ALIGN) && is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2 (just asked), the query's length is a multiple of a register and the rows have that length (asserted).
        return unsafe { avx2::dot_code_rows(query, rows, out) };
    }
    portable::dot_code_rows(query, rows, out);
}

/// Inner product of two f32 vectors. Of unequal lengths the shorter counts. The order of summation, so the last bits, depend on the processor.
#[inline]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let length = a.len().min(b.len());
    let (a, b) = (&a[..length], &b[..length]);
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor has AVX2 and FMA (just asked) and the lengths are equal.
        return unsafe { avx2::dot(a, b) };
    }
    portable::dot(a, b)
}

/// Inner product of a query with codes and what they leave over, in scales of the codes. What stands behind the end of the shortest does not
/// count.
#[inline]
pub(super) fn dot_fine(query: &[f32], codes: &[i8], rest: &[i16]) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2 (just asked).
        return unsafe { avx2::dot_fine(query, codes, rest) };
    }
    portable::dot_fine(query, codes, rest)
}

/// Most numbers that [`reaching`] takes.
pub(super) const REACHING_MAX: usize = 128;

/// Which numbers are at least `bar`, a bit each, the first the lowest.
///
/// # Panics
/// Of more than [`REACHING_MAX`] numbers.
#[inline]
pub(super) fn reaching(numbers: &[f32], bar: f32) -> u128 {
    assert!(numbers.len() <= REACHING_MAX, "more numbers than bits");
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2 (just asked).
        return unsafe { avx2::reaching(numbers, bar) };
    }
    portable::reaching(numbers, bar)
}

/// Asks for a row that is read soon.
#[inline]
pub(super) fn prefetch<T>(row: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..size_of_val(row)).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has the instruction; it is a hint, and the address lies in the row.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(row.as_ptr().cast::<i8>().add(line)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = row;
}

/// Adds codes times a scale to `sum`, place by place, with the same result on every processor. Of unequal lengths the shorter counts.
#[inline]
pub(crate) fn add_codes(codes: &[u8], scale: f32, sum: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2 (just asked).
        return unsafe { avx2::add_codes(codes, scale, sum) };
    }
    portable::add_codes(codes, scale, sum);
}

/// Plain loops, which the compiler vectorises for the target's baseline (SSE2, NEON).
mod portable {
    use super::REST_PARTS;

    pub(super) fn dot_code_rows(query: &[i8], rows: &[i8], out: &mut [i32]) {
        if query.is_empty() {
            return out.fill(0);
        }
        for (out, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
            *out = query.iter().zip(row).map(|(&a, &b)| i32::from(i16::from(a)) * i32::from(i16::from(b))).sum();
        }
    }

    #[inline(always)]
    pub(super) fn dot_fine(query: &[f32], codes: &[i8], rest: &[i16]) -> f32 {
        const LANES: usize = 16;
        let one = |query: f32, code: i8, rest: i16| query * (f32::from(code) + f32::from(rest) * (1.0 / REST_PARTS));
        let length = query.len().min(codes.len()).min(rest.len());
        let (query, query_rest) = query[..length].as_chunks::<LANES>();
        let (codes, codes_rest) = codes[..length].as_chunks::<LANES>();
        let (rest, rest_rest) = rest[..length].as_chunks::<LANES>();
        let mut lanes = [0.0; LANES];
        for ((query, codes), rest) in query.iter().zip(codes).zip(rest) {
            for lane in 0..LANES {
                lanes[lane] += one(query[lane], codes[lane], rest[lane]);
            }
        }
        let behind = query_rest.iter().zip(codes_rest).zip(rest_rest).map(|((&query, &code), &rest)| one(query, code, rest));
        lanes.iter().sum::<f32>() + behind.sum::<f32>()
    }

    pub(super) fn reaching(numbers: &[f32], bar: f32) -> u128 {
        numbers.iter().enumerate().fold(0, |bits, (at, &number)| bits | u128::from(number >= bar) << at)
    }

    #[inline(always)]
    pub(super) fn add_codes(codes: &[u8], scale: f32, sum: &mut [f32]) {
        for (sum, &code) in sum.iter_mut().zip(codes) {
            *sum += f32::from(code as i8) * scale;
        }
    }

    pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
        const LANES: usize = 16;
        let mut lanes = [0.0; LANES];
        let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
        let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
        for (a, b) in a.zip(b) {
            for lane in 0..LANES {
                lanes[lane] += a[lane] * b[lane];
            }
        }
        lanes.iter().sum::<f32>() + rest
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    /// Rows taken together: their sums share the loads of the query and one reduction.
    const TOGETHER: usize = 4;
    /// How far ahead rows are asked for. The processor's own prefetch stops at each page.
    const AHEAD_BYTES: usize = 4096;

    /// # Safety
    /// Needs AVX2; `query.len()` is a multiple of 32 and `rows.len() == query.len() * out.len()`.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn dot_code_rows(query: &[i8], rows: &[i8], out: &mut [i32]) {
        let stride = query.len();
        let mut groups = out.chunks_exact_mut(TOGETHER);
        let mut at = 0;
        for group in &mut groups {
            let four = &rows[at..at + stride * TOGETHER];
            for line in (0..four.len()).step_by(64) {
                // A hint about an address; it may lie behind the end, nothing is read there.
                _mm_prefetch::<_MM_HINT_T0>(four.as_ptr().wrapping_add(AHEAD_BYTES + line));
            }
            let mut sums = [_mm256_setzero_si256(); TOGETHER];
            for offset in (0..stride).step_by(32) {
                // SAFETY: offset + 32 <= stride, and `four` holds TOGETHER rows of stride bytes; the loads need no alignment.
                unsafe {
                    let q = _mm256_loadu_si256(query.as_ptr().add(offset).cast());
                    for (row, sum) in sums.iter_mut().enumerate() {
                        let r = _mm256_loadu_si256(four.as_ptr().add(row * stride + offset).cast());
                        *sum = _mm256_add_epi32(*sum, products(q, r));
                    }
                }
            }
            group.copy_from_slice(&reduce_four(sums));
            at += stride * TOGETHER;
        }
        for out in groups.into_remainder() {
            let row = &rows[at..at + stride];
            let mut sum = _mm256_setzero_si256();
            for offset in (0..stride).step_by(32) {
                // SAFETY: offset + 32 <= stride, the length of both; the loads need no alignment.
                unsafe {
                    let q = _mm256_loadu_si256(query.as_ptr().add(offset).cast());
                    let r = _mm256_loadu_si256(row.as_ptr().add(offset).cast());
                    sum = _mm256_add_epi32(sum, products(q, r));
                }
            }
            *out = reduce_four([sum, _mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()])[0];
            at += stride;
        }
    }

    /// Sums of four neighbouring products as 8 x i32. |q| x (r with q's sign) = q x r; two products are at most 2 x 127^2 = 32,258 < 2^15.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn products(q: __m256i, r: __m256i) -> __m256i {
        let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(q), _mm256_sign_epi8(r, q));
        _mm256_madd_epi16(pairs, _mm256_set1_epi16(1))
    }

    /// The sum of each register's lanes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn reduce_four([a, b, c, d]: [__m256i; 4]) -> [i32; 4] {
        let halves = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
        let sums = _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256::<1>(halves));
        let mut out = [0; 4];
        // SAFETY: `out` is 16 bytes, the size of the store, which needs no alignment.
        unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), sums) };
        out
    }

    /// # Safety
    /// Needs AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn dot_fine(query: &[f32], codes: &[i8], rest: &[i16]) -> f32 {
        super::portable::dot_fine(query, codes, rest)
    }

    /// # Safety
    /// Needs AVX2; at most 128 numbers.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn reaching(numbers: &[f32], bar: f32) -> u128 {
        let (eights, rest) = numbers.as_chunks::<8>();
        let bars = _mm256_set1_ps(bar);
        let mut bits = super::portable::reaching(rest, bar).checked_shl(8 * eights.len() as u32).unwrap_or(0);
        for (at, eight) in eights.iter().enumerate() {
            // SAFETY: eight numbers, as many as the load takes; it needs no alignment.
            let reach = unsafe { _mm256_cmp_ps::<_CMP_GE_OQ>(_mm256_loadu_ps(eight.as_ptr()), bars) };
            bits |= u128::from(_mm256_movemask_ps(reach) as u32) << (8 * at);
        }
        bits
    }

    /// # Safety
    /// Needs AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn add_codes(codes: &[u8], scale: f32, sum: &mut [f32]) {
        super::portable::add_codes(codes, scale, sum);
    }

    /// # Safety
    /// Needs AVX2 and FMA; the lengths are equal.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn dot(a: &[f32], b: &[f32]) -> f32 {
        let whole = a.len() / 16 * 16;
        let (mut low, mut high) = (_mm256_setzero_ps(), _mm256_setzero_ps());
        for at in (0..whole).step_by(16) {
            // SAFETY: at + 16 <= whole <= the length of both; the loads need no alignment.
            unsafe {
                let (pa, pb) = (a.as_ptr().add(at), b.as_ptr().add(at));
                low = _mm256_fmadd_ps(_mm256_loadu_ps(pa), _mm256_loadu_ps(pb), low);
                high = _mm256_fmadd_ps(_mm256_loadu_ps(pa.add(8)), _mm256_loadu_ps(pb.add(8)), high);
            }
        }
        let mut lanes = [0.0_f32; 8];
        // SAFETY: `lanes` is 32 bytes, the size of the store, which needs no alignment.
        unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), _mm256_add_ps(low, high)) };
        lanes.iter().sum::<f32>() + a[whole..].iter().zip(&b[whole..]).map(|(a, b)| a * b).sum::<f32>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn codes(length: usize) -> impl Strategy<Value = Vec<i8>> {
        let code = prop_oneof![3 => -CODE_MAX..=CODE_MAX, 1 => Just(CODE_MAX), 1 => Just(-CODE_MAX), 1 => Just(0)];
        vec(code, length)
    }

    fn query_and_rows() -> impl Strategy<Value = (Vec<i8>, Vec<i8>, usize)> {
        (0_usize..14, 0_usize..11, 0_usize..3).prop_flat_map(|(registers, rows, odd)| {
            let length = registers * ROW_ALIGN + odd * 7;
            (codes(length), codes(length * rows), Just(rows))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn numbers_that_reach_a_bar_are_the_same_everywhere(numbers in vec(prop_oneof![-1.0_f32..1.0, Just(0.5), Just(f32::NAN)], 0..=REACHING_MAX)) {
            for bar in [0.5, f32::NEG_INFINITY] {
                prop_assert_eq!(reaching(&numbers, bar), portable::reaching(&numbers, bar));
            }
        }

        #[test]
        fn sums_of_codes_are_the_same_bit_for_bit((codes, start) in (0_usize..200).prop_flat_map(|n| (vec(any::<u8>(), n), vec(-1.0_f32..1.0, n))), scale in 0.0_f32..0.1) {
            let (mut got, mut expected) = (start.clone(), start);
            add_codes(&codes, scale, &mut got);
            portable::add_codes(&codes, scale, &mut expected);
            prop_assert_eq!(got, expected);
        }

        #[test]
        fn every_code_kernel_equals_the_portable_one((query, rows, count) in query_and_rows()) {
            let (mut expected, mut got) = (vec![0; count], vec![0; count]);
            portable::dot_code_rows(&query, &rows, &mut expected);
            dot_code_rows(&query, &rows, &mut got);
            prop_assert_eq!(&got, &expected);
            for (row, expected) in expected.iter().enumerate() {
                prop_assert_eq!(dot_codes(&query, &rows[row * query.len()..(row + 1) * query.len()]), *expected);
            }
        }

        #[test]
        fn the_float_kernel_equals_the_portable_one((a, b) in (0_usize..200).prop_flat_map(|n| (vec(-1.0_f32..1.0, n), vec(-1.0_f32..1.0, n)))) {
            let exact: f64 = a.iter().zip(&b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
            prop_assert!((f64::from(dot(&a, &b)) - exact).abs() < 1e-4);
            prop_assert!((f64::from(portable::dot(&a, &b)) - exact).abs() < 1e-4);
        }
    }

    #[test]
    fn the_largest_codes_do_not_overflow() {
        for (a, b) in [(CODE_MAX, CODE_MAX), (CODE_MAX, -CODE_MAX), (-CODE_MAX, -CODE_MAX)] {
            let (query, row) = (vec![a; 4096], vec![b; 4096]);
            assert_eq!(dot_codes(&query, &row), i32::from(a) * i32::from(b) * 4096);
        }
    }
}
