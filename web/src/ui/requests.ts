// The requests of a stream and where the time of each went.

import { type Classes, largestFirst, share } from '../data/budget';
import type { Request, Stream } from '../data/model';
import { h } from '../dom';
import { bytes, count, exact, micros, plural } from '../format';
import { budgetBar } from './budget';

const AT_FIRST = 20;

export class RequestList {
  readonly element = h('section', { class: 'requests', 'aria-label': 'Requests' });
  private readonly body = h('ol', {});
  private readonly more = h('button', { class: 'show-more', type: 'button' });
  private readonly all: Request[];
  private readonly slowest: HTMLButtonElement;
  private shown = AT_FIRST;
  private bySpeed = true;

  constructor(
    private readonly classes: Classes,
    stream: Stream,
    /** Shows the stretch of time of a request, seconds. */
    private readonly show: ((from: number, to: number) => void) | null,
  ) {
    this.all = stream.requests ?? [];
    const left = stream.requests_not_listed ?? 0;
    this.slowest = h(
      'button',
      { type: 'button', title: 'or in the order of time', onclick: () => this.sort(!this.bySpeed) },
      'slowest first',
    );
    this.more.addEventListener('click', () => {
      this.shown += 10 * AT_FIRST;
      this.render();
    });
    this.element.append(
      h(
        'header',
        {},
        h('h3', {}, 'Requests', h('span', { class: 'count' }, ` ${count(this.all.length + left)}`)),
        this.slowest,
      ),
      this.body,
      this.more,
    );
    if (left > 0) {
      const text = `${plural(left, 'request is', 'requests are')} not in this page, which keeps the first and the slowest; --json lists more.`;
      this.element.append(h('p', { class: 'none' }, text));
    }
    this.render();
  }

  /** Lists everything, or as much as before. */
  print(whole: boolean): void {
    this.render(whole ? this.all.length : this.shown);
  }

  private sort(bySpeed: boolean): void {
    this.bySpeed = bySpeed;
    this.render();
  }

  private render(shown = this.shown): void {
    this.slowest.setAttribute('aria-pressed', String(this.bySpeed));
    const list = [...this.all];
    if (this.bySpeed) list.sort((a, b) => b.duration_us - a.duration_us || a.start_us - b.start_us);
    const longest = Math.max(1, ...this.all.map((r) => r.duration_us));
    this.body.replaceChildren(...list.slice(0, shown).map((r) => this.row(r, longest)));
    this.more.hidden = list.length <= shown;
    this.more.textContent = `show more of ${count(list.length)}`;
  }

  private row(request: Request, longest: number): HTMLElement {
    const parts = this.classes.parts(request.budget_us);
    const most = largestFirst(parts)
      .slice(0, 2)
      .map(([kind, us]) => `${this.classes.words(kind)} ${share(us, request.duration_us)}`);
    const bar = budgetBar(this.classes, parts);
    bar.style.width = `${Math.max(0.5, (100 * request.duration_us) / longest)}%`;
    const from = request.start_us / 1e6;
    const act = () => this.show?.(from, from + request.duration_us / 1e6);
    const text = [
      h('b', {}, micros(request.duration_us)),
      h('span', {}, most.join(', ')),
      h(
        'small',
        {},
        `#${count(request.packet)} at ${exact(from)}, ${bytes(request.request_bytes)} → ${bytes(request.response_bytes)}`,
      ),
    ];
    // Without charts there is nothing to go to.
    const words = this.show
      ? h('button', { type: 'button', title: 'show in the charts', onclick: act }, ...text)
      : h('span', { class: 'words' }, ...text);
    return h('li', {}, words, h('div', { class: 'track' }, bar));
  }
}
