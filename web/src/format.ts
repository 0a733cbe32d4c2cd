// Numbers as a person reads them. Times come in microseconds or seconds, as the name says.

/** `21 µs`, `42.24 ms`, `1.250 s`. */
export function micros(us: number): string {
  if (us < 1000) return `${Math.round(us)} µs`;
  if (us < 1e6) return `${(us / 1e3).toFixed(us < 1e5 ? 2 : 1)} ms`;
  return seconds(us / 1e6);
}

/** `1.250 s`, `2 min 3 s`. */
export function seconds(s: number): string {
  if (s < 60) return `${s.toFixed(3)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

/** `1,024`. */
export function count(n: number): string {
  return Math.round(n)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 packet`, `2 packets`. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

function scaled(n: number, units: string[]): string {
  let unit = 0;
  while (n >= 1000 && unit < units.length - 1) {
    n /= 1000;
    unit++;
  }
  const digits = unit === 0 || n >= 100 ? 0 : n >= 10 ? 1 : 2;
  return `${n.toFixed(digits)} ${units[unit]}`;
}

/** `980 B`, `1.02 kB`, `14.5 MB`. */
export const bytes = (n: number): string => scaled(n, ['B', 'kB', 'MB', 'GB', 'TB']);

/** `81.9 kbit/s`. */
export const rate = (bps: number): string => scaled(bps, ['bit/s', 'kbit/s', 'Mbit/s', 'Gbit/s', 'Tbit/s']);

/** Seconds with microseconds: `1.634217 s`. */
export const exact = (s: number): string => `${s.toFixed(6)} s`;

/** `0.250000 s to 0.500000 s, 250.0 ms`: a range, without the margin around the packets. */
export function rangeWords([from, to]: [number, number], [first, last]: [number, number]): string {
  const apart = from > last || to < first;
  const [a, b] = apart ? [from, to] : [Math.max(from, first), Math.min(to, last)];
  return `${exact(a)} to ${exact(b)}, ${micros((b - a) * 1e6)}`;
}

/** Earlier times are times of day without a date: text of tcpdump without dates, and clocks that begin at 0. */
const FIRST_DAY_NS = 86_400e9;

/** UTC date and time with microseconds, or without a fraction; the time alone where the capture has no dates. */
export function date(ns: number, fraction = true): string {
  const ms = Math.floor(ns / 1e6);
  const us = Math.floor((ns % 1e9) / 1e3);
  const stamp = new Date(ms);
  if (Number.isNaN(stamp.getTime())) return 'no date';
  const [day, time] = stamp.toISOString().slice(0, 19).split('T');
  const exact = fraction ? `${time}.${us.toString().padStart(6, '0')}` : time;
  return ns >= 0 && ns < FIRST_DAY_NS
    ? `${exact} by the capture's clock, which has no date`
    : `${day} ${exact} UTC`;
}

/** Decimals that multiples of `step` need: 1 for 0.5, 2 for 0.25. */
export function decimals(step: number): number {
  for (let digits = 0; digits < 9; digits++) {
    const scaled = step * 10 ** digits;
    if (Math.abs(scaled - Math.round(scaled)) < 1e-6 * scaled) return digits;
  }
  return 9;
}

/** A unit for an axis whose largest value is `max` base units: its name and how many base units it has. */
export interface Unit {
  name: string;
  size: number;
}

/** For axes in seconds. */
export function timeUnit(max: number): Unit {
  if (max >= 1) return { name: 's', size: 1 };
  if (max >= 1e-3) return { name: 'ms', size: 1e-3 };
  return { name: 'µs', size: 1e-6 };
}

/** For axes in bytes. */
export function byteUnit(max: number): Unit {
  if (max >= 1e9) return { name: 'GB', size: 1e9 };
  if (max >= 1e6) return { name: 'MB', size: 1e6 };
  if (max >= 1e4) return { name: 'kB', size: 1e3 };
  return { name: 'B', size: 1 };
}

/** For axes in bits a second. */
export function rateUnit(max: number): Unit {
  if (max >= 1e9) return { name: 'Gbit/s', size: 1e9 };
  if (max >= 1e6) return { name: 'Mbit/s', size: 1e6 };
  if (max >= 1e3) return { name: 'kbit/s', size: 1e3 };
  return { name: 'bit/s', size: 1 };
}

const FLAGS: [number, string][] = [
  [0x002, 'SYN'],
  [0x001, 'FIN'],
  [0x004, 'RST'],
  [0x008, 'PSH'],
  [0x010, 'ACK'],
  [0x020, 'URG'],
  [0x040, 'ECE'],
  [0x080, 'CWR'],
  [0x100, 'AE'],
];

/** `PSH ACK`. */
export function flagNames(bits: number): string {
  const names = FLAGS.filter(([bit]) => bits & bit).map(([, name]) => name);
  return names.length > 0 ? names.join(' ') : 'none';
}
