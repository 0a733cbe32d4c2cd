// Scales and ticks of the charts that are drawn as SVG.

export interface Scale {
  /** Pixel of a value. */
  at(value: number): number;
  ticks: { value: number; text: string }[];
}

const STEPS = [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000];

/**
 * Per cent: linear up to `linear`, logarithmic beyond, so that one per cent of a latency and three times as many
 * retransmissions fit one axis.
 */
export function percentScale(low: number, high: number, linear: number, from: number, to: number): Scale {
  const bend = (value: number) => Math.asinh(value / linear);
  const [a, b] = [bend(low), bend(high)];
  const at = (value: number) => from + ((bend(value) - a) / (b - a || 1)) * (to - from);
  const all = [0, ...STEPS.flatMap((s) => [s, -s])].filter((v) => v >= low && v <= high);
  // The round ones first; what would touch one that stands is left out.
  const ticks: Scale['ticks'] = [];
  const rank = (v: number) => (v === 0 ? 0 : Number.isInteger(Math.log10(Math.abs(v))) ? 1 : 2);
  for (const value of all.sort((x, y) => rank(x) - rank(y))) {
    if (ticks.every((t) => Math.abs(at(t.value) - at(value)) >= 38))
      ticks.push({ value, text: percent(value) });
  }
  return { at, ticks: ticks.sort((x, y) => x.value - y.value) };
}

/** `+12.3 %`, `−0.45 %`. */
export function percent(value: number): string {
  const size = Math.abs(value);
  const digits = Number.isInteger(value) || size >= 100 ? 0 : size >= 10 ? 1 : 2;
  const sign = value > 0 ? '+' : value < 0 ? '−' : '';
  return `${sign}${size.toFixed(digits)} %`;
}

/** Times on a logarithmic axis, in microseconds. */
export function timeScale(low: number, high: number, from: number, to: number): Scale {
  const [a, b] = [Math.log10(low), Math.log10(high)];
  const at = (value: number) => from + ((Math.log10(Math.max(value, 1)) - a) / (b - a || 1)) * (to - from);
  const ticks: Scale['ticks'] = [];
  for (const part of [1, 3]) {
    for (let e = Math.floor(a); e <= Math.ceil(b); e++) {
      const value = part * 10 ** e;
      if (value < low * 0.999 || value > high * 1.001) continue;
      if (ticks.every((t) => Math.abs(at(t.value) - at(value)) >= 52)) {
        ticks.push({ value, text: shortTime(value) });
      }
    }
  }
  return { at, ticks: ticks.sort((x, y) => x.value - y.value) };
}

/** `300 µs`, `10 ms`, `3 s`. */
export function shortTime(us: number): string {
  const three = (n: number) => String(Number(n.toPrecision(3)));
  if (us < 1e3) return `${three(us)} µs`;
  if (us < 1e6) return `${three(us / 1e3)} ms`;
  return `${three(us / 1e6)} s`;
}

/** A signed difference of times. */
export function difference(us: number): string {
  return `${us < 0 ? '−' : '+'}${shortTime(Math.abs(us))}`;
}
