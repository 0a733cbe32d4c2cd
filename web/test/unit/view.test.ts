// One direction of a stream: which packets, which times, which segments.

import { describe, expect, it } from 'vitest';
import { directionOf, lowerBound, makeView, rowsOf, segmentAt, timeAt } from '../../src/data/view';
import { packetFields } from '../../src/ui/tooltip';
import { pingPong, traceOf } from './sample';

describe('view', () => {
  it('takes data from one side and ACKs from the other', () => {
    const view = makeView(pingPong(5), false);
    expect([...view.data]).toEqual([0, 2, 4, 6, 8]);
    expect([...view.acks]).toEqual([1, 3, 5, 7, 9]);
    expect([...view.ackLine]).toEqual([101, 201, 301, 401, 501]);
    expect(view.segments).toBe(5);
    expect([...view.flight.value]).toEqual([100, 0, 100, 0, 100, 0, 100, 0, 100, 0]);
    const other = makeView(pingPong(5), true);
    expect([other.data.length, other.waits.length]).toEqual([0, 0]);
  });

  it('maps time to segments and back', () => {
    const view = makeView(pingPong(20), false);
    expect(segmentAt(view, view.trace.time[7])).toBe(4);
    for (const t of [-1, 0, 0.4, 3.01, 7.5, 19.01, 25])
      expect(timeAt(view, segmentAt(view, t))).toBeCloseTo(t, 9);
  });

  it('does not run away outside the packets, though the last ACK is the last packet', () => {
    const view = makeView(pingPong(20), false);
    expect(segmentAt(view, 19.3)).toBeLessThan(22);
    expect(segmentAt(view, -0.3)).toBeGreaterThan(-2);
  });

  it('sorts packets whose time stamps go backwards', () => {
    const view = makeView(
      traceOf([
        { time: 0, client: true, seq: 1, len: 10 },
        { time: 2, client: true, seq: 11, len: 10 },
        { time: 1, client: true, seq: 21, len: 10 },
      ]),
      true,
    );
    expect([...view.data]).toEqual([0, 2, 1]);
    expect(view.span).toEqual([0, 2]);
  });

  it('survives no packets, one packet, and many at one time', () => {
    expect(makeView(traceOf([]), true).data.length).toBe(0);
    const one = makeView(traceOf([{ time: 0, client: true, flags: 2 }]), true);
    expect(one.span[1]).toBeGreaterThan(one.span[0]);
    expect(segmentAt(one, 0)).toBe(0);
    const same = makeView(
      traceOf([
        { time: 1, client: true, len: 1 },
        { time: 1, client: false, ack: 2 },
      ]),
      true,
    );
    expect(Number.isFinite(segmentAt(same, 1))).toBe(true);
  });

  it('knows which direction a finding speaks of', () => {
    const trace = pingPong(5);
    expect(directionOf(trace, [1, 3])).toBe(false);
    expect(directionOf(trace, [0, 2])).toBe(false);
    expect(directionOf(traceOf([{ time: 0, client: true, flags: 2 }]), [0])).toBe(true);
    expect(directionOf(trace, [])).toBe(false);
    expect(rowsOf(trace, [2, 4, 999])).toEqual([1, 3]);
  });

  it('finds the first key that is not below', () => {
    const keys = [1, 3, 3, 7];
    expect([0, 1, 2, 3, 8].map((x) => lowerBound(4, (i) => keys[i], x))).toEqual([0, 0, 1, 1, 4]);
  });
});

describe('packet box', () => {
  it('names number, class and wait', () => {
    const fields = new Map(packetFields(pingPong(3), 3));
    expect(fields.get('ACK class')).toBe('immediate');
    expect(fields.get('wait')).toBe('10.00 ms');
    expect(fields.get('ack')).toBe('201');
    expect(fields.get('time')).toBe('1.010000 s');
  });
});
