// The packed packets of the Rust code come out as the packets that went in.

import { describe, expect, it } from 'vitest';
import { bytesOf, CLASSES, decodeColumns, KIND } from '../../src/data/columns';

// The same text as in crates/report/src/page/tests.rs: the two must never part.
const GOLDEN =
  'BEU8hxIDEBAQAw4EBggAgPqGKP+IegcCArC4r6AlBegHAOgHBALSDwAHgOoHgOoHAATQDwAA' +
  'A5zEAgUB0A/oBw8C6AcBIgSQyAKsxwLYBAEBCQ==';

describe('columns', () => {
  const trace = decodeColumns(bytesOf(GOLDEN), 3);

  it('gives the packets that Rust packed', () => {
    expect([...trace.number]).toEqual([7, 9, 12]);
    expect([...trace.fromClient]).toEqual([1, 0, 1]);
    expect([...trace.time]).toEqual([0, 0.042, 0.041]);
    expect([...trace.seq]).toEqual([1, 1, 5_000_000_001]);
    expect([...trace.len]).toEqual([1000, 0, 1000]);
    expect([...trace.ack]).toEqual([1, 1001, 1]);
    expect([...trace.kind]).toEqual([KIND.data, KIND.ack, KIND.rto]);
    expect([...trace.spurious]).toEqual([0, 0, 1]);
    expect([...trace.verdicts]).toEqual([0, 0, 9]);
    expect([...trace.window]).toEqual([64_128, 64_128, 64_128]);
    expect([...trace.flight]).toEqual([1000, 0, 1000]);
    expect(trace.rttUs[1]).toBe(41_500);
    expect(trace.rttUs[0]).toBeNaN();
  });

  it('gives SACK blocks and the ACK row', () => {
    expect([...trace.sackFrom]).toEqual([0, 0, 1, 1]);
    expect([...trace.sackEdges]).toEqual([2001, 3001]);
    expect([...trace.ackRow]).toEqual([-1, 0, -1]);
    const { acks } = trace;
    expect(CLASSES[acks.class[0]]).toBe('delayed');
    expect([acks.bytes[0], acks.segments[0], acks.newest[0]]).toEqual([1000, 1, 17]);
    expect([acks.trigger[0], acks.waitUs[0], acks.sinceLastUs[0]]).toEqual([7, 42_000, 41_900]);
    expect([acks.pathUs[0], acks.credits[0]]).toEqual([300, 0]);
  });

  it('says so when bytes are missing', () => {
    const bytes = bytesOf(GOLDEN);
    expect(() => decodeColumns(bytes, 4)).toThrow('cut short');
    expect(() => decodeColumns(bytes.subarray(0, 5), 1)).toThrow('columns');
  });
});
