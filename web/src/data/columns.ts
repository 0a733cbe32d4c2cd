// Reads the packets of a stream back from the columns that crates/report/src/page/columns.rs
// writes; the table of the columns is there.

export const KINDS = [
  'ack',
  'data',
  'out of order',
  'fast retransmit',
  'timeout (RTO)',
  'probe or timeout of a single segment',
  'retransmission',
  'keep-alive',
  'zero-window probe',
] as const;

export const KIND = {
  ack: 0,
  data: 1,
  outOfOrder: 2,
  fast: 3,
  rto: 4,
  tlp: 5,
  other: 6,
  keepAlive: 7,
  probe: 8,
} as const;

export const CLASSES = ['immediate', 'second segment', 'delayed', 'piggybacked', 'other'] as const;

/** ACK rows: one entry for each packet that acknowledges new data. */
export interface Acks {
  class: Uint8Array;
  bytes: Uint32Array;
  segments: Uint32Array;
  newest: Float64Array;
  /** Frame number of the packet that triggered it. */
  trigger: Float64Array;
  waitUs: Uint32Array;
  sinceLastUs: Uint32Array;
  pathUs: Uint32Array;
  /** Quick-ACK credits left; -1 where they are not known. */
  credits: Int16Array;
}

/** The packets of one stream, one array for each field. */
export interface Trace {
  rows: number;
  /** Frame number in the capture file. */
  number: Float64Array;
  /** Seconds since the first packet of the stream. */
  time: Float64Array;
  fromClient: Uint8Array;
  kind: Uint8Array;
  spurious: Uint8Array;
  flags: Uint16Array;
  /** Bits of Wireshark's verdicts; the document names them. */
  verdicts: Uint32Array;
  seq: Float64Array;
  len: Uint32Array;
  /** Relative ACK number; NaN without the flag. */
  ack: Float64Array;
  window: Float64Array;
  flight: Float64Array;
  /** Microseconds; NaN without a sample. */
  rttUs: Float64Array;
  /** Blocks of row i: `sackEdges[2 * k]`, `[2 * k + 1]` for k from `sackFrom[i]` to `sackFrom[i + 1]`. */
  sackFrom: Uint32Array;
  sackEdges: Float64Array;
  /** Index into `acks`; -1 when the packet acknowledges nothing new. */
  ackRow: Int32Array;
  acks: Acks;
  /** The windows of the server, and of the client, are known only up to a power of two. */
  unscaled: [boolean, boolean];
}

/** A cursor over one column. */
export class Column {
  private at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  get done(): boolean {
    return this.at >= this.bytes.length;
  }

  plain(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new Error('the packets of this stream are cut short');
      // Products instead of shifts: sequence numbers pass 32 bits.
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
  }

  signed(): number {
    const value = this.plain();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

function splitColumns(bytes: Uint8Array): Column[] {
  const columns: Column[] = [];
  let at = 0;
  while (at < bytes.length) {
    let length = 0;
    let scale = 1;
    let byte: number;
    do {
      byte = bytes[at++];
      length += (byte & 0x7f) * scale;
      scale *= 128;
    } while (byte >= 0x80);
    columns.push(new Column(bytes.subarray(at, at + length)));
    at += length;
  }
  return columns;
}

function emptyTrace(rows: number): Trace {
  return {
    rows,
    number: new Float64Array(rows),
    time: new Float64Array(rows),
    fromClient: new Uint8Array(rows),
    kind: new Uint8Array(rows),
    spurious: new Uint8Array(rows),
    flags: new Uint16Array(rows),
    verdicts: new Uint32Array(rows),
    seq: new Float64Array(rows),
    len: new Uint32Array(rows),
    ack: new Float64Array(rows).fill(Number.NaN),
    window: new Float64Array(rows),
    flight: new Float64Array(rows),
    rttUs: new Float64Array(rows).fill(Number.NaN),
    sackFrom: new Uint32Array(rows + 1),
    sackEdges: new Float64Array(0),
    ackRow: new Int32Array(rows).fill(-1),
    acks: emptyAcks(rows),
    unscaled: [false, false],
  };
}

function emptyAcks(rows: number): Acks {
  return {
    class: new Uint8Array(rows),
    bytes: new Uint32Array(rows),
    segments: new Uint32Array(rows),
    newest: new Float64Array(rows),
    trigger: new Float64Array(rows),
    waitUs: new Uint32Array(rows),
    sinceLastUs: new Uint32Array(rows),
    pathUs: new Uint32Array(rows),
    credits: new Int16Array(rows).fill(-1),
  };
}

interface Last {
  seqEnd: number;
  ack: number;
  window: number;
  flight: number;
  newest: number;
  path: number;
}

const fresh = (): Last => ({ seqEnd: 0, ack: 0, window: 0, flight: 0, newest: 0, path: 0 });

/** Decodes `rows` packets. Throws when the bytes do not hold that many. */
export function decodeColumns(bytes: Uint8Array, rows: number): Trace {
  const columns = splitColumns(bytes);
  if (columns.length !== 13) throw new Error(`expected 13 columns, found ${columns.length}`);
  const [meta, flags, number, time, seq, len, ack, window, flight, rtt, sack, wait, verdicts] = columns;
  const trace = emptyTrace(rows);
  const last = [fresh(), fresh()];
  const edges: number[] = [];
  let frame = 0;
  let ns = 0;
  let acked = 0;
  for (let i = 0; i < rows; i++) {
    const bits = meta.plain();
    const side = last[bits & 1];
    trace.fromClient[i] = bits & 1;
    trace.spurious[i] = (bits >> 1) & 1;
    trace.kind[i] = (bits >> 6) & 31;
    if (bits & 2048) trace.verdicts[i] = verdicts.plain();
    trace.flags[i] = flags.plain();
    frame += number.signed();
    trace.number[i] = frame;
    ns += time.signed();
    trace.time[i] = ns / 1e9;
    trace.seq[i] = side.seqEnd + seq.signed();
    trace.len[i] = len.plain();
    side.seqEnd = trace.seq[i] + trace.len[i];
    if (bits & 4) {
      side.ack += ack.signed();
      trace.ack[i] = side.ack;
    }
    side.window += window.signed();
    trace.window[i] = side.window;
    side.flight += flight.signed();
    trace.flight[i] = side.flight;
    if (bits & 16) trace.rttUs[i] = rtt.plain();
    if (bits & 32) {
      const base = bits & 4 ? side.ack : 0;
      for (let k = sack.plain(); k > 0; k--) {
        const left = base + sack.signed();
        edges.push(left, left + sack.plain());
      }
    }
    trace.sackFrom[i + 1] = edges.length / 2;
    if (bits & 8) {
      trace.ackRow[i] = acked;
      ackRow(trace.acks, acked++, wait, side, frame);
    }
  }
  trace.sackEdges = Float64Array.from(edges);
  return trace;
}

function ackRow(acks: Acks, k: number, wait: Column, side: Last, frame: number): void {
  acks.class[k] = wait.plain();
  acks.bytes[k] = wait.plain();
  acks.segments[k] = wait.plain();
  side.newest += wait.signed();
  acks.newest[k] = side.newest;
  acks.trigger[k] = frame - wait.signed();
  acks.waitUs[k] = wait.plain();
  acks.sinceLastUs[k] = wait.plain();
  side.path += wait.signed();
  acks.pathUs[k] = side.path;
  acks.credits[k] = wait.plain() - 1;
}

/** Base64 to bytes. */
export function bytesOf(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
