//! Blocks of code and what comes of them, checked against Python 3's own answers.

use super::{CodeError, Value, Vars, run};

const NAMES: &[(&str, i64)] = &[
    ("tcpi_snd_cwnd", 10),
    ("tcpi_ca_state", 3),
    ("tcpi_state", 1),
    ("tcpi_rtt", 25_000),
    ("tcpi_options", 0x27),
];

fn holds(code: &str) -> Result<(), CodeError> {
    run(code, NAMES, &mut Vars::new())
}

#[test]
fn what_holds_in_python_holds_here() {
    for code in [
        "",
        "\n# nothing\n\n  \n",
        "assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd",
        "\nassert tcpi_ca_state == TCP_CA_Recovery\nassert tcpi_state == TCP_ESTABLISHED # both\n",
        "assert (tcpi_options & TCPI_OPT_SYN_DATA) != 0, tcpi_options",
        "print(tcpi_snd_cwnd); assert 24000 <= tcpi_rtt <= 26000, 'rtt=%d' % tcpi_rtt",
        "assert tcpi_snd_cwnd == 10; \\\n     assert tcpi_rtt > 1;\\\n",
        "assert 7 // 2 == 3 and -7 // 2 == -4 and 7 // -2 == -4",
        "assert 7 % 3 == 1 and -7 % 3 == 2 and 7 % -3 == -2",
        "assert 7 / 2 == 3.5 and 6 / 2 == 3 and 1 / 3 != 0",
        "assert 7.5 // 2 == 3.0 and -7.5 % 2 == 0.5 and -7.5 // 2 == -4",
        "assert 2 ** 3 ** 2 == 512 and -2 ** 2 == -4 and 2 ** 0 == 1",
        "assert 1 | 2 ^ 3 & 4 == 1 | (2 ^ (3 & 4))",
        "assert 1 << 4 == 16 and -9 >> 1 == -5 and ~5 == -6 and 1 >> 500 == 0",
        "assert not 1 == 2 and not False and True == 1 and (None is None)",
        "assert tcpi_snd_cwnd in (9, 10, 11) and 5 not in [1, 2] and 'a' in 'cat'",
        "assert (1, 2) < (1, 3) and 'a' < 'b' and (1, 'x') == (1, 'x') and () == ()",
        "assert min(3, 1, 2) == 1 and max([3, 1]) == 3 and abs(-4) == 4 and len('abc') == 3",
        "assert round(2.5) == 2 and round(3.5) == 4 and int(-2.7) == -2 and int('12') == 12",
        "assert 1 == 1.0 and 0.1 + 0.2 != 0.3 and 1e3 == 1000 and 1_000 == 1000",
        "assert 0x10 == 16 and 0b11 == 3 and 0o17 == 15",
        "assert 1 < 2 < 3 and not 1 < 3 < 2 and 1 < 2 > 1 != 3",
        "assert (5 if tcpi_rtt else 6) == 5",
        "assert 'a=%d b=%s %%' % (1, 'x') == 'a=1 b=x %'",
        "assert '%5.2f|%-4d|%04d|%x' % (3.14159, 7, -7, 255) == ' 3.14|7   |-007|ff'",
        "assert f'{tcpi_rtt} {{x}} {1 + 1}' == '25000 {x} 2'",
        "a = b = 3; a += 2; a *= b; a -= 1; assert (a, b) == (14, 3)",
        "x = 1,\nassert x == (1,) and (1, 2)[1] == 2 and (1, 2)[-1] == 2",
        "if tcpi_rtt > 5: y = 1\nelse: y = 2\nassert y == 1",
        "if 0: assert 0\nelif 1: z = 5\nelse: assert 0\nassert z == 5",
        "assert 0 or 'yes'\nassert (0 or 7) == 7 and (0 and 1 / 0) == 0",
        "assert (1 +\n   2) == 3  # brackets go on\npass",
        "assert 1 if 1 else 0 ; print('%d' % 3, 'x')",
        "assert 1 == 2 or 3",
        "assert 4294967295 + 1 == 4294967296 and 2 ** 64 > 2 ** 63",
    ] {
        assert_eq!(holds(code), Ok(()), "{code}");
    }
}

#[test]
fn an_assert_that_fails_shows_its_values() {
    for (code, line, expected) in [
        (
            "assert tcpi_snd_cwnd == 11, tcpi_snd_cwnd",
            1,
            "`assert tcpi_snd_cwnd == 11, tcpi_snd_cwnd` does not hold: tcpi_snd_cwnd is 10 (10)",
        ),
        (
            "\nx = 5\nassert x + tcpi_rtt < x, 'rtt=%d' % tcpi_rtt",
            3,
            "`assert x + tcpi_rtt < x, 'rtt=%d' % tcpi_rtt` does not hold: x is 5, tcpi_rtt is 25000 (rtt=25000)",
        ),
        (
            "assert tcpi_ca_state == TCP_CA_Open",
            1,
            "`assert tcpi_ca_state == TCP_CA_Open` does not hold: tcpi_ca_state is 3 (TCP_CA_Recovery)",
        ),
        (
            "assert \\\n  tcpi_state == TCP_CLOSE, nonsense",
            1,
            "`assert tcpi_state == TCP_CLOSE, nonsense` does not hold: tcpi_state is 1 (TCP_ESTABLISHED)",
        ),
        (
            "assert 1 == 1 and not 1",
            1,
            "`assert 1 == 1 and not 1` does not hold",
        ),
        ("assert 1; assert ''", 1, "`assert ''` does not hold"),
        ("if 1: assert 0.0", 1, "`assert 0.0` does not hold"),
    ] {
        let error = holds(code).unwrap_err();
        assert_eq!(error.to_string(), expected, "{code}");
        assert!(
            matches!(error, CodeError::AssertFailed { line: l, .. } if l == line),
            "{error:?}"
        );
    }
}

#[test]
fn what_python_refuses_is_wrong_here() {
    for (code, line, expected) in [
        (
            "assert tcpi_nonsense",
            1,
            "the name `tcpi_nonsense` has no value here",
        ),
        ("1 / 0", 1, "division by zero"),
        ("a = 1\nb = a < 'x'", 2, "`<` is not for int and str"),
        ("a += 1", 1, "the name `a` has no value here"),
        ("a = 1\n  b = 2", 2, "unexpected indent"),
        ("assert (1", 1, "found the end of the line, expected `)`"),
        ("assert", 1, "found the end of the line, expected a value"),
        (
            "assert 1 2",
            1,
            "found a number, expected `;` or the end of the line",
        ),
        ("1 = 2", 1, "cannot assign to an expression"),
        ("x = 'abc", 1, "a string has no end"),
        ("'%d' % 'x'", 1, "%d is not for str"),
        (
            "'%d %d' % 1",
            1,
            "not enough arguments for the format string",
        ),
        (
            "'%d' % (1, 2)",
            1,
            "not all arguments were used by the format string",
        ),
        ("1 << -1", 1, "negative shift count"),
        ("(1, 2)[5]", 1, "index out of range"),
        ("x = $", 1, "`$` is not Python"),
        ("1.5 & 2", 1, "`&` is not for float and int"),
        ("abs('x')", 1, "`abs` is not for these arguments"),
        ("int('x')", 1, "`int` is not for these arguments"),
    ] {
        let expected = CodeError::Wrong {
            line,
            what: expected.into(),
        };
        assert_eq!(holds(code), Err(expected), "{code}");
    }
}

#[test]
fn what_is_beyond_us_is_said() {
    for (code, expected) in [
        ("import os", "needs Python: `import`"),
        ("x = [i for i in (1, 2)]", "needs Python: a comprehension"),
        ("tcpi_rtt.bit_length()", "needs Python: `.`"),
        ("open('x')", "needs Python: the function `open`"),
        ("if 1:\n  x = 2", "needs Python: a block that is indented"),
        ("2 ** -1", "needs Python: `**` with such an exponent"),
        ("2 ** 500", "needs Python: numbers beyond 127 bits"),
        ("1 << 4000000000", "needs Python: numbers beyond 127 bits"),
        (
            "a, b = 1, 2",
            "needs Python: an assignment to several names or a part",
        ),
        ("{1: 2}", "needs Python: `{`"),
        ("'a' * 5", "needs Python: `*` of sequences"),
        ("print(1, end='')", "needs Python: an argument with a name"),
        ("while 1: pass", "needs Python: `while`"),
    ] {
        assert_eq!(holds(code).unwrap_err().to_string(), expected, "{code}");
    }
}

#[test]
fn variables_live_on_from_block_to_block() {
    let mut vars = Vars::new();
    run("cwnd = tcpi_snd_cwnd", NAMES, &mut vars).unwrap();
    run(
        "cwnd += 10; TCP_INFINITE_SSTHRESH = 0x7fffffff",
        &[],
        &mut vars,
    )
    .unwrap();
    run(
        "assert tcpi_snd_cwnd == cwnd",
        &[("tcpi_snd_cwnd", 20)],
        &mut vars,
    )
    .unwrap();
    assert_eq!(
        vars.get("TCP_INFINITE_SSTHRESH"),
        Some(&Value::Int(0x7fff_ffff))
    );
    // A block before there is a socket has no names.
    assert!(run("assert tcpi_rtt", &[], &mut Vars::new()).is_err());
}

#[test]
fn depth_and_size_are_bounded() {
    for code in [
        "(".repeat(50_000),
        "-".repeat(50_000) + "1",
        "not ".repeat(10_000) + "1",
        "1+".repeat(30_000) + "1",
        "1<".repeat(30_000) + "1",
        "x[".repeat(20_000),
        "1 if 1 else ".repeat(5_000) + "1",
        "[".repeat(60_000),
        "2**".repeat(20_000) + "1",
        "a".repeat(200_000),
    ] {
        assert!(run(&code, NAMES, &mut Vars::new()).is_err());
    }
    // A string that grows with each block.
    let mut vars = Vars::new();
    run("s = 'ab'", &[], &mut vars).unwrap();
    let grown = (0..40).try_for_each(|_| run("s = s + s", &[], &mut vars));
    assert!(matches!(grown, Err(CodeError::NeedsPython(_))));
}
