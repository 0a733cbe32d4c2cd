//! sysctl names and their text: sets a [`Sysctl`] as `sysctl -w NAME=VALUE` would.

use crate::cc::congestion_controls;
use crate::fastopen::FastOpenKeys;
use crate::sysctl::Sysctl;

/// Something that a sysctl's text can be read into.
pub(crate) trait Value: Sized {
    /// What a person writes.
    const TAKES: &'static str = "number";
    /// The least and the largest number.
    const RANGE: Option<(i64, i64)> = None;

    fn read(text: &str) -> Result<Self, String>;

    /// Whether its numbers lie within a range.
    fn is_within(&self, _: (i64, i64)) -> bool {
        true
    }

    /// As sysctl(8) prints it.
    fn text(&self) -> String;
}

/// A number as the kernel reads it: decimal, or hexadecimal with 0x.
fn number<T: TryFrom<i128>>(text: &str) -> Result<T, String> {
    let word = text.trim();
    let (negative, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, word),
    };
    let value = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    let value = value.ok().filter(|_| !digits.contains('+')).map(i128::from);
    value
        .map(|value| if negative { -value } else { value })
        .and_then(|value| value.try_into().ok())
        .ok_or_else(|| format!("{text:?} is not a number in its range"))
}

impl Value for bool {
    const TAKES: &'static str = "0 or 1";

    fn read(text: &str) -> Result<Self, String> {
        number::<u8>(text).map(|n| n != 0)
    }

    fn text(&self) -> String {
        u8::from(*self).to_string()
    }
}

macro_rules! plain {
    ($($kind:ty: $most:expr),+) => {
        $(impl Value for $kind {
            const RANGE: Option<(i64, i64)> = Some((<$kind>::MIN as i64, $most as i64));

            fn read(text: &str) -> Result<Self, String> {
                number(text)
            }

            fn is_within(&self, (min, max): (i64, i64)) -> bool {
                (i128::from(min)..=i128::from(max)).contains(&i128::from(*self))
            }

            fn text(&self) -> String {
                self.to_string()
            }
        })+
    };
}
plain!(u8: u8::MAX, i8: i8::MAX, u16: u16::MAX, u64: i64::MAX);

impl Value for u32 {
    const RANGE: Option<(i64, i64)> = Some((0, u32::MAX as i64));

    /// Linux's `int` and `unsigned int`: -1 stands for the largest.
    fn read(text: &str) -> Result<Self, String> {
        match text.trim() {
            "-1" => Ok(u32::MAX),
            other => number(other),
        }
    }

    fn is_within(&self, (min, max): (i64, i64)) -> bool {
        (i128::from(min)..=i128::from(max)).contains(&i128::from(*self))
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

impl Value for String {
    const TAKES: &'static str = "name";

    fn read(text: &str) -> Result<Self, String> {
        match text.trim() {
            "" => Err("it is empty".into()),
            word => Ok(word.into()),
        }
    }

    fn text(&self) -> String {
        self.clone()
    }
}

impl Value for Option<FastOpenKeys> {
    const TAKES: &'static str = "1 or 2 keys";

    fn read(text: &str) -> Result<Self, String> {
        let keys = FastOpenKeys::read(text);
        keys.map(Some)
            .ok_or_else(|| "a key is four words in hexadecimal, joined by `-`".into())
    }

    fn text(&self) -> String {
        "made from the seed".into()
    }
}

impl<T: Value + Copy + Default, const N: usize> Value for [T; N] {
    const TAKES: &'static str = if N == 2 { "2 numbers" } else { "3 numbers" };
    const RANGE: Option<(i64, i64)> = T::RANGE;

    fn read(text: &str) -> Result<Self, String> {
        let mut values = [T::default(); N];
        let mut words = text.split_whitespace();
        for value in &mut values {
            let word = words.next().ok_or_else(|| format!("it has {N} numbers"))?;
            *value = T::read(word)?;
        }
        match words.next() {
            Some(more) => Err(format!("{more:?} is one too many")),
            None => Ok(values),
        }
    }

    fn is_within(&self, range: (i64, i64)) -> bool {
        self.iter().all(|value| value.is_within(range))
    }

    fn text(&self) -> String {
        let texts: Vec<String> = self.iter().map(T::text).collect();
        texts.join(" ")
    }
}

/// Reads a value whose numbers all lie within this range.
pub(crate) fn within<T: Value>(text: &str, range: Option<(i64, i64)>) -> Result<T, String> {
    let value = T::read(text)?;
    match range.is_none_or(|range| value.is_within(range)) {
        true => Ok(value),
        false => {
            let (min, max) = range.unwrap_or_default();
            Err(format!("the value is out of its range, {min} to {max}"))
        }
    }
}

impl Sysctl {
    /// Sets the sysctl of this full name (`net.ipv4.tcp_sack`).
    ///
    /// # Errors
    /// Says why: the model does not know the name, or the sysctl does not take this value.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
        let mut new = self.clone();
        new.put(name, text)?;
        new.bounded(name)?;
        *self = new;
        Ok(())
    }

    /// What no range says of a value.
    fn bounded(&self, name: &str) -> Result<(), String> {
        let [low, high] = self.ip_local_port_range;
        match name {
            "net.ipv4.ip_local_port_range" if !(1..=high).contains(&low) => {
                Err("the value is out of its range".into())
            }
            "net.ipv4.tcp_congestion_control" => self.knows_congestion(),
            "net.ipv4.tcp_reordering" if self.tcp_reordering > self.tcp_max_reordering => {
                Err("the value is above tcp_max_reordering".into())
            }
            _ => Ok(()),
        }
    }
    /// `tcp_set_default_congestion_control()`: ENOENT for what is not there.
    fn knows_congestion(&self) -> Result<(), String> {
        let name = &self.tcp_congestion_control;
        if congestion_controls().any(|known| known == name) {
            return Ok(());
        }
        let known: Vec<&str> = congestion_controls().collect();
        Err(format!(
            "no congestion control `{name}`; the model has {}",
            known.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_those_of_the_kernel() {
        let mut s = Sysctl::default();
        s.set("net.ipv4.tcp_rmem", "4096 1000\t6000").unwrap();
        s.set("net.ipv4.tcp_ecn", "1").unwrap();
        s.set("net.ipv4.tcp_congestion_control", "bbr").unwrap();
        s.set("net.core.rmem_max", "5").unwrap();
        s.set("net.ipv4.tcp_notsent_lowat", "-1").unwrap();
        s.set("net.ipv4.tcp_fastopen", "0x70403").unwrap();
        assert_eq!(s.tcp_fastopen, 0x7_0403);
        assert_eq!(s.tcp_rmem, [4096, 1000, 6000]);
        assert_eq!(
            (s.tcp_ecn, s.rmem_max, s.tcp_notsent_lowat),
            (1, 5, u32::MAX)
        );
        assert_eq!(s.tcp_congestion_control, "bbr");
        for (name, text) in [
            ("net.ipv4.tcp_nonsense", "1"),
            ("net.ipv4.tcp_rmem", "1 2"),
            ("net.ipv4.tcp_rmem", "1 2 3 4"),
            ("net.ipv4.tcp_wmem", "0 2 3"),
            ("net.ipv4.tcp_sack", "yes"),
            ("net.ipv4.tcp_sack", "0x"),
            ("net.ipv4.tcp_sack", "--1"),
            ("net.ipv4.tcp_fastopen_key", "1-2-3"),
            ("net.ipv4.tcp_adv_win_scale", "77"),
            ("net.ipv4.ip_local_port_range", "9 8"),
            ("net.core.sysctl_caqm_filter_nics", "0x80000000"),
            ("net.ipv4.tcp_congestion_control", "bbr3"),
            ("net.ipv4.tcp_ecn", "3"),
            ("net.ipv4.tcp_min_rtt_wlen", "86401"),
            ("net.ipv4.tcp_reordering", "301"),
        ] {
            let before = s.clone();
            assert!(s.set(name, text).is_err(), "{name} = {text}");
            assert_eq!(s, before, "{name} = {text}");
        }
    }

    /// Every name takes the text of its default.
    #[test]
    fn every_name_can_be_set() {
        for name in Sysctl::NAMES {
            let text = match *name {
                "net.ipv4.tcp_rmem" | "net.ipv4.tcp_wmem" => "1 2 3",
                "net.ipv4.ip_local_port_range" => "1 2",
                "net.ipv4.tcp_fastopen_key" => "1-2-3-4",
                "net.ipv4.tcp_congestion_control" => "dctcp",
                "net.core.sysctl_caqm_mtu_unit" => "1024",
                "net.ipv4.tcp_rto_max_ms" => "1000",
                "net.core.sysctl_caqm_tpid" => "0x8200",
                "net.ipv4.tcp_min_snd_mss" | "net.ipv4.tcp_mtu_probe_floor" => "48",
                _ => "1",
            };
            assert_eq!(Sysctl::default().set(name, text), Ok(()), "{name}");
        }
    }
}
