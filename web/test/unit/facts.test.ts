// When the page warns that a stream's end is missing.

import { describe, expect, it } from 'vitest';
import type { Stream, Totals } from '../../src/data/model';
import { earlyNote } from '../../src/ui/facts';

const early = { reported_early: true } as Stream;
const totals = (more: Partial<Totals>): Totals => ({ packets: 9, tcp_packets: 9, tcp_streams: 3, ...more });

describe('a stream that was reported early', () => {
  it('is whole when no packet came later', () => {
    expect(earlyNote(early, totals({ evicted_streams: 2 }))).toBeNull();
    expect(earlyNote({} as Stream, totals({ late_packets: 4 }))).toBeNull();
  });

  it('may lack its end when packets came later', () => {
    for (const more of [{ late_packets: 4 }, { forgotten_streams: 1 }])
      expect(earlyNote(early, totals(more))).toContain('if any');
  });
});
