//! The tables of distributions that ship with tc, made here by the formulas they were made with: 4,096 values in
//! 8,192ths of the deviation, from the smallest on.

use tcplab_base::normal;

use super::settings::Distribution;

/// Deviations in 8,192ths, from the smallest on.
pub type Table = Box<[i16]>;

const SIZE: u32 = 4_096;
/// `NETEM_DIST_SCALE`.
pub(crate) const SCALE: i64 = 8_192;

/// The table of a distribution, as tc gives it to the kernel (`TCA_NETEM_DELAY_DIST`); none: draws are even.
pub fn of(distribution: Distribution) -> Option<Table> {
    let value = match distribution {
        Distribution::Uniform => return None,
        Distribution::Normal => normal_value,
        Distribution::Pareto => pareto_value,
        Distribution::ParetoNormal => {
            |n| ((f64::from(normal_value(n)) + 3.0 * f64::from(pareto_value(n))) / 4.0) as i32
        }
    };
    let bounded = |n| value(n).clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
    Some((0..SIZE).map(bounded).collect())
}

/// tc looks for each quantile on a grid of 0.00005 from -10 on, and takes the last point before it.
fn normal_value(n: u32) -> i32 {
    const STEP: f64 = 0.000_05;
    let quantile = normal::quantile((f64::from(4 * n) + 0.5) / f64::from(4 * SIZE));
    let point = libm::floor((quantile + 10.0) / STEP) * STEP - 10.0;
    libm::rint(point * SCALE as f64) as i32
}

/// The exponent is 3: the mean is 1.5, the deviation 0.87; tc takes 0.75 for it.
fn pareto_value(n: u32) -> i32 {
    let tail = f64::from(SIZE - n) / f64::from(SIZE);
    let value = (1.0 / libm::cbrt(tail) - 1.5) * (4.0 / 3.0) * SCALE as f64;
    libm::rint(value.min(f64::from(i16::MAX))) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums over the files of iproute2 6.1: of the values, and of the values times their place.
    #[test]
    fn tables_are_those_of_tc() {
        for (distribution, sum, weighted) in SUMS {
            let table = of(distribution).unwrap();
            let is: i64 = table.iter().map(|v| i64::from(*v)).sum();
            let by_place = table.iter().zip(1_i64..).map(|(v, n)| i64::from(*v) * n);
            assert_eq!(
                (is, by_place.sum::<i64>()),
                (sum, weighted),
                "{distribution:?}"
            );
        }
        assert!(of(Distribution::Uniform).is_none());
    }

    const SUMS: [(Distribution, i64, i64); 3] = [
        (Distribution::Normal, -26_163, 38_718_192_955),
        (Distribution::Pareto, -1_123_786, 22_904_699_865),
        (Distribution::ParetoNormal, -848_968, 26_857_509_890),
    ];
}
