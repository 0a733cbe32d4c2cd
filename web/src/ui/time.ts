// Where the time of a whole capture went: a sentence, the bar of what it is about, then all streams.

import { type Classes, total } from '../data/budget';
import type { Capture } from '../data/model';
import { h } from '../dom';
import { micros, plural } from '../format';
import { budgetFigure } from './budget';

export function captureTime(classes: Classes, capture: Capture): HTMLElement | null {
  const told = classes.parts(capture.waited_us);
  const all = classes.parts(capture.totals.budget_us);
  if (capture.waited === null) return null;
  const section = h(
    'section',
    { class: 'time', 'aria-label': 'Time' },
    h('p', { class: 'waited' }, capture.waited),
    budgetFigure(classes, told),
  );
  // The bar above is of all time where nobody waited.
  if (total(all) !== total(told)) {
    const summary = `All time of ${plural(capture.checked, 'stream')}: ${micros(total(all))}`;
    section.append(h('details', {}, h('summary', {}, summary), budgetFigure(classes, all)));
  }
  return section;
}
