// Distribution functions of times by arm, over a logarithmic axis, with a line that reads them.

import type { Arm, Distribution } from '../data/population';
import { h, svg } from '../dom';
import { count } from '../format';
import { canvas, type Figure, figure, line, words } from './figure';
import { shortTime, timeScale } from './scale';

/** Each arm has a colour and a dash of its own. */
const DASHES = ['', '7 3', '2 3', '9 3 2 3', '4 2', '12 4'];
const INKS = ['data', 'rto', 'rtt', 'ack', 'tlp', 'fast'];
const HEIGHT = 250;
const [LEFT, TOP, BOTTOM, RIGHT] = [44, 8, 22, 14];

/** How an arm's line looks. */
export function stroke(place: number): { class: string; 'stroke-dasharray': string } {
  return {
    class: `curve ink-${INKS[place % INKS.length]}`,
    'stroke-dasharray': DASHES[place % DASHES.length],
  };
}

export function cdf(
  id: string,
  title: string,
  arms: Arm[],
  of: (arm: Arm) => Distribution,
  nothing: string,
): Figure {
  const curves = arms.map((arm, place) => ({ name: arm.name, place, is: of(arm) }));
  const drawn = curves.filter((c) => c.is.cdf.length > 0);
  const readout = h('output', { class: 'reading' });
  const legend = h('p', { class: 'legend' });
  for (const { name, place, is } of curves) {
    const sample = svg('line', { x1: 0, y1: 6, x2: 30, y2: 6, ...stroke(place) });
    const icon = svg('svg', { width: 30, height: 12, 'aria-hidden': 'true' }, sample);
    legend.append(h('span', {}, icon, ` ${name} (${count(is.count)})`));
  }
  const summary =
    drawn
      .map(
        (c) =>
          `${c.name}: half within ${shortTime(c.is.p50_us ?? 0)}, 99 % within ${shortTime(c.is.p99_us ?? 0)}`,
      )
      .join('; ') || nothing;
  const plain = [legend, readout];
  const chart = figure(id, title, plain, summary, (width) =>
    drawn.length === 0
      ? canvas(width, 40, words(0, 20, nothing, 'start', 'tick'))
      : draw(width, drawn, readout),
  );
  // It holds a control, which an image may not.
  chart.element.querySelector('.drawing')?.setAttribute('role', 'group');
  chart.element.classList.toggle('empty', drawn.length === 0);
  return chart;
}

interface Curve {
  name: string;
  place: number;
  is: Distribution;
}

function draw(width: number, curves: Curve[], readout: HTMLOutputElement): SVGElement {
  const times = curves.flatMap((c) => c.is.cdf.map(([us]) => Math.max(1, us)));
  const low = times.reduce((a, b) => Math.min(a, b));
  const high = Math.max(
    times.reduce((a, b) => Math.max(a, b)),
    low * 2,
  );
  const x = timeScale(low, high, LEFT, width - RIGHT);
  const y = (part: number) => HEIGHT - BOTTOM - part * (HEIGHT - BOTTOM - TOP);
  const parts: SVGElement[] = [];
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    parts.push(line(LEFT, y(part), width - RIGHT, y(part), 'grid'));
    parts.push(words(LEFT - 6, y(part) + 4, `${part * 100} %`, 'end'));
  }
  for (const t of x.ticks) {
    parts.push(line(x.at(t.value), TOP, x.at(t.value), y(0), 'grid'));
    parts.push(words(Math.min(x.at(t.value), width - 16), HEIGHT - 6, t.text, 'middle'));
  }
  for (const curve of curves) {
    let d = '';
    for (const [us, part] of curve.is.cdf) {
      const [px, py] = [x.at(us).toFixed(1), y(part).toFixed(1)];
      d += d === '' ? `M${px} ${y(0)}V${py}` : `H${px}V${py}`;
    }
    parts.push(svg('path', { d, 'data-arm': curve.name, ...stroke(curve.place) }));
  }
  const cursor = line(LEFT, 0, LEFT, 0, 'cursor');
  const chart = canvas(width, HEIGHT, ...parts, cursor);
  const read = (part: number) => {
    const at = y(part);
    for (const [name, value] of [
      ['x1', LEFT],
      ['x2', width - RIGHT],
      ['y1', at],
      ['y2', at],
    ] as const) {
      cursor.setAttribute(name, String(value));
    }
    const said = curves.map((c) => `${c.name} ${shortTime(c.is.cdf[rank(c.is, part)][0])}`);
    readout.textContent = `${(part * 100).toFixed(1)} % within: ${said.join(' · ')}`;
  };
  read(0.5);
  chart.addEventListener('pointermove', (e) => {
    const part = (y(0) - (e.clientY - chart.getBoundingClientRect().top)) / (y(0) - TOP);
    read(Math.min(1, Math.max(0.005, part)));
  });
  reader(chart, read);
  return chart;
}

/** Up and down move the line that reads. */
function reader(chart: SVGElement, read: (part: number) => void): void {
  let part = 0.5;
  chart.setAttribute('tabindex', '0');
  chart.setAttribute('role', 'slider');
  chart.setAttribute('aria-label', 'percentile to read');
  chart.setAttribute('aria-valuemin', '0');
  chart.setAttribute('aria-valuemax', '100');
  chart.setAttribute('aria-valuenow', '50');
  chart.addEventListener('keydown', (e) => {
    const by = { ArrowUp: 0.01, ArrowDown: -0.01, PageUp: 0.1, PageDown: -0.1 }[(e as KeyboardEvent).key];
    if (by === undefined) return;
    e.preventDefault();
    e.stopPropagation();
    part = Math.min(1, Math.max(0.01, part + by));
    chart.setAttribute('aria-valuenow', (part * 100).toFixed(0));
    read(part);
  });
}

/** Place of the point for a part. */
function rank(is: Distribution, part: number): number {
  const place = is.cdf.findIndex(([, p]) => p >= part - 1e-9);
  return place < 0 ? is.cdf.length - 1 : place;
}
