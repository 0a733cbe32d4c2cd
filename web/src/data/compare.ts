// The document of a comparison: `tcplab.page-compare/1`, written by crates/report/src/page/compare.rs.

export interface Runs {
  figure: number | null;
  /** Value, what the machine did beside it, whether much of its time was stolen. */
  runs: [number, string, boolean][];
}

export interface CompareRow {
  label: string;
  unit: string;
  /** Before, after, change, interval, p, runs, verdict. */
  texts: string[];
  /** The verdict's word. */
  class: string;
  why: string;
  beside: string;
  arms: [Runs, Runs];
  change_percent: number | null;
  interval_percent: [number, number] | null;
}

export interface Part {
  /** Empty when there is but one. */
  title: string;
  /** Word and class. */
  verdict: [string, string];
  line: string;
  not_run: boolean;
  /** Equal rows that are not shown. */
  left_out: number;
  verdicts: string;
  rows: CompareRow[];
  /** The widest change that the scale shows, per cent. */
  reach: number;
  band_percent: number;
  /** Name, passed, failed, skipped, verdict, newly failed. */
  suites: string[][];
  flags: [string, string[]][];
  legend: string[];
  sources: [string[], string[]];
}

export interface ComparePage {
  schema: 'tcplab.page-compare/1';
  version: string;
  title: string;
  parts: Part[];
}
