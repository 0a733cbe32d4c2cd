// The classes of time and sums over them.

import { micros } from '../format';
import type { Budget } from './model';

/** Class of time, by its place in the document's list, and microseconds. */
export type Part = [kind: number, us: number];

export class Classes {
  constructor(private readonly list: [string, string][]) {}

  get length(): number {
    return this.list.length;
  }

  /** `server thinks` */
  words(kind: number): string {
    return this.list[kind]?.[1] ?? 'unknown';
  }

  /** The colour, as the style sheet names it. */
  ink(kind: number): `time-${string}` {
    return `time-${(this.list[kind]?.[0] ?? 'unknown').replaceAll('_', '-')}`;
  }

  /** What a budget holds, in the order of the classes. */
  parts(budget: Budget | undefined): Part[] {
    return this.list.flatMap(([name], kind): Part[] => {
      const us = budget?.[name] ?? 0;
      return us > 0 ? [[kind, us]] : [];
    });
  }
}

export const total = (parts: Part[]): number => parts.reduce((sum, [, us]) => sum + us, 0);

/** `71 %`; what is there is never 0 %, and a part of a whole never 100 %. */
export function share(us: number, whole: number): string {
  const percent = (100 * us) / whole;
  if (percent < 1) return '< 1 %';
  if (percent > 99 && us < whole) return '> 99 %';
  return `${Math.round(percent)} %`;
}

export const largestFirst = (parts: Part[]): Part[] => [...parts].sort((a, b) => b[1] - a[1]);

/** The largest parts in words: `22.0 s server thinks (71 %), 7.0 s retransmission timeout (23 %), 2.0 s other`. */
export function sentence(classes: Classes, parts: Part[], most = 3): string {
  const whole = total(parts);
  const sorted = largestFirst(parts);
  // One more by its name takes no more room than "other".
  const named = sorted.length === most + 1 ? sorted : sorted.slice(0, most);
  const texts = named.map(([kind, us]) => `${micros(us)} ${classes.words(kind)} (${share(us, whole)})`);
  const rest = total(sorted.slice(named.length));
  if (rest > 0) texts.push(`${micros(rest)} other`);
  return texts.join(', ');
}
