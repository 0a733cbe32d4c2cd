// A budget of time as a stacked bar, with a list that says the same in words.

import { type Classes, largestFirst, type Part, share, total } from '../data/budget';
import { h } from '../dom';
import { micros } from '../format';
import { withCode } from './words';

/** The bar alone; what it shows must stand beside it in words. */
export function budgetBar(classes: Classes, parts: Part[]): HTMLElement {
  const bar = h('div', { class: 'bar', 'aria-hidden': 'true' });
  for (const [kind, us] of parts) {
    bar.append(
      h('i', {
        style: `flex-grow:${us};background:var(--${classes.ink(kind)})`,
        title: `${classes.words(kind)}: ${micros(us)}`,
      }),
    );
  }
  return bar;
}

export function swatchOf(classes: Classes, kind: number): HTMLElement {
  return h('i', { class: 'swatch', style: `background:var(--${classes.ink(kind)})`, 'aria-hidden': 'true' });
}

/** Bar and list, the largest part first. */
export function budgetFigure(classes: Classes, parts: Part[]): HTMLElement {
  const whole = total(parts);
  const list = h('ul', { class: 'parts' });
  for (const [kind, us] of largestFirst(parts)) {
    list.append(
      h(
        'li',
        { title: classes.meaning(kind) },
        swatchOf(classes, kind),
        classes.words(kind),
        h('b', {}, ` ${micros(us)}`),
        h('small', {}, ` ${share(us, whole)}`),
      ),
    );
  }
  return h('div', { class: 'budget' }, budgetBar(classes, parts), list);
}

/** What the classes of a budget mean, to be opened. */
export function meanings(classes: Classes, parts: Part[]): HTMLElement {
  const list = h('dl', {});
  for (const [kind] of largestFirst(parts))
    list.append(
      h('dt', {}, swatchOf(classes, kind), classes.words(kind)),
      h('dd', {}, ...withCode(classes.meaning(kind))),
    );
  return h('details', { class: 'meanings' }, h('summary', {}, 'What these words mean'), list);
}
