// The fields of the packet under the pointer.

import { CLASSES, KIND, KINDS, type Trace } from '../data/columns';
import { h } from '../dom';
import { count, exact, flagNames, micros, plural } from '../format';

type Field = [string, string];

/** What a packet is, in words. */
function nature(trace: Trace, row: number): string {
  const flags = trace.flags[row];
  const names: string[] = [];
  if (flags & 0x002) names.push(flags & 0x010 ? 'SYN-ACK' : 'SYN');
  if (flags & 0x001) names.push('FIN');
  if (flags & 0x004) names.push('RST');
  const kind = trace.kind[row];
  if (kind === KIND.data && trace.len[row] > 0) names.push('data');
  else if (kind === KIND.ack && names.length === 0) names.push('pure ACK');
  else if (kind > KIND.data) names.push(KINDS[kind] ?? 'unknown');
  if (trace.spurious[row]) names.push('spurious');
  return names.join(', ') || 'no data';
}

function sackBlocks(trace: Trace, row: number): string {
  const blocks: string[] = [];
  for (let k = trace.sackFrom[row]; k < trace.sackFrom[row + 1]; k++) {
    blocks.push(`${count(trace.sackEdges[2 * k])}–${count(trace.sackEdges[2 * k + 1])}`);
  }
  return blocks.join(', ');
}

function ackFields(trace: Trace, row: number): Field[] {
  const k = trace.ackRow[row];
  if (k < 0) return [];
  const { acks } = trace;
  const fields: Field[] = [
    ['ACK class', CLASSES[acks.class[k]] ?? 'unknown'],
    ['wait', micros(acks.waitUs[k])],
  ];
  if (acks.sinceLastUs[k] !== acks.waitUs[k]) fields.push(['since last data', micros(acks.sinceLastUs[k])]);
  if (acks.pathUs[k] > 0) fields.push(['of it, path', micros(acks.pathUs[k])]);
  fields.push(['covers', `${plural(acks.segments[k], 'segment')}, ${count(acks.bytes[k])} B`]);
  fields.push(['newest segment', count(acks.newest[k])]);
  fields.push(['trigger', `#${count(acks.trigger[k])}`]);
  if (acks.credits[k] >= 0) fields.push(['quick ACKs left', String(acks.credits[k])]);
  return fields;
}

/** All fields of a packet; `names` are those of Wireshark's verdicts. */
export function packetFields(trace: Trace, row: number, names: [number, string][] = []): Field[] {
  const fields: Field[] = [['time', exact(trace.time[row])]];
  if (row > 0) {
    const since = (trace.time[row] - trace.time[row - 1]) * 1e6;
    fields.push(['since packet before', since >= 0 ? micros(since) : `−${micros(-since)}`]);
  }
  const { seq, len } = trace;
  fields.push(['seq', len[row] > 0 ? `${count(seq[row])}–${count(seq[row] + len[row])}` : count(seq[row])]);
  fields.push(['len', `${count(len[row])} B`]);
  if (!Number.isNaN(trace.ack[row])) fields.push(['ack', count(trace.ack[row])]);
  const unscaled = trace.unscaled[trace.fromClient[row] ? 1 : 0] && trace.window[row] > 0;
  fields.push([
    'win',
    unscaled ? `${count(trace.window[row])}, scale unknown` : `${count(trace.window[row])} B`,
  ]);
  fields.push(['flags', flagNames(trace.flags[row])]);
  if (len[row] > 0) fields.push(['in flight', `${count(trace.flight[row])} B`]);
  if (!Number.isNaN(trace.rttUs[row])) fields.push(['since its data', micros(trace.rttUs[row])]);
  const sack = sackBlocks(trace, row);
  if (sack) fields.push(['SACK', sack]);
  fields.push(...ackFields(trace, row));
  const verdicts = names
    .filter(([bit]) => trace.verdicts[row] & bit)
    .map(([, name]) => name.replace('tcp.analysis.', ''));
  if (verdicts.length > 0) fields.push(['Wireshark says', verdicts.join(', ').replaceAll('_', ' ')]);
  return fields;
}

/** The box that follows the pointer; a click pins it so that its text can be copied. */
export class Tooltip {
  readonly element = h('div', { class: 'tooltip', role: 'status', 'aria-live': 'polite', hidden: true });
  private row = -1;
  pinned = false;

  constructor(private readonly verdictNames: [number, string][]) {}

  show(trace: Trace, row: number, x: number, y: number): void {
    if (this.row !== row || this.element.hidden) {
      this.row = row;
      const way = trace.fromClient[row] ? 'client → server' : 'server → client';
      const list = h('dl', {});
      for (const [name, value] of packetFields(trace, row, this.verdictNames))
        list.append(h('dt', {}, name), h('dd', {}, value));
      this.element.replaceChildren(
        h('p', { class: 'head' }, h('b', {}, `#${count(trace.number[row])}`), ` ${nature(trace, row)}`),
        h('p', { class: 'way' }, way),
        list,
      );
      this.element.dataset.packet = String(trace.number[row]);
      this.element.hidden = false;
    }
    this.move(x, y);
  }

  private move(x: number, y: number): void {
    const { offsetWidth: w, offsetHeight: tall } = this.element;
    const left = x + 16 + w > innerWidth ? x - 16 - w : x + 16;
    const top = Math.min(Math.max(4, y - 24), innerHeight - tall - 4);
    this.element.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
  }

  pin(on: boolean): void {
    this.pinned = on && !this.element.hidden;
    this.element.classList.toggle('pinned', this.pinned);
  }

  hide(): void {
    this.pin(false);
    this.row = -1;
    this.element.hidden = true;
  }
}
