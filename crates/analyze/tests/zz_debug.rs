mod common;
#[test]
fn show() {
    let f = std::env::var("CAP").unwrap();
    let o = tcplab_analyze::Options { rows: tcplab_analyze::trace::Rows::ALL, ..Default::default() };
    let a = common::analyze(std::path::Path::new(&f), o);
    let n = a.traces[0].spans.len();
    println!("{n} spans");
    for s in a.traces[0].spans.iter().take(120) { println!("{:>9} {:>9} {:>8} {:?}", s.from_us, s.to_us, s.to_us - s.from_us, s.class); }
}
