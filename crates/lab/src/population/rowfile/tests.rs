//! Rows against the table of the same run; the same bytes however they were come by.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tcplab_plan::population::{ArmResult, PopulationDocument};

use super::cells::{take_int, take_ints, take_maybe, take_text};
use super::columns::Kind;
use super::*;
use crate::population::tests::{population, run_with_rows};

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Int(Option<i64>),
    Ints(Vec<i64>),
    Text(Option<String>),
}

type Row = BTreeMap<&'static str, Cell>;

fn int(row: &Row, name: &str) -> i64 {
    match &row[name] {
        Cell::Int(Some(n)) => *n,
        other => panic!("{name}: {other:?}"),
    }
}

fn ints<'a>(row: &'a Row, name: &str) -> &'a [i64] {
    match &row[name] {
        Cell::Ints(all) => all,
        other => panic!("{name}: {other:?}"),
    }
}

fn text<'a>(row: &'a Row, name: &str) -> Option<&'a str> {
    match &row[name] {
        Cell::Text(text) => text.as_deref(),
        other => panic!("{name}: {other:?}"),
    }
}

fn rows_of(mut bytes: &[u8]) -> Vec<Row> {
    let input = &mut bytes;
    let mut rows = Vec::new();
    while !input.is_empty() {
        let cell = |column: &Column| match column.kind() {
            Kind::Int => Cell::Int(take_int(input)),
            Kind::Maybe => Cell::Int(take_maybe(input).unwrap()),
            Kind::Ints => {
                let mut all = Vec::new();
                take_ints(input, |n| all.push(n)).unwrap();
                Cell::Ints(all)
            }
            Kind::Text => {
                let text = take_text(input).unwrap();
                Cell::Text(text.map(|t| String::from_utf8(t.to_vec()).unwrap()))
            }
        };
        let cells: Vec<Cell> = columns().iter().map(cell).collect();
        rows.push(columns().iter().map(|c| c.name).zip(cells).collect());
    }
    rows
}

/// The rows of an arm add up to what the table says of it.
fn add_up(rows: &[Row], arm: &ArmResult) {
    let own: Vec<&Row> = rows
        .iter()
        .filter(|row| text(row, "arm") == Some(&arm.name))
        .collect();
    assert_eq!(own.len() as u64, arm.connections);
    for (name, sum) in &arm.counters {
        let rows: i64 = own.iter().map(|row| int(row, name)).sum();
        assert_eq!(rows as u64, *sum, "{name}");
    }
    let entries = |name| {
        own.iter()
            .map(|row| ints(row, name).len() as u64)
            .sum::<u64>()
    };
    assert_eq!(entries("response_bytes"), arm.requests);
    assert_eq!(entries("latency_us"), arm.latency.count);
    assert_eq!(entries("recovery_us"), arm.recovery.count);
    let sum: i64 = own.iter().flat_map(|row| ints(row, "latency_us")).sum();
    let mean = sum as f64 / arm.latency.count as f64;
    assert!((mean - arm.latency.mean_us.unwrap()).abs() < 1e-6);
    let lossy = own.iter().filter(|row| int(row, "TcpRetransSegs") > 0);
    assert_eq!(lossy.count() as u64, arm.lossy_connections);
}

fn half_shard() -> Shard {
    Shard::one(2, 2).unwrap()
}

fn half(folder: &Path) -> PopulationDocument {
    run_with_rows(Some(folder), 2, half_shard(), Some(RowsTo::Folder))
}

#[test]
fn rows_add_up_to_the_table_and_are_what_was_drawn() {
    let root = tempfile::tempdir().unwrap();
    let document = half(root.path());
    let log = of_shard(root.path().join("rows.bin")).unwrap();
    let groups: Vec<u32> = crate::population::engine::groups(half_shard()).collect();
    let rows: Vec<Row> = groups
        .iter()
        .flat_map(|group| rows_of(&log.rows(*group).unwrap()))
        .collect();
    for arm in &document.arms {
        add_up(&rows, arm);
    }
    let population = population();
    for row in &rows {
        let drawn = population.draw(int(row, "connection") as u64);
        assert_eq!(int(row, "rtt_ns"), drawn.rtt_ns);
        assert_eq!(int(row, "rate_bps") as u64, drawn.rate_bps);
        let sizes = ints(row, "response_bytes").iter().map(|n| *n as u64);
        assert!(sizes.eq(drawn.responses));
        let all = ints(row, "latency_us").len() == ints(row, "response_bytes").len();
        assert_eq!(text(row, "outcome") == Some("done"), all, "{row:?}");
    }
    // In the order of groups, connections, arms.
    let place = |row: &Row| {
        let n = int(row, "connection");
        let arms = &population.arms;
        let arm = arms.iter().position(|a| text(row, "arm") == Some(&a.name));
        (n % 2048, n, arm)
    };
    assert!(rows.is_sorted_by_key(place));
    assert!(!root.path().join("rows.part").exists());
}

/// Whatever of the two files a kill left: the run goes on and ends with the same bytes.
#[test]
fn rows_of_a_killed_run_are_the_same() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    half(&at("one"));
    let [groups, rows] =
        ["groups.bin", "rows.bin"].map(|name| fs::read(at("one").join(name)).unwrap());
    for (number, [groups_left, rows_left]) in [
        [groups.len() / 2, rows.len() / 2],
        // Groups whose rows were lost, and rows whose group was lost.
        [groups.len() - 1, rows.len() / 3],
        [groups.len() / 3, rows.len()],
    ]
    .into_iter()
    .enumerate()
    {
        let killed = at(&format!("killed{number}"));
        fs::create_dir(&killed).unwrap();
        for name in ["manifest.json", "population.toml"] {
            fs::copy(at("one").join(name), killed.join(name)).unwrap();
        }
        fs::write(killed.join("groups.part"), &groups[..groups_left]).unwrap();
        fs::write(killed.join("rows.part"), &rows[..rows_left]).unwrap();
        half(&killed);
        assert_eq!(
            crate::population::tests::bytes(&killed),
            crate::population::tests::bytes(&at("one")),
            "{number}"
        );
    }
}

#[test]
fn a_folder_without_rows_gets_none() {
    let root = tempfile::tempdir().unwrap();
    let population = tcplab_plan::Population {
        connections: 2,
        ..population()
    };
    let with = |rows| {
        let request = crate::population::Request {
            population: &population,
            text: "",
            stack: "model",
            jobs: 1,
            shard: half_shard(),
            out: Some(root.path()),
            rows,
        };
        crate::population::run(&request, &tcplab_os::Stop::never(), &|_| {})
    };
    with(None).unwrap();
    let refused = with(Some(RowsTo::Folder)).unwrap_err().to_string();
    assert!(refused.contains("started without --rows"), "{refused}");
    let named = with(Some(RowsTo::File(Path::new("x")))).unwrap_err();
    assert!(named.to_string().contains("without a file name"), "{named}");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_how_to_get_it() {
    let root = tempfile::tempdir().unwrap();
    for (to, folder) in [
        (RowsTo::Folder, Some(root.path())),
        (RowsTo::File(Path::new("x.parquet")), None),
    ] {
        let told = Plan::new(to, folder, Shard::WHOLE).unwrap_err().to_string();
        assert!(told.contains("--features parquet"), "{told}");
    }
}

#[cfg(feature = "parquet")]
mod parquet {
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::Field;

    use super::*;
    use crate::population::tests::bytes;
    use crate::population::{merge, merge_part};

    /// Reads a file with the library's own reader.
    fn read(path: &Path) -> (usize, Vec<Row>) {
        let reader = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
        let groups = reader.metadata().num_row_groups();
        let names = columns();
        let cell = |column: &Column, field: &Field| match (column.kind(), field) {
            (Kind::Int | Kind::Maybe, Field::Long(n)) => Cell::Int(Some(*n)),
            (Kind::Maybe, Field::Null) => Cell::Int(None),
            (Kind::Text, Field::Str(text)) => Cell::Text(Some(text.clone())),
            (Kind::Text, Field::Null) => Cell::Text(None),
            (Kind::Ints, Field::ListInternal(list)) => Cell::Ints(
                list.elements()
                    .iter()
                    .map(|n| match n {
                        Field::Long(n) => *n,
                        other => panic!("{other}"),
                    })
                    .collect(),
            ),
            (kind, other) => panic!("{}: {kind:?} is {other}", column.name),
        };
        let rows = reader.get_row_iter(None).unwrap().map(|row| {
            let row = row.unwrap();
            let both = names.iter().zip(row.get_column_iter());
            both.map(|(column, (name, field))| {
                assert_eq!(column.name, name);
                (column.name, cell(column, field))
            })
            .collect()
        });
        (groups, rows.collect())
    }

    #[test]
    fn rows_file_is_the_same_after_any_history() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let run = |name: &str, jobs, shard| {
            run_with_rows(Some(&at(name)), jobs, shard, Some(RowsTo::Folder))
        };
        let document = run("one", 1, Shard::WHOLE);
        let expected = bytes(&at("one"));
        let (_, rows) = read(&at("one").join("rows.parquet"));
        for arm in &document.arms {
            add_up(&rows, arm);
        }
        run("two", 2, Shard::WHOLE);
        assert_eq!(bytes(&at("two")), expected);
        // Shards, and a killed run that has the groups of one of them.
        let shards = [3, 1, 2].map(|number| {
            run(&format!("shard{number}"), 2, Shard::one(number, 3).unwrap());
            at(&format!("shard{number}"))
        });
        merge(&shards, Some(&at("merged"))).unwrap();
        assert_eq!(bytes(&at("merged")), expected);
        // Neighbours first.
        merge_part(&shards[1..], &at("part")).unwrap();
        merge(&[at("part"), shards[0].clone()], Some(&at("tree"))).unwrap();
        assert_eq!(bytes(&at("tree")), expected);
        let killed = at("killed");
        fs::create_dir(&killed).unwrap();
        for name in ["manifest.json", "population.toml"] {
            fs::copy(at("one").join(name), killed.join(name)).unwrap();
        }
        for name in ["groups", "rows"] {
            let part = fs::read(shards[0].join(format!("{name}.bin"))).unwrap();
            let left = &part[..part.len() - 7];
            fs::write(killed.join(format!("{name}.part")), left).unwrap();
        }
        run("killed", 2, Shard::WHOLE);
        assert_eq!(bytes(&killed), expected);
        // Without a folder.
        let file = at("alone.parquet");
        run_with_rows(None, 2, Shard::WHOLE, Some(RowsTo::File(&file)));
        let folder = at("one").join("rows.parquet");
        assert_eq!(fs::read(&file).unwrap(), fs::read(folder).unwrap());
        assert!(!at("alone.parquet.part").exists());
    }

    /// Every kind of cell, null and empty ones, over several row groups.
    #[test]
    fn cells_come_back_over_row_groups() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x.parquet");
        let value = |n: i64, place: usize| n * 1_000 + place as i64;
        let row = |n: i64| {
            let mut out = Vec::new();
            for (place, column) in columns().iter().enumerate() {
                let value = value(n, place);
                match column.kind() {
                    Kind::Int => cells::put_int(&mut out, value),
                    Kind::Maybe => cells::put_maybe(&mut out, (n % 3 > 0).then_some(value)),
                    Kind::Ints => cells::put_ints(&mut out, &vec![value; n as usize % 4]),
                    Kind::Text => cells::put_text(&mut out, (n % 2 > 0).then_some("x")),
                }
            }
            out
        };
        let all: Vec<Row> = {
            let groups: Vec<Vec<u8>> = (0..7)
                .map(|group| (0..10_000).flat_map(|n| row(group * 10_000 + n)).collect())
                .collect();
            let each = groups.iter().map(|group| Ok(group.clone()));
            write(&path, Output::create(&path), each).unwrap();
            groups.iter().flat_map(|group| rows_of(group)).collect()
        };
        let (groups, read) = read(&path);
        assert_eq!(groups, 2);
        assert!(read == all);
    }
}
