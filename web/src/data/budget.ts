// The classes of time and sums over them.

import type { Budget } from './model';

/** Class of time, by its place in the document's list, and microseconds. */
export type Part = [kind: number, us: number];

export class Classes {
  constructor(private readonly list: [string, string, string][]) {}

  get length(): number {
    return this.list.length;
  }

  /** `server thinks` */
  words(kind: number): string {
    return this.list[kind]?.[1] ?? 'unknown';
  }

  /** What it means, in sentences. */
  meaning(kind: number): string {
    return this.list[kind]?.[2] ?? '';
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
  // The spaces do not break: a number stays with its unit.
  if (percent < 1) return '<\u00a01\u00a0%';
  if (percent > 99 && us < whole) return '>\u00a099\u00a0%';
  return `${Math.round(percent)}\u00a0%`;
}

export const largestFirst = (parts: Part[]): Part[] => [...parts].sort((a, b) => b[1] - a[1]);
