// Traces made by hand: only the fields that a test speaks of are given.

import { type Acks, CLASSES, type Trace } from '../../src/data/columns';

export interface Packet {
  time: number;
  client: boolean;
  seq?: number;
  len?: number;
  ack?: number;
  flags?: number;
  kind?: number;
  window?: number;
  flight?: number;
  rttUs?: number;
  sack?: [number, number][];
  wait?: { class: (typeof CLASSES)[number]; newest: number; us: number };
}

export function traceOf(packets: Packet[]): Trace {
  const floats = (f: (p: Packet, i: number) => number) => Float64Array.from(packets, f);
  const sackFrom = [0];
  const edges: number[] = [];
  for (const p of packets) {
    for (const block of p.sack ?? []) edges.push(...block);
    sackFrom.push(edges.length / 2);
  }
  let acked = 0;
  const ackRow = Int32Array.from(packets, (p) => (p.wait ? acked++ : -1));
  return {
    rows: packets.length,
    number: floats((_, i) => i + 1),
    time: floats((p) => p.time),
    fromClient: Uint8Array.from(packets, (p) => Number(p.client)),
    kind: Uint8Array.from(packets, (p) => p.kind ?? (p.len ? 1 : 0)),
    spurious: new Uint8Array(packets.length),
    flags: Uint16Array.from(packets, (p) => p.flags ?? 0x10),
    verdicts: new Uint32Array(packets.length),
    seq: floats((p) => p.seq ?? 1),
    len: Uint32Array.from(packets, (p) => p.len ?? 0),
    ack: floats((p) => p.ack ?? Number.NaN),
    window: floats((p) => p.window ?? 1000),
    flight: floats((p) => p.flight ?? 0),
    rttUs: floats((p) => p.rttUs ?? Number.NaN),
    sackFrom: Uint32Array.from(sackFrom),
    sackEdges: Float64Array.from(edges),
    ackRow,
    acks: acksOf(packets),
    unscaled: [false, false],
  };
}

function acksOf(packets: Packet[]): Acks {
  const rows = packets.flatMap((p) => (p.wait ? [p.wait] : []));
  const zero = () => new Uint32Array(rows.length);
  return {
    class: Uint8Array.from(rows, (w) => CLASSES.indexOf(w.class)),
    bytes: zero(),
    segments: zero().fill(1),
    newest: Float64Array.from(rows, (w) => w.newest),
    trigger: new Float64Array(rows.length),
    waitUs: Uint32Array.from(rows, (w) => w.us),
    sinceLastUs: zero(),
    pathUs: zero(),
    credits: new Int16Array(rows.length).fill(-1),
  };
}

/** The server sends `n` segments of 100 bytes, one each second; the client ACKs each after 10 ms. */
export function pingPong(n: number): Trace {
  const packets: Packet[] = [];
  for (let i = 0; i < n; i++) {
    packets.push({ time: i, client: false, seq: 1 + i * 100, len: 100, ack: 1, flight: 100 });
    packets.push({
      time: i + 0.01,
      client: true,
      ack: 101 + i * 100,
      rttUs: 10_000,
      wait: { class: 'immediate', newest: i + 1, us: 10_000 },
    });
  }
  return traceOf(packets);
}
