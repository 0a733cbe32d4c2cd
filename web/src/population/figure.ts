// A figure: heading, a drawing that is made anew for each width, a line below.

import { h, svg } from '../dom';

export interface Figure {
  element: HTMLElement;
  /** Call when the element is in the page. */
  mount(): void;
}

/** `draw` gets the width in CSS pixels. */
export function figure(
  id: string,
  title: string,
  parts: (Node | string)[],
  summary: string,
  draw: (width: number) => SVGElement,
): Figure {
  const body = h('div', { class: 'drawing', role: 'img', 'aria-label': summary });
  const element = h('figure', { class: `chart ${id}`, 'data-chart': id }, h('h3', {}, title), ...parts, body);
  let width = 0;
  const paint = () => {
    const now = Math.floor(body.clientWidth);
    if (now === width || now < 50) return;
    width = now;
    body.replaceChildren(draw(now));
  };
  return {
    element,
    mount: () => {
      paint();
      new ResizeObserver(paint).observe(body);
    },
  };
}

/** An SVG of this size in CSS pixels. */
export function canvas(width: number, height: number, ...children: SVGElement[]): SVGElement {
  return svg('svg', { width, height, viewBox: `0 0 ${width} ${height}` }, ...children);
}

/** Words in a drawing; `anchor` is start, middle or end. */
export function words(x: number, y: number, text: string, anchor = 'start', kind = 'tick'): SVGElement {
  return svg('text', { x, y, 'text-anchor': anchor, class: kind }, document.createTextNode(text));
}

/** A line in a drawing. */
export function line(x1: number, y1: number, x2: number, y2: number, kind: string): SVGElement {
  return svg('line', { x1, y1, x2, y2, class: kind });
}

/** Words as wide as they are drawn, about: cut to fit. */
export function shorten(text: string, width: number): string {
  const most = Math.floor(width / 6.3);
  return text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`;
}
