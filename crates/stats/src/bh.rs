//! Benjamini and Hochberg: which of many p-values count.
//!
//! Journal of the Royal Statistical Society B 57 (1995). The expected share of false ones among
//! those that count is at most `q`, for independent tests and for those that depend positively
//! (2001), as the rows of one table do.

/// What counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Discoveries {
    /// For each p-value, in the order given: the smallest `q` at which it counts.
    pub adjusted: Vec<f64>,
    /// The p-value that one more row would need in order to count.
    pub next: f64,
}

/// Adjusts p-values for their number; `q` is the level that [`Discoveries::next`] is for. What is
/// not a number counts as 1.
pub fn bh(p: &[f64], q: f64) -> Discoveries {
    let count = p.len() as f64;
    let clean = |p: f64| if p >= 0.0 { p.min(1.0) } else { 1.0 };
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| clean(p[*a]).total_cmp(&clean(p[*b])));
    let mut adjusted = vec![1.0; p.len()];
    let mut least = 1.0_f64;
    for (rank, at) in order.iter().enumerate().rev() {
        least = least.min(clean(p[*at]) * count / (rank + 1) as f64);
        adjusted[*at] = least;
    }
    let decided = adjusted.iter().filter(|p| **p <= q).count();
    Discoveries {
        next: q * (decided + 1).min(p.len().max(1)) as f64 / count.max(1.0),
        adjusted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_paper() {
        // Section 3.3 of the paper: 15 p-values, four of which count at 5 %.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0000,
        ];
        let found = bh(&p, 0.05);
        assert_eq!(found.adjusted.iter().filter(|p| **p <= 0.05).count(), 4);
        assert!((found.adjusted[3] - 0.0095 * 15.0 / 4.0).abs() < 1e-12);
        assert!((found.next - 0.05 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn order_does_not_matter_and_a_larger_p_never_counts_first() {
        let found = bh(&[0.9, 0.01, f64::NAN, 0.02, 0.03], 0.05);
        let right = [1.0, 0.05, 1.0, 0.05, 0.05];
        for (got, right) in found.adjusted.iter().zip(right) {
            assert!((got - right).abs() < 1e-12, "{found:?}");
        }
        assert_eq!(bh(&[], 0.05).adjusted, []);
    }
}
