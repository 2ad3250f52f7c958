//! A small generator of pseudo-random numbers: the same on every machine, which no crate promises
//! across its versions.

pub struct Random(u64);

impl Random {
    /// Starts a sequence of its own for every pair of seed and stream.
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(mix(seed).wrapping_add(mix(!stream)))
    }

    /// Returns 64 random bits (splitmix64).
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Returns a number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // The high half of the product: as even as it need be, and without a division.
        let scaled = (u128::from(self.bits()) * widened(bound)) >> 64;
        usize::try_from(scaled).expect("less than the bound, which is a usize")
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    /// Returns a length from `low` up to `low` doubled `octaves` times, each octave equally likely:
    /// many short ones and a long tail, as in real sessions. The mean is `1.5 low (2^octaves - 1) /
    /// octaves`.
    pub fn length(&mut self, low: usize, octaves: u32) -> usize {
        let octave = self.below(usize::try_from(octaves).expect("a few octaves"));
        let start = low << octave;
        start + self.below(start)
    }
}

/// The finalizer of splitmix64.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

fn widened(number: usize) -> u128 {
    u128::try_from(number).expect("a usize has at most 64 bits")
}
