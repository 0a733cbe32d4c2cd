//! Student's t with few degrees of freedom, exactly: by the regularized incomplete beta function.
//!
//! The normal approximation of `student.rs` is good from 8 degrees on; runs of a benchmark give 2 to 20.

use tcplab_base::normal;

use crate::student::student;

/// The chance that |t| with `free` degrees of freedom is at least this far from 0, two-sided. 1 for what is
/// not a number.
pub fn t_two_sided(t: f64, free: f64) -> f64 {
    if !t.is_finite() || free.is_nan() || free <= 0.0 {
        return if t.is_infinite() && free > 0.0 {
            0.0
        } else {
            1.0
        };
    }
    let x = free / (free + t * t);
    incomplete_beta(free / 2.0, 0.5, x).clamp(0.0, 1.0)
}

/// The t that is exceeded, two-sided, with chance `p`: the half-width of an interval in standard errors.
pub fn t_of(p: f64, free: f64) -> f64 {
    if p.is_nan() || p >= 1.0 {
        return 0.0;
    }
    if p <= 0.0 || free.is_nan() || free <= 0.0 {
        return f64::INFINITY;
    }
    let z = -normal::quantile(p / 2.0);
    let mut t = student(z, free).clamp(1e-300, 1e150);
    // Newton's steps on the logarithm of p, where it bends little; halved where they leave the bracket.
    let (mut low, mut high) = (0.0, f64::INFINITY);
    for _ in 0..60 {
        let found = t_two_sided(t, free);
        match found > p {
            true => low = t,
            false => high = t,
        }
        let step = found * libm::log(found / p) / (2.0 * density(t, free));
        let next = match () {
            () if (low..high).contains(&(t + step)) => t + step,
            () if high.is_finite() => (low + high) / 2.0,
            () => t * 2.0,
        };
        if (next - t).abs() <= 1e-12 * t || !next.is_finite() {
            break;
        }
        t = next;
    }
    t
}

/// The density of t.
fn density(t: f64, free: f64) -> f64 {
    let scale = libm::lgamma((free + 1.0) / 2.0) - libm::lgamma(free / 2.0);
    let power = -(free + 1.0) / 2.0 * libm::log1p(t * t / free);
    libm::exp(scale + power) / (free * std::f64::consts::PI).sqrt()
}

/// I_x(a, b) by its continued fraction (DLMF 8.17.22), with modified Lentz steps.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast below the mean; above it by symmetry (DLMF 8.17.4).
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let log_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    let front = libm::exp(a * libm::log(x) + b * libm::log1p(-x) - log_beta) / a;
    front * fraction(a, b, x)
}

fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut value = d;
    for m in 1..300 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            value *= d * c;
        }
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_in_tables() {
        // Critical values of common tables, two-sided.
        for (p, free, t) in [
            (0.05, 1.0, 12.7062),
            (0.05, 2.0, 4.3027),
            (0.05, 3.0, 3.1824),
            (0.05, 4.0, 2.7764),
            (0.05, 9.0, 2.2622),
            (0.01, 5.0, 4.0321),
            (0.001, 10.0, 4.5869),
            (0.05, 120.0, 1.9799),
            (1e-6, 1.0, 636_619.772),
            (0.999, 2.0, 0.001_414_2),
        ] {
            let got = t_of(p, free);
            assert!((got - t).abs() < 1e-4 * t.max(1.0), "{p} {free}: {got}");
            assert!((t_two_sided(t, free) - p).abs() < 1e-5, "{p} {free}");
        }
    }

    #[test]
    fn ends() {
        assert_eq!(t_two_sided(0.0, 3.0), 1.0);
        assert_eq!(t_two_sided(f64::INFINITY, 3.0), 0.0);
        assert_eq!(t_two_sided(f64::NAN, 3.0), 1.0);
        assert_eq!(t_of(0.0, 3.0), f64::INFINITY);
        assert_eq!(t_of(1.0, 3.0), 0.0);
    }
}
