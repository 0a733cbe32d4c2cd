// The figures of one direction of a stream, above its charts.

import type { Direction, Stream, Totals } from '../data/model';
import { h } from '../dom';
import { bytes, count, micros, plural, rate } from '../format';

type Fact = [name: string, value: string, note?: string];

const ARTEFACTS: Record<string, string> = {
  super_segments: 'packets larger than the MSS: offload (TSO, GRO), not what was on the wire',
  one_direction: 'only one direction was captured',
  missed_packets: 'the capture missed packets that the receiver got',
  duplicates: 'the same packets appear twice',
  time_out_of_order: 'time stamps go backwards',
  snapped: 'headers were cut',
  cut_fragments: 'IP fragments were cut',
};

const STATES: Record<string, string> = {
  complete: 'handshake and end seen',
  open: 'no end seen',
  reset: 'ended by RST',
  half_open: 'SYN without answer',
  refused: 'SYN answered by RST',
  middle: 'no handshake seen',
};

const VANTAGES: Record<string, string> = {
  client: 'captured at the client',
  server: 'captured at the server',
  between: 'captured between the hosts',
  unknown: 'capture point unknown',
};

/** Says that figures lack the end of a stream; `null` when no packet can have come after its report. */
export function earlyNote(stream: Stream, totals: Totals): string | null {
  const later = (totals.late_packets ?? 0) + (totals.forgotten_streams ?? 0);
  if (!stream.reported_early || later === 0) return null;
  return 'reported before its end: packets that came later, if any, are in no figure';
}

/** Where and how the connection was seen; warnings first in weight. */
export function streamNotes(stream: Stream, totals: Totals): HTMLElement {
  const notes = h('p', { class: 'notes' });
  notes.append(h('span', {}, STATES[stream.state] ?? stream.state));
  notes.append(h('span', {}, VANTAGES[stream.vantage] ?? stream.vantage));
  notes.append(h('span', {}, `lasted ${micros(stream.duration_us)}`));
  const trip = stream.round_trip;
  if (trip)
    notes.append(h('span', {}, `round trip ${micros(trip.us.p50)}, ${TOLD_BY[trip.from] ?? trip.from}`));
  const { handshake } = stream;
  if (handshake) {
    const again = handshake.syn_retransmissions + handshake.synack_retransmissions;
    if (again > 0)
      notes.append(h('span', { class: 'warn' }, `${plural(again, 'handshake packet')} sent again`));
  }
  const early = earlyNote(stream, totals);
  if (early) notes.append(h('span', { class: 'warn' }, early));
  for (const name of stream.artefacts ?? [])
    notes.append(h('span', { class: 'warn' }, ARTEFACTS[name] ?? name));
  return notes;
}

const TOLD_BY: Record<string, string> = {
  handshake: 'measured in the handshake',
  acks: 'measured by ACKs sent at once',
  time_stamps: 'at most; from time stamps',
};

function retransmissionFact(d: Direction): Fact {
  const r = d.retransmissions;
  const kinds = (
    [
      ['fast', r.fast],
      ['RTO', r.rto],
      ['probe or timeout', r.tlp],
      ['other', r.other],
    ] as const
  )
    .filter(([, n]) => n > 0)
    .map(([name, n]) => `${count(n)} ${name}`);
  if (r.spurious > 0) kinds.push(`${count(r.spurious)} spurious`);
  return ['retransmissions', count(r.total), kinds.join(', ')];
}

function ackFacts(peer: Direction): Fact[] {
  const a = peer.acks_sent;
  if (a.total === 0) return [['ACKs of it', '0', 'none for new data']];
  const classes = (
    [
      ['at once', a.immediate],
      ['2nd segment', a.second_segment],
      ['delayed', a.delayed],
      ['on data', a.piggybacked],
      ['other', a.other],
    ] as const
  )
    .filter(([, n]) => n > 0)
    .map(([name, n]) => `${count(n)} ${name}`);
  if (a.unclear) classes.push(`of these ${count(a.unclear)} late or not, nobody can tell`);
  const facts: Fact[] = [['ACKs of it', count(a.total), classes.join(', ')]];
  if (a.delayed > 0) {
    const first = a.first_delayed_segment;
    facts.push([
      'delayed ACKs',
      micros(a.delayed_us.p50),
      `median; ${micros(a.delayed_us.min)} to ${micros(a.delayed_us.max)}`,
    ]);
    if (first !== null) facts.push(['first delayed', `segment ${count(first)}`]);
  }
  return facts;
}

/** Payload, each byte once as far as the capture tells. */
function dataFact(d: Direction): Fact {
  const once = d.unique_bytes ?? d.data_bytes;
  const again = once < d.data_bytes ? `; ${bytes(d.data_bytes)} with what was sent again` : '';
  return ['data', bytes(once), `${plural(d.data_segments, 'segment')}${again}`];
}

/** Facts of the data that `d` carries, with the ACKs that the peer sent for it. */
export function directionFacts(d: Direction, peer: Direction): HTMLElement {
  const facts: Fact[] = [dataFact(d)];
  if (d.goodput_bps) facts.push(['goodput', rate(d.goodput_bps)]);
  facts.push(retransmissionFact(d));
  if (d.out_of_order > 0) facts.push(['out of order', count(d.out_of_order)]);
  if (d.round_trip) {
    const { us, from } = d.round_trip;
    const range = us.samples > 1 ? `median; ${micros(us.min)} to ${micros(us.max)}; ` : '';
    facts.push(['round trip', micros(us.p50), `${range}${TOLD_BY[from] ?? from}`]);
  }
  if (d.rtt_us.samples > 0) {
    const range = `median; ${micros(d.rtt_us.min)} to ${micros(d.rtt_us.max)}`;
    facts.push(['data to ACK here', micros(d.rtt_us.p50), range]);
  }
  facts.push(...ackFacts(peer));
  if (peer.duplicate_acks > 0) facts.push(['duplicate ACKs', count(peer.duplicate_acks)]);
  if (peer.zero_windows > 0) facts.push(['zero windows', count(peer.zero_windows)]);
  if (d.max_in_flight_bytes) facts.push(['in flight', bytes(d.max_in_flight_bytes), 'at most']);
  const list = h('dl', { class: 'facts' });
  for (const [name, value, note] of facts) {
    list.append(h('div', {}, h('dt', {}, name), h('dd', {}, value, note ? h('small', {}, note) : null)));
  }
  return list;
}
