// What points did over time: `over_time` of `tcplab.page-matrix/1`, made by crates/report/src/matrix/over_time/.

export interface Band {
  /** Number of the first bin; bin n begins n bins after the run's start. */
  first: number;
  scale: number;
  mid: (number | null)[];
  low?: (number | null)[];
  high?: (number | null)[];
  /** The most of all samples of all repetitions. */
  peak?: Band;
  /** The first repetitions; `mid` is the median of all. */
  runs?: Band[];
}

export interface WayLines {
  queue: Band;
  /** The extremes of the queue are of every packet, not of the samples. */
  every_packet: boolean;
  rate: Band | null;
  drain_bps: number | null;
  /** Why the queue has no time to drain. */
  no_drain?: string;
}

export interface FlowLine {
  name: string;
  /** None: it lasted for less than an interval of samples. */
  goodput: Band | null;
  /** Goodput from its first to its last end, as in the table; of repetitions the median. */
  mean_bps: number | null;
}

export interface GroupLines {
  flows: FlowLine[];
  flows_left_out: number;
  jain: Band | null;
  rtt: Band | null;
  pings: Band | null;
}

export interface PointLines {
  at: number[];
  /** Repetitions. */
  runs: number;
  ways: (WayLines | null)[];
  groups: (GroupLines | null)[];
}

export interface OverTime {
  bin_ns: number;
  hold_ns: number;
  /** Time between two samples, if all runs have the same. */
  link_every_ns: number | null;
  tcp_info_every_ns: number | null;
  ways: string[];
  ways_left_out: number;
  groups: string[];
  points: PointLines[];
  points_left_out: number;
  runs_drawn: number;
}

/** A band as numbers; NaN where there is nothing. */
export interface Curve {
  /** Number of the first bin. */
  first: number;
  /** Seconds of a bin. */
  bin: number;
  mid: Float64Array;
  /** The least and the most in a bin, or the lowest and the highest of `runs`. */
  low: Float64Array;
  high: Float64Array;
  /** The most of all samples, of every repetition too. */
  peak: Float64Array;
  /** Repetitions that are drawn. */
  runs: Curve[];
}

/** A band as numbers, each multiplied with `factor`. */
export function curve(band: Band, binNs: number, factor = 1): Curve {
  const numbers = (values: (number | null)[]) =>
    Float64Array.from(values, (v) => (v === null ? Number.NaN : v * band.scale * factor));
  const mid = numbers(band.mid);
  const runs = (band.runs ?? []).map((run) => curve(run, binNs, factor));
  const ofRuns = (pick: typeof Math.min) =>
    mid.map((median, i) => {
      const values = runs.map((run) => run.mid[band.first + i - run.first] ?? Number.NaN);
      const known = [median, ...values].filter((value) => !Number.isNaN(value));
      return known.length > 0 ? pick(...known) : Number.NaN;
    });
  const spread = (values: (number | null)[] | undefined, pick: typeof Math.min) =>
    runs.length > 0 ? ofRuns(pick) : values ? numbers(values) : mid;
  const high = spread(band.high, Math.max);
  const peak = band.peak ? curve(band.peak, binNs, factor).mid : high;
  return {
    first: band.first,
    bin: binNs / 1e9,
    mid,
    low: spread(band.low, Math.min),
    high,
    peak,
    runs,
  };
}

/** The bin at a time, or -1. */
export function binAt(of: Curve, time: number): number {
  const at = Math.floor(time / of.bin + 1e-9) - of.first;
  return at >= 0 && at < of.mid.length && !Number.isNaN(of.mid[at]) ? at : -1;
}

/** The bins that begin or end between two times, from and to. */
export function binsIn(of: Curve, from: number, to: number): [number, number] {
  const first = Math.max(0, Math.floor(from / of.bin) - of.first);
  const end = Math.min(of.mid.length, Math.ceil(to / of.bin) - of.first + 1);
  return [first, Math.max(first, end)];
}

export interface Statistics {
  mean: number;
  least: number;
  most: number;
  /** The time that the bins with a value cover. */
  from: number;
  to: number;
}

/** Statistics of the bins between two times; null when no bin lies there. */
export function statistics(of: Curve, from: number, to: number): Statistics | null {
  const [first, end] = binsIn(of, from, to);
  let [n, sum, least, most] = [0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [known, until] = [0, 0];
  for (let i = first; i < end; i++) {
    const begins = (of.first + i) * of.bin;
    if (begins + of.bin / 2 < from || begins + of.bin / 2 > to) continue;
    if (!Number.isNaN(of.peak[i])) most = Math.max(most, of.peak[i]);
    if (Number.isNaN(of.mid[i])) continue;
    // A state is held where no sample is: its peak is not known there.
    if (!Number.isNaN(of.high[i])) most = Math.max(most, of.high[i]);
    if (n === 0) known = begins;
    until = begins + of.bin;
    n++;
    sum += of.mid[i];
    least = Math.min(least, of.low[i]);
  }
  return n === 0 ? null : { mean: sum / n, least, most, from: known, to: until };
}

/** The last time of a curve. */
export const endOf = (of: Curve): number => (of.first + of.mid.length) * of.bin;
