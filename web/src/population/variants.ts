// The page of several variants of a population: every row from variant to variant, and the result of the chosen one.

import type { VariantsPage } from '../data/population';
import { h } from '../dom';
import { showPopulation } from './app';
import { effectTable } from './tables';

export function showVariants(page: VariantsPage, place: HTMLElement): void {
  let shown = new AbortController();
  const show = (chosen: number): void => {
    const of = page.variants[chosen];
    if (!of) throw new Error('the report has no variant');
    shown.abort();
    shown = new AbortController();
    const { arms, baseline } = of.result;
    const tables = arms
      .filter((arm) => arm.name !== baseline)
      .map((arm) => effectTable(arm.name, baseline, page.effects));
    const buttons = page.variants.map((variant, i) => {
      const choose = () => {
        show(i);
        place.querySelector<HTMLButtonElement>(`button[data-variant="${i}"]`)?.focus();
      };
      const name = variant.result.variant ?? '';
      const pressed = i === chosen ? 'true' : 'false';
      return h(
        'button',
        { type: 'button', 'data-variant': i, 'aria-pressed': pressed, onclick: choose },
        name,
      );
    });
    const head = [
      ...tables,
      h('h2', {}, `Variant ${of.result.variant ?? ''}`),
      h('nav', { class: 'variants', 'aria-label': 'Variants' }, ...buttons),
    ];
    showPopulation(of, place, { head, signal: shown.signal });
  };
  show(0);
}
