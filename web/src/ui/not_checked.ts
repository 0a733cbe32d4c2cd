// What could not be looked for: no silence of a detector counts as an all-clear when it could not look.

import type { Capture, Missing, Stream } from '../data/model';
import { h } from '../dom';
import { plural } from '../format';
import { withCode } from './words';

/** `4 findings in up to 12 streams` */
function extent(all: Missing[]): string {
  const names = new Set(all.flatMap((m) => m.findings.map((f) => f.finding)));
  const most = Math.max(...all.flatMap((m) => m.findings.map((f) => f.streams)));
  const streams = plural(most, 'stream');
  return `${plural(names.size, 'finding')} in ${all.length > 1 ? 'at least ' : 'up to '}${streams}`;
}

/** The block of a capture; `null` when everything was checked. */
export function notChecked(capture: Capture, open: boolean): HTMLElement | null {
  const all = capture.not_checked;
  if (all.length === 0) return null;
  const block = h(
    'details',
    { class: 'not-checked', open },
    h('summary', {}, h('b', {}, 'Not checked'), ` ${extent(all)}`),
  );
  for (const missing of all) {
    const list = h('ul', {});
    for (const f of missing.findings) {
      const where =
        f.streams === 1 ? `stream ${f.stream}` : `${plural(f.streams, 'stream')}, first ${f.stream}`;
      list.append(
        h(
          'li',
          {},
          h('code', {}, f.finding),
          ` (${where})`,
          h('small', {}, ...withCode(f.said_when ? ` Said when: ${f.said_when}` : '')),
        ),
      );
    }
    block.append(h('p', {}, `Not in this capture: ${missing.missing}. These findings need it:`), list);
  }
  return block;
}

/** What could not be looked for in one stream. */
export function notCheckedIn(stream: Stream, words: Record<string, string>): HTMLElement[] {
  return (stream.not_checked ?? []).map((l) =>
    h(
      'p',
      { class: 'warn not-checked-here' },
      `Not checked: ${l.findings.join(', ')}. The capture lacks ${words[l.lacks] ?? l.lacks} of this stream.`,
    ),
  );
}
