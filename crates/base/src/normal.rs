//! The standard normal distribution, the same bits on every machine.
//!
//! [`quantile`] is Wichura's AS 241 (PPND16, Applied Statistics 37, 1988); exp, log and erfc come from
//! the crate libm; IEEE 754 makes square roots exact.

/// The chance that a draw is below `z`.
pub fn cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// The number that a draw is below with chance `p`; relative error about 1e-15. Infinite at 0 and 1,
/// not a number outside.
pub fn quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * ratio(r, &CENTRE);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    if tail <= 0.0 {
        return if tail == 0.0 {
            f64::INFINITY.copysign(q)
        } else {
            f64::NAN
        };
    }
    let r = (-libm::log(tail)).sqrt();
    let z = match r <= 5.0 {
        true => ratio(r - 1.6, &TAIL),
        false => ratio(r - 5.0, &FAR),
    };
    z.copysign(q)
}

/// Numerator and denominator, coefficients from the highest power down.
type Ratio = [[f64; 8]; 2];

fn ratio(x: f64, [over, under]: &Ratio) -> f64 {
    horner(x, over) / horner(x, under)
}

fn horner(x: f64, coefficients: &[f64; 8]) -> f64 {
    coefficients.iter().fold(0.0, |sum, c| sum * x + c)
}

const CENTRE: Ratio = [
    [
        2_509.080_928_730_122_7,
        33_430.575_583_588_13,
        67_265.770_927_008_7,
        45_921.953_931_549_87,
        13_731.693_765_509_46,
        1_971.590_950_306_551_3,
        133.141_667_891_784_38,
        3.387_132_872_796_366_5,
    ],
    [
        5_226.495_278_852_854,
        28_729.085_735_721_943,
        39_307.895_800_092_71,
        21_213.794_301_586_597,
        5_394.196_021_424_751,
        687.187_007_492_057_9,
        42.313_330_701_600_91,
        1.0,
    ],
];

const TAIL: Ratio = [
    [
        0.000_774_545_014_278_341_4,
        0.022_723_844_989_269_184,
        0.241_780_725_177_450_6,
        1.270_458_252_452_368_4,
        3.647_848_324_763_204_5,
        5.769_497_221_460_691,
        4.630_337_846_156_546,
        1.423_437_110_749_683_5,
    ],
    [
        1.050_750_071_644_416_9e-9,
        0.000_547_593_808_499_534_5,
        0.015_198_666_563_616_457,
        0.148_103_976_427_480_08,
        0.689_767_334_985_1,
        1.676_384_830_183_803_8,
        2.053_191_626_637_759,
        1.0,
    ],
];

const FAR: Ratio = [
    [
        2.010_334_399_292_288_1e-7,
        2.711_555_568_743_487_6e-5,
        0.001_242_660_947_388_078_4,
        0.026_532_189_526_576_124,
        0.296_560_571_828_504_87,
        1.784_826_539_917_291_3,
        5.463_784_911_164_114,
        6.657_904_643_501_103,
    ],
    [
        2.044_263_103_389_939_7e-15,
        1.421_511_758_316_446e-7,
        1.846_318_317_510_054_8e-5,
        0.000_786_869_131_145_613_3,
        0.014_875_361_290_850_615,
        0.136_929_880_922_735_8,
        0.599_832_206_555_888,
        1.0,
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantile_and_cdf_are_inverse_in_all_three_ranges() {
        for p in [
            1e-300, 1e-20, 1e-11, 1e-6, 0.01, 0.07, 0.08, 0.3, 0.5, 0.7, 0.92, 0.93, 0.99,
            0.999_999,
        ] {
            let again = cdf(quantile(p));
            assert!((again / p - 1.0).abs() < 1e-11, "{p} {again}");
        }
        for p in [0.001, 0.1, 0.4] {
            assert!((quantile(p) + quantile(1.0 - p)).abs() < 1e-12, "{p}");
        }
    }

    #[test]
    fn values_of_tables() {
        assert!((quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-14);
        assert!((quantile(1e-10) + 6.361_340_902_404_056).abs() < 1e-13);
        assert!((cdf(1.0) - 0.841_344_746_068_542_9).abs() < 1e-15);
        assert_eq!(quantile(0.5), 0.0);
        assert_eq!(quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(quantile(1.0), f64::INFINITY);
        assert!(quantile(-0.1).is_nan() && quantile(1.1).is_nan() && quantile(f64::NAN).is_nan());
    }
}
