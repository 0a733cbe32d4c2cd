// What a reader has to know besides the values: the notes that the terminal prints below the table.

import { h } from '../dom';
import { plural } from '../format';

/** Notes that are always seen; the others fold. */
const SEEN = 4;

/** The notes that are seen, and those that fold: one more is not worth a fold. */
export function parted(notes: string[]): [string[], string[]] {
  const seen = notes.length <= SEEN + 1 ? notes.length : SEEN;
  return [notes.slice(0, seen), notes.slice(seen)];
}

export function notes(all: string[]): HTMLElement | null {
  const [seen, more] = parted(all);
  if (seen.length === 0) return null;
  const list = (some: string[]) => h('ul', {}, ...some.map((note) => h('li', {}, note)));
  return h(
    'section',
    { class: 'run-notes', 'aria-label': 'notes' },
    h('h3', {}, 'Notes'),
    list(seen),
    more.length > 0 && h('details', {}, h('summary', {}, plural(more.length, 'more note')), list(more)),
  );
}
