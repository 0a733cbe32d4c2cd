// Where the time of a whole capture went: how long clients waited and for what, then all streams.

import { type Classes, total } from '../data/budget';
import type { Capture } from '../data/model';
import { h } from '../dom';
import { micros, plural } from '../format';
import { budgetFigure } from './budget';

export function captureTime(classes: Classes, capture: Capture): HTMLElement | null {
  const waited = classes.parts(capture.totals.waited_us);
  const all = classes.parts(capture.totals.budget_us);
  if (total(all) === 0) return null;
  const streams = plural(capture.totals.tcp_streams, 'stream');
  const section = h('section', { class: 'time', 'aria-label': 'Time' });
  if (total(waited) > 0) {
    section.append(h('p', { class: 'waited' }, capture.waited), budgetFigure(classes, waited));
  }
  section.append(
    h(
      'details',
      { open: total(waited) === 0 },
      h('summary', {}, `All time of ${streams}: ${micros(total(all))}`),
      budgetFigure(classes, all),
    ),
  );
  return section;
}
