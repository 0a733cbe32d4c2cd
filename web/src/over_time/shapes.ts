// Which charts there are for the points that are chosen, and the lines of each.

import type { Axis } from '../charts/chart';
import { byteAxis, durationAxis, rateAxis, tidy } from '../charts/marks';
import {
  type Band,
  curve,
  type FlowLine,
  type OverTime,
  type PointLines,
  statistics,
  type WayLines,
} from '../data/over_time';
import { bytes, micros, plural, rate } from '../format';
import { type Line, type Shape, style } from './spec';

/** A point that is drawn: a line of its own in the charts that compare. */
export interface Row {
  name: string;
  number: number;
  point: PointLines;
}

export interface Drawn extends Shape {
  /** A value in words. */
  words: (value: number) => string;
  /** What "most" is the most of: `in one sample of 100 ms`. */
  mostOf?: string;
  /** One of a row of small charts. */
  small?: boolean;
  note?: string;
}

/** Means that are further apart are not seen on a linear axis together. */
const APART = 12;
/** Bytes of about a frame: less is nothing on a logarithmic axis. */
const FRAME = 1_000;

/** A round number without what it does not need: `2.00 µs` is `2 µs`. */
const short = (words: string): string => words.replace(/\.0+(?= )/, '').replace(/(\.\d*[1-9])0+(?= )/, '$1');

/** `200 ns`, `2.00 µs`. */
const time = (value: number): string =>
  value < 1e-6
    ? `${Math.round(value * 1e9)} ns`
    : value < 1e-5
      ? `${(value * 1e6).toFixed(2)} µs`
      : seconds(value);

/** `100 ms`. */
const every = (ns: number): string => short(time(ns / 1e9));

const seconds = (value: number): string => micros(value * 1e6);

export function shapesOf(over: OverTime, rows: Row[], way: number, log: boolean | null): Drawn[] {
  const lines = (of: (row: Row) => Band | null | undefined, factor?: (row: Row) => number): Line[] =>
    rows.flatMap((row) => {
      const band = of(row);
      if (!band) return [];
      const own = curve(band, over.bin_ns, factor?.(row));
      return [{ name: row.name, curve: own, median: row.point.runs > 1, ...style(row.number), on: true }];
    });
  const joins = over.hold_ns / 1e9;
  const out: Drawn[] = [];
  if (over.ways.length > 0) {
    out.push(...queue(over, way, lines, (row) => row.point.ways[way], rows, log));
    const sample = over.link_every_ns === null ? 'one sample' : `one sample of ${every(over.link_every_ns)}`;
    out.push({
      mostOf: `in ${sample}`,
      note: `The rate is the mean of each sample. A frame counts as a whole when it leaves, so ${sample} may lie above the link's rate.`,
      id: 'rate',
      title: `Rate of frames out of ${over.ways[way]}`,
      lines: lines((row) => row.point.ways[way]?.rate),
      y: rateAxis('rate'),
      words: rate,
    });
  }
  over.groups.forEach((group, g) => {
    const suffix = over.groups.length > 1 ? ` of ${group}` : '';
    out.push({
      id: `rtt-${g}`,
      title: `RTT${suffix}`,
      lines: lines((row) => row.point.groups[g]?.rtt),
      y: durationAxis('RTT'),
      joins,
      words: seconds,
      note: "The senders' smoothed RTT (tcpi_rtt), averaged over the connections.",
    });
    out.push({
      id: `pings-${g}`,
      title: `Time of pings${suffix}`,
      lines: lines((row) => row.point.groups[g]?.pings),
      y: durationAxis('ping'),
      joins,
      words: seconds,
    });
    out.push({
      id: `jain-${g}`,
      title: `Jain's index${suffix}`,
      lines: lines((row) => row.point.groups[g]?.jain),
      y: { label: () => 'index', tick: tidy },
      atMost: 1,
      rule: { at: 0.95, words: '0.95: fair' },
      words: (value) => value.toFixed(3),
    });
  });
  // Applications with a flow each are seen together.
  const single = (g: number) => rows.every((row) => (row.point.groups[g]?.flows.length ?? 0) <= 1);
  const numbers = over.groups.map((_, g) => g);
  const sets = numbers.every(single) ? [numbers] : numbers.map((g) => [g]);
  for (const set of sets) out.push(...flows(over, rows, set));
  const all = out.filter((shape) => shape.lines.length > 0 || (shape.small && shape.note));
  const gutter = all.some((shape) => shape.right);
  return all.map((shape) => ({ ...shape, gutter: gutter && !shape.small }));
}

type Lines = (of: (row: Row) => Band | null | undefined, factor?: (row: Row) => number) => Line[];

function queue(
  over: OverTime,
  way: number,
  linesOf: Lines,
  wayOf: (row: Row) => WayLines | null,
  rows: Row[],
  log: boolean | null,
): Drawn[] {
  const name = over.ways[way];
  const lines = linesOf((row) => wayOf(row)?.queue);
  const means = lines
    .map((line) => statistics(line.curve, 0, Number.POSITIVE_INFINITY)?.mean ?? 0)
    .filter((mean) => mean > FRAME / 4);
  const apart = Math.max(...means) > APART * Math.min(...means);
  const logarithmic = log ?? apart;
  const drains = new Set(rows.map(wayOf).flatMap((way) => (way ? [way.drain_bps] : [])));
  const drain = [...drains][0];
  const shape: Drawn = {
    note: [sampled(over, rows, wayOf), withoutDrain(rows, wayOf)].filter(Boolean).join(' '),
    id: 'queue',
    title: `Queue of ${name}`,
    lines,
    y: logarithmic ? { label: () => 'queue', tick: (v) => short(bytes(v)) } : byteAxis('queue'),
    log: logarithmic,
    floor: FRAME,
    words: bytes,
  };
  if (drains.size === 1 && drain) {
    const words: Axis = { label: () => 'time to drain', tick: (v) => short(time(v)) };
    const right = { axis: logarithmic ? words : durationAxis('time to drain'), factor: 8 / drain };
    return [{ ...shape, right, words: (v) => `${bytes(v)} (${seconds((v * 8) / drain)})` }];
  }
  // Each line has a rate of its own: its time is another picture.
  const drained = (row: Row) => wayOf(row)?.drain_bps;
  const timed = linesOf(
    (row) => (drained(row) ? wayOf(row)?.queue : null),
    (row) => 8 / (drained(row) ?? 1),
  );
  const delay: Drawn = {
    id: 'delay',
    title: `Time to drain the queue of ${name}`,
    lines: timed,
    y: durationAxis('time'),
    log: log ?? false,
    floor: 1e-6,
    words: seconds,
  };
  return [shape, delay];
}

/** What the curve of a queue is, and its "most". */
function sampled(over: OverTime, rows: Row[], wayOf: (row: Row) => WayLines | null): string {
  const often = over.link_every_ns === null ? '' : ` every ${every(over.link_every_ns)}`;
  const all = rows.every((row) => wayOf(row)?.every_packet ?? true);
  return `Lines: the queue in samples${often}. Most: ${all ? 'of all packets, also between samples' : 'of the samples'}.`;
}

/** The flows that lasted for less than an interval of samples. */
function withoutCurve(flows: FlowLine[], interval: string): string {
  const short = flows.filter(({ goodput }) => !goodput);
  const known = short.flatMap(({ mean_bps }) => mean_bps ?? []);
  if (short.length === 0) return '';
  const [least, most] = [Math.min(...known), Math.max(...known)].map(rate);
  const got = known.length === 0 ? '' : `, goodput ${least === most ? least : `${least} to ${most}`}`;
  const who = short.length === 1 ? short[0].name : plural(short.length, 'flow');
  return `No curve of ${who}${got}: shorter than ${interval}, the time between samples.`;
}

/** Why some lines have no time to drain; a line's name where the reason is not that of all. */
function withoutDrain(rows: Row[], wayOf: (row: Row) => WayLines | null): string {
  const whys = rows.map((row) => wayOf(row)?.no_drain ?? '');
  const all = new Set(whys);
  if (all.size === 1) return whys[0] === '' ? '' : `No time to drain is shown: ${whys[0]}.`;
  const each = [...all].filter(Boolean).map((why) => {
    const names = rows.filter((_, i) => whys[i] === why).map((row) => row.name);
    return `${names.join(', ')}: no time to drain is shown, because ${why}.`;
  });
  return each.join(' ');
}

/** A small chart for each point, a line for each flow of these groups, all on one scale. */
function flows(over: OverTime, rows: Row[], groups: number[]): Drawn[] {
  const of = rows.map(({ point }) => {
    const all = groups.flatMap((g) => point.groups[g]?.flows ?? []);
    return all.flatMap(({ name, goodput, mean_bps }, i): Line[] => {
      if (!goodput) return [];
      const own = curve(goodput, over.bin_ns);
      const whole = mean_bps ?? undefined;
      return [{ name, curve: own, median: point.runs > 1, ...style(i), on: true, whole }];
    });
  });
  const interval = over.tcp_info_every_ns === null ? 'tcp_info_every' : every(over.tcp_info_every_ns);
  const what = `Goodput of ${groups.map((g) => over.groups[g]).join(', ')}`;
  return rows.map((row, i) => {
    const left = groups.reduce((sum, g) => sum + (row.point.groups[g]?.flows_left_out ?? 0), 0);
    const bare = over.runs_drawn > 0 && of[i].some((line) => line.median && line.curve.runs.length === 0);
    const all = groups.flatMap((g) => row.point.groups[g]?.flows ?? []);
    const notes = [
      withoutCurve(all, interval),
      left > 0 && `${plural(left, 'flow')} with fewer bytes are left out.`,
      bare && 'Only medians: there are too many flows to draw each repetition.',
    ];
    return {
      id: `flows-${groups[0]}-${i}`,
      title: row.name === '' ? what : `${what}: ${row.name}`,
      lines: of[i],
      beside: of.flat(),
      y: rateAxis('goodput'),
      words: rate,
      small: true,
      // What fills a hole in the data counts at once: peaks above the link's rate.
      byMeans: true,
      note: notes.filter(Boolean).join(' '),
    };
  });
}
