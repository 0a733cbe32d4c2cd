// The documents of a population's pages: `tcplab.page-population/1`, `tcplab.page-distributions/1`.

export interface Distribution {
  count: number;
  mean_us: number | null;
  trimmed_mean_us: number | null;
  top1_share: number | null;
  p50_us: number | null;
  p95_us: number | null;
  p99_us: number | null;
  /** Times in microseconds, and the part of all that took no longer. */
  cdf: [number, number][];
}

export interface Arm {
  name: string;
  connections: number;
  lossy_connections: number;
  requests: number;
  counters: Record<string, number>;
  latency: Distribution;
  latency_lt4k: Distribution;
  lossy_share_of_latency: number | null;
  recovery: Distribution;
}

export type Verdict = 'lower' | 'higher' | 'same' | 'undecided';

export interface Row {
  id: string;
  title: string;
  arm: string;
  baseline: number | null;
  value: number | null;
  unit: string;
  percent: number | null;
  interval: [number, number] | null;
  p: number | null;
  verdict: Verdict;
  more_connections: number | null;
  missing?: string;
}

export interface Outlier {
  connection: number;
  arm: string;
  difference_us: number;
}

export interface Result {
  experiment: string;
  title?: string;
  variant?: string;
  stack: string;
  seed: number;
  connections: number;
  shard: string;
  stopped: boolean;
  baseline: string;
  level: number;
  arms: Arm[];
  rows: Row[];
  outliers: Outlier[];
}

/** The packets of a connection in columns; see `crates/report/src/page/population/points.rs`. */
export interface Columns {
  all: number;
  after_us: number[];
  step: number[];
  len: number[];
  kind: string;
}

export interface Side {
  arm: string;
  responses_us: number[];
  counters: [string, number][];
  points: Columns;
}

export interface Look {
  connection: number;
  arm: string;
  difference_us: number;
  drawn: [string, string][];
  command: string;
  sides: [Side, Side];
}

export interface PopulationPage {
  schema: 'tcplab.page-population/1';
  version: string;
  band_percent: number;
  /** Ids of rows that are held against the band. */
  banded: string[];
  result: Result;
  looks: Look[];
}

/** A row of one variant's table. */
export interface EffectCell {
  variant: string;
  percent: number | null;
  interval: [number, number] | null;
  verdict: Verdict;
}

/** A row of an arm in every variant. */
export interface Effect {
  id: string;
  title: string;
  arm: string;
  cells: EffectCell[];
}

export interface VariantsPage {
  schema: 'tcplab.page-variants/1';
  version: string;
  effects: Effect[];
  variants: PopulationPage[];
}

export type Unit = 'ns' | 'bps' | 'bytes' | 'count' | 'ppb';

export interface Quantity {
  what: string;
  unit: Unit;
  count: number;
  mean: number;
  percentiles: [number, number][];
  /** Lower end of each bin and how many fell into it; bins are equal in the logarithm. */
  histogram: [number, number][];
}

export interface DistributionsPage {
  schema: 'tcplab.page-distributions/1';
  version: string;
  shown: {
    experiment: string;
    seed: number;
    draws: number;
    quantities: Quantity[];
    kinds: { what: string; parts: [string, number][] }[];
    texts: [string, string][];
  };
}

/** A packet of a time-sequence graph. */
export interface Point {
  /** Seconds after the connection's first packet. */
  time: number;
  /** First byte, or the ACK number. */
  seq: number;
  len: number;
  /** d, f, r, t, x, a. */
  kind: string;
}

/** Columns as points. */
export function pointsOf(columns: Columns): Point[] {
  const points: Point[] = [];
  let us = 0;
  let seq = 0;
  for (let i = 0; i < columns.kind.length; i++) {
    us += columns.after_us[i] ?? 0;
    seq += columns.step[i] ?? 0;
    points.push({ time: us / 1e6, seq, len: columns.len[i] ?? 0, kind: columns.kind[i] });
  }
  return points;
}
