//! Samples and the figures made of them.
//!
//! Must not know: where samples come from.

use std::time::{Duration, Instant};

/// Times in milliseconds.
#[derive(Debug, Clone, Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// Runs `f` `n` times after `warm` runs that do not count.
    ///
    /// # Errors
    /// The first error of `f`.
    pub fn of(warm: usize, n: usize, mut f: impl FnMut(usize) -> anyhow::Result<()>) -> anyhow::Result<Samples> {
        for i in 0..warm {
            f(i)?;
        }
        let mut samples = Samples::default();
        for i in 0..n {
            let begun = Instant::now();
            f(warm + i)?;
            samples.push(begun.elapsed());
        }
        Ok(samples)
    }

    /// Adds one.
    pub fn push(&mut self, elapsed: Duration) {
        self.0.push(elapsed.as_secs_f64() * 1000.0);
    }

    /// Adds all of another.
    pub fn append(&mut self, other: Samples) {
        self.0.extend(other.0);
    }

    /// The value below which a share `q` (0 to 1) of the samples lies, in milliseconds.
    pub fn quantile(&self, q: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        let place = (q * last as f64).round() as usize;
        sorted.get(place.min(last)).copied().unwrap_or(f64::NAN)
    }

    /// The median, in milliseconds.
    pub fn p50(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The 99th percentile, in milliseconds.
    pub fn p99(&self) -> f64 {
        self.quantile(0.99)
    }
}

/// The table as it is printed: Markdown, so that it can be quoted.
#[derive(Default)]
pub struct Table {
    missed: usize,
}

impl Table {
    /// Prints the head.
    pub fn begin() -> Table {
        println!("| what | measured | aim |");
        println!("|---|---|---|");
        Table::default()
    }

    /// Prints a row.
    pub fn row(&mut self, what: &str, measured: &str, aim: &str, met: bool) {
        self.missed += usize::from(!met);
        println!("| {what} | {measured}{} | {aim} |", if met { "" } else { " (missed)" });
    }

    /// Prints a row that has no aim.
    pub fn note(&mut self, what: &str, measured: &str) {
        println!("| {what} | {measured} | |");
    }

    /// Rows that missed their aim.
    pub fn missed(&self) -> usize {
        self.missed
    }
}
