// The line above a chart: its title and a button for each layer that it holds.

import type { Layer, Spec } from '../charts/chart';
import { h, svg } from '../dom';
import { count } from '../format';

/** A small picture of a layer's mark, in its colour. */
function swatch(layer: Layer): SVGElement {
  const colour = `var(--${layer.ink})`;
  const fill = { fill: colour };
  const stroke = { stroke: colour, 'stroke-width': 1.6, fill: 'none' };
  const marks: Record<Layer['shape'], () => SVGElement> = {
    bar: () => svg('rect', { x: 4.5, y: 1, width: 3, height: 10, ...fill }),
    line: () => svg('path', { d: 'M0 9H5V3H12', ...stroke }),
    dash: () => svg('path', { d: 'M0 6H12', 'stroke-dasharray': '3 2', ...stroke }),
    disc: () => svg('circle', { cx: 6, cy: 6, r: 3.2, ...fill }),
    ring: () => svg('circle', { cx: 6, cy: 6, r: 3.6, ...stroke }),
    square: () => svg('rect', { x: 3, y: 3, width: 6, height: 6, ...fill }),
    triangle: () => svg('path', { d: 'M6 2L10 9.5H2Z', ...fill }),
    diamond: () => svg('path', { d: 'M6 1.5L10.5 6L6 10.5L1.5 6Z', ...fill }),
    cross: () => svg('path', { d: 'M2.5 2.5L9.5 9.5M9.5 2.5L2.5 9.5', ...stroke }),
  };
  return svg(
    'svg',
    { viewBox: '0 0 12 12', width: 12, height: 12, 'aria-hidden': 'true' },
    marks[layer.shape](),
  );
}

export function chartHead(spec: Spec, changed: () => void): HTMLElement {
  const head = h('header', {}, h('h3', {}, spec.title));
  for (const layer of spec.layers) {
    if (layer.count === 0) continue;
    const button = h(
      'button',
      {
        class: 'layer',
        type: 'button',
        'aria-pressed': String(layer.on),
        title: `show or hide: ${layer.label}`,
      },
      swatch(layer),
      layer.label,
    );
    // The counts of lines say nothing to a reader; those of marks do.
    if (layer.shape !== 'line' && layer.shape !== 'dash') {
      button.append(h('span', { class: 'count' }, count(layer.count)));
    }
    button.addEventListener('click', () => {
      layer.on = !layer.on;
      button.setAttribute('aria-pressed', String(layer.on));
      changed();
    });
    head.append(button);
  }
  return head;
}
