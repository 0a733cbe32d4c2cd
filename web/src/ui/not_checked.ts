// What could not be looked for: no silence of a detector counts as an all-clear when it could not look.

import type { Capture, Missing, Stream } from '../data/model';
import { h } from '../dom';
import { plural } from '../format';
import { withCode } from './words';

/** `4 findings. Not in the capture: the handshake; the data.` */
function extent(capture: Capture): string {
  const all = capture.not_checked;
  if (all.length === 0) return plural(capture.not_read.length, 'kind of packet', 'kinds of packets');
  const names = new Set(all.flatMap((m) => m.findings.map((f) => f.finding)));
  return `${plural(names.size, 'finding')}. Not in the capture: ${all.map((m) => m.missing).join('; ')}.`;
}

/** What a capture lacks, and what was not looked for because of that. */
function lacking(missing: Missing): HTMLElement[] {
  const list = h('ul', {});
  for (const f of missing.findings) {
    const where =
      f.streams === 1 ? `stream ${f.stream}` : `${plural(f.streams, 'stream')}, the first is ${f.stream}`;
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
  return [
    h('p', {}, `Without ${missing.missing} nothing can be said about:`),
    list,
    h('p', { class: 'do' }, 'What to do: ', ...withCode(missing.how_to_get)),
  ];
}

/** The block of a capture; `null` when everything was checked. */
export function notChecked(capture: Capture, open: boolean): HTMLElement | null {
  if (capture.not_checked.length + capture.not_read.length === 0) return null;
  return h(
    'details',
    { class: 'not-checked', open },
    h('summary', {}, h('b', {}, 'Not checked:'), ` ${extent(capture)}`),
    ...capture.not_read.map((text) => h('p', {}, text)),
    ...capture.not_checked.flatMap(lacking),
  );
}

/** A heading over sentences; `null` without any. */
function section(name: string, remark: string, texts: string[], kind = ''): HTMLElement | null {
  if (texts.length === 0) return null;
  const list = h('ul', {}, ...texts.map((text) => h('li', {}, ...withCode(text))));
  return h('section', { class: `not-checked${kind}` }, h('b', {}, name), remark, list);
}

/** Trouble that no finding explains. */
export const notExplained = (capture: Capture): HTMLElement | null =>
  section('Not explained', ' by any finding:', capture.unexplained);

/** Time of the two ends that no finding names. */
export const twoEnds = (capture: Capture): HTMLElement | null =>
  section('The two ends', ' (no finding says more):', capture.two_ends);

/** What qualifies all figures. */
export const aboutCapture = (capture: Capture): HTMLElement | null =>
  section('About this capture', ':', capture.about, ' about');

/** What could not be looked for in one stream. */
export function notCheckedIn(stream: Stream, words: Record<string, string>): HTMLElement[] {
  return (stream.not_checked ?? []).map((l) =>
    h(
      'p',
      { class: 'warn not-checked-here' },
      `Not checked: ${l.findings.join(', ')}. The capture does not have ${words[l.lacks] ?? l.lacks} of this stream.`,
    ),
  );
}
