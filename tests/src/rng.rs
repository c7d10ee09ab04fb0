//! A small seeded source of chance, so that a failing run can be had again.
//!
//! SplitMix64 (Steele, Lea, Flood 2014). Must not know: what it is used for.

/// The generator.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// With this seed; prints it, so that a failure names it. `TIRO_TEST_SEED` overrides it.
    pub fn new(seed: u64) -> Self {
        let seed = std::env::var("TIRO_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(seed);
        eprintln!("seed {seed} (TIRO_TEST_SEED={seed} repeats it)");
        Rng(seed)
    }

    /// The next 64 bits.
    #[allow(clippy::should_implement_trait)] // chance does not run out, so this is no iterator
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}
