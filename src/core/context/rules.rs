//! Whose rules a context follows. What the rules are stands where they are applied.

/// The agents whose rules a context can follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rules {
    /// Those on which pi 1.6 and omp 13 agree.
    #[default]
    Shared,
    /// Those of pi 1.6.
    Pi,
    /// Those of omp 18.
    Omp,
}
