// What charts say of packets: rates over time, stretches of ACKs, windows without their scale.

import { describe, expect, it } from 'vitest';
import { FlightChart } from '../../src/charts/flight';
import { Room } from '../../src/charts/marks';
import { sequenceSpec } from '../../src/charts/sequence';
import { binWidth, rateOf, sumsOf, ThroughputChart } from '../../src/charts/throughput';
import { WaitChart } from '../../src/charts/wait';
import type { AcksSent } from '../../src/data/model';
import { makeView } from '../../src/data/view';
import { rangeWords } from '../../src/format';
import { packetFields } from '../../src/ui/tooltip';
import { type Packet, pingPong, traceOf } from './sample';

describe('throughput', () => {
  it('has bins of 1, 2 or 5 that follow the zoom, never below a millisecond', () => {
    expect([1000, 12, 10, 1.1, 0.2, 1e-6].map(binWidth)).toEqual([10, 0.1, 0.1, 0.01, 0.002, 0.001]);
    for (let range = 1e-4; range < 1e5; range *= 1.37) expect(range / binWidth(range)).toBeLessThan(121);
  });

  it('counts bytes over time', () => {
    const { fresh } = sumsOf(makeView(pingPong(10), false));
    expect(rateOf(fresh, 0, 10)).toBe(800);
    expect(rateOf(fresh, 0.5, 0.4)).toBe(0);
    expect(rateOf(fresh, 2, 1)).toBe(800);
  });

  it('counts what is sent again once, and says that there were repeats', () => {
    const packets: Packet[] = [
      { time: 0, client: true, seq: 1, len: 100 },
      { time: 1, client: true, seq: 201, len: 100 },
      { time: 2, client: true, seq: 201, len: 100, kind: 4 },
      // It fills a gap and was never seen before.
      { time: 3, client: true, seq: 101, len: 100, kind: 2 },
    ];
    const view = makeView(traceOf(packets), true);
    const { fresh, sent } = sumsOf(view);
    expect([...fresh.bytes]).toEqual([100, 200, 200, 300]);
    expect([...sent.bytes]).toEqual([100, 200, 300, 400]);
    expect(new ThroughputChart(view).layers.map((l) => l.count)).toEqual([1, 1]);
  });

  it('counts a repeat whose original never passed the capture', () => {
    const packets: Packet[] = [
      // The capture begins at byte 5001; two segments were lost before it.
      { time: 0, client: true, seq: 5001, len: 100 },
      { time: 1, client: true, seq: 5301, len: 100 },
      { time: 2, client: true, seq: 5101, len: 100, kind: 3 },
      { time: 3, client: true, seq: 5101, len: 200, kind: 4 },
      { time: 4, client: true, seq: 4951, len: 500, kind: 4 },
    ];
    const { fresh } = sumsOf(makeView(traceOf(packets), true));
    expect([...fresh.bytes]).toEqual([100, 200, 300, 400, 500]);
  });

  it('goes by the ACKs where the capture has no data', () => {
    const acks: Packet[] = [0, 1, 2].map((i) => ({ time: i, client: true, ack: 1001 + i * 500 }));
    const chart = new ThroughputChart(makeView(traceOf(acks), false));
    expect(chart.empty).toBeNull();
    expect(chart.layers[0].label).toContain('acknowledged');
    const nothing = new ThroughputChart(makeView(traceOf([{ time: 0, client: true, flags: 2 }]), true));
    expect(nothing.empty).toContain('No payload');
  });
});

describe('stretches of ACKs', () => {
  const summary = (kinds: ('delayed' | 'second segment')[], us: number[]): string => {
    const packets: Packet[] = kinds.flatMap((kind, i): Packet[] => [
      { time: i, client: false, seq: 1 + i * 100, len: 100 },
      {
        time: i + us[i] / 1e6,
        client: true,
        ack: 101 + i * 100,
        wait: { class: kind, newest: i + 1, us: us[i] },
      },
    ]);
    const modes = [
      { mode: 'delayed' as const, from_segment: 1, from_byte: 0, acks: kinds.length, mean_us: 70 },
    ];
    return new WaitChart(makeView(traceOf(packets), false), { modes } as AcksSent).summary;
  };

  it('are not called delayed where no ACK was', () => {
    const text = summary(['second segment', 'second segment'], [70, 72]);
    expect(text).toContain('none delayed: segments 1 to 2, median 70 µs');
    expect(text).not.toContain('. delayed:');
  });

  it('give the median of those that were delayed', () => {
    const text = summary(
      ['second segment', 'delayed', 'second segment', 'second segment'],
      [70, 41_000, 71, 72],
    );
    expect(text).toContain('delayed: segments 1 to 4, 1 of 4 ACKs, median 41.00 ms');
    expect(summary(['delayed', 'delayed'], [40_000, 42_000])).toContain('segments 1 to 2, median 40.00 ms');
  });
});

describe('a wait of 0', () => {
  const chart = (...us: number[]) =>
    new WaitChart(
      makeView(
        traceOf(
          us.flatMap((us, i): Packet[] => [
            { time: i, client: false, seq: 1 + i * 100, len: 100 },
            { time: i, client: true, ack: 101 + i * 100, wait: { class: 'immediate', newest: i + 1, us } },
          ]),
        ),
        false,
      ),
      { modes: [{ mode: 'quick', from_segment: 1, from_byte: 0, acks: 1, mean_us: 0 }] } as never,
    );

  it('stands below the axis, not at 1 µs', () => {
    const some = chart(0, 0, 20, 9_000);
    const [bottom] = some.yRange();
    expect(some.place(1)?.[1]).toBeLessThan(some.heightOf(20));
    expect(some.heightOf(0)).toBeLessThan(10);
    expect(some.heightOf(0)).toBeGreaterThan(bottom);
    expect(chart(20, 9_000).yRange()[0]).toBe(10);
    expect(chart(0, 0).summary).toContain('median 0 µs');
  });
});

describe('the legend of the time-sequence graph', () => {
  it('counts segments with payload as data, not SYN and FIN', () => {
    const packets: Packet[] = [
      { time: 0, client: true, seq: 0, flags: 0x002 },
      { time: 1, client: true, seq: 1, len: 100, kind: 1 },
      { time: 2, client: true, seq: 101, len: 50, flags: 0x011, kind: 1 },
      { time: 3, client: true, seq: 152, flags: 0x011 },
    ];
    const chart = sequenceSpec(makeView(traceOf(packets), true));
    expect(chart.layers[0]).toMatchObject({ key: 'data', count: 2 });
    expect(chart.empty).toBeNull();
  });
});

describe('labels', () => {
  it('leave out what would lie on another', () => {
    const room = new Room();
    const box = (x: number, y: number) => room.take(x, y, 20, 10);
    expect([box(0, 0), box(10, 5), box(10, 11), box(21, 0)]).toEqual([true, false, true, true]);
  });
});

describe('a range of time', () => {
  it('ends where the packets do, and its width is that of its ends', () => {
    expect(rangeWords([-0.015, 1.015], [0, 1])).toBe('0.000000 s to 1.000000 s, 1.000 s');
    expect(rangeWords([0.25, 0.5], [0, 1])).toBe('0.250000 s to 0.500000 s, 250.0 ms');
    expect(rangeWords([2, 3], [0, 1])).toBe('2.000000 s to 3.000000 s, 1.000 s');
  });
});

describe('a window without its scale', () => {
  it('is not drawn until a reader asks, and the packet box says so', () => {
    const trace = pingPong(3);
    const window = () => new FlightChart(makeView(trace, false)).layers[1];
    expect(window()).toMatchObject({ label: 'window', on: true });
    trace.unscaled = [false, true];
    expect(window().on).toBe(false);
    expect(window().label).toContain('scale unknown');
    expect(new FlightChart(makeView(trace, true)).layers[1].on).toBe(true);
    expect(new Map(packetFields(trace, 1)).get('win')).toBe('1,000, scale unknown');
    expect(new Map(packetFields(trace, 0)).get('win')).toBe('1,000 B');
  });
});
