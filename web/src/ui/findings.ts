// The findings; equal ones are told once. The chosen group opens to what to do, why, and where it was seen.

import type { Capture, Finding } from '../data/model';
import { h } from '../dom';
import { count, plural } from '../format';
import { proofOf } from './proof';
import { toPaste, withCode } from './words';

/** Places of a group that are listed at first. */
const AT_FIRST = 30;

function copyButton(remedy: string): HTMLElement {
  const text = toPaste(remedy);
  const button = h('button', { class: 'copy', type: 'button', title: `copy: ${text}` }, 'copy');
  button.addEventListener('click', async (event) => {
    event.stopPropagation();
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = 'copied';
    } catch {
      button.textContent = 'select the text to copy it';
    }
  });
  return button;
}

/** Whether the findings of a group have figures of their own. */
const differ = (findings: Finding[], group: number[]): boolean =>
  group.some((i) => findings[i].title !== findings[group[0]].title);

/** The title of a group: of one stream, where each has its own figures. */
export function titleOf(findings: Finding[], group: number[], index: number): string {
  const { stream, title } = findings[index];
  return differ(findings, group) ? `For example stream ${stream}: ${title}` : title;
}

export interface FindingsHandlers {
  choose(index: number): void;
  packet(number: number): void;
}

/** The list; `chosen` is an index into the findings or -1. */
export class FindingsList {
  readonly element = h('section', { class: 'findings', 'aria-label': 'Findings' });
  /** Indexes of findings; the first of a group is one with charts, if any is. */
  readonly groups: number[][];
  private readonly findings: Finding[];
  private chosen = -1;
  /** Places that are listed in the open group. */
  private shown = AT_FIRST;
  /** Everything is open, for paper. */
  private whole = false;
  /** The glossary is open; drawing the list anew keeps it so. */
  private words = false;

  constructor(
    private readonly capture: Capture,
    charted: Set<number>,
    private readonly handlers: FindingsHandlers,
  ) {
    this.findings = capture.findings;
    const seen = (i: number) => charted.has(capture.findings[i].stream);
    this.groups = capture.groups.map((g) => [...g.filter(seen), ...g.filter((i) => !seen(i))]);
    this.render();
  }

  select(index: number): void {
    if (this.groupOf(index) !== this.groupOf(this.chosen)) this.shown = AT_FIRST;
    this.chosen = index;
    const focused = this.element.contains(document.activeElement)
      ? (document.activeElement as HTMLElement).dataset.place
      : undefined;
    this.render();
    const item = this.element.querySelector<HTMLElement>('.finding[aria-current]');
    if (!item) return;
    // Drawing the list anew took the focus away.
    if (focused !== undefined) {
      const same = item.querySelector<HTMLElement>(`[data-place="${focused}"]`);
      (same ?? item.querySelector<HTMLElement>('.head'))?.focus({ preventScroll: true });
    }
    // The title must be seen; what hangs out below can be scrolled to.
    item.querySelector('.head')?.scrollIntoView({ block: 'nearest' });
  }

  /** Opens all groups, or only the chosen one. */
  print(whole: boolean): void {
    this.whole = whole;
    this.render();
  }

  /** Place of the group that holds a finding; -1 for none. */
  groupOf(index: number): number {
    return this.groups.findIndex((g) => g.includes(index));
  }

  private render(): void {
    const notListed = this.capture.totals.findings_not_listed ?? 0;
    const total = this.findings.length + notListed;
    const kinds = this.groups.length < total ? `, ${plural(this.groups.length, 'kind')}` : '';
    this.element.replaceChildren(
      h('h2', {}, 'Findings', h('span', { class: 'count' }, `${count(total)}${kinds}`)),
    );
    const { absent, checked, verdict } = this.capture;
    const nothing = 'No findings: there is no TCP connection to look at.';
    const said = [absent, checked > 0 || absent !== null ? verdict : nothing].filter((text) => text !== null);
    this.element.append(...said.map((text) => h('p', { class: 'none verdict' }, text)));
    for (const group of this.groups) this.element.append(this.item(group));
    if (notListed > 0) {
      const more = plural(notListed, 'more finding was', 'more findings were');
      this.element.append(h('p', { class: 'none' }, `${more} counted but not listed.`));
    }
    if (this.capture.words.length > 0) this.element.append(this.glossary());
  }

  /** The words of the kernel that the findings use. */
  private glossary(): HTMLElement {
    const list = h('dl', {});
    for (const [word, meaning] of this.capture.words) list.append(h('dt', {}, word), h('dd', {}, meaning));
    return h(
      'details',
      { class: 'meanings', open: this.whole || this.words },
      h('summary', { onclick: () => this.turnWords() }, 'What these words mean'),
      list,
    );
  }

  private turnWords(): void {
    this.words = !this.words;
  }

  private item(group: number[]): HTMLElement {
    const current = group.includes(this.chosen);
    const open = current || this.whole;
    const index = current ? this.chosen : group[0];
    const finding = this.findings[index];
    const head = h(
      'button',
      {
        class: 'head',
        type: 'button',
        'aria-expanded': String(open),
        // A click on an open group closes it.
        onclick: () => this.handlers.choose(index),
      },
      h('span', { class: `severity ${finding.severity}` }, finding.severity),
      h('span', { class: 'title' }, titleOf(this.findings, group, index)),
      h('span', { class: 'meta' }, this.origin(group, finding)),
    );
    return h(
      'article',
      {
        class: `finding ${finding.severity}`,
        'aria-current': current ? 'true' : undefined,
        'data-findings': group.length,
      },
      head,
      open && this.details(group, index),
    );
  }

  /** Where, the name, and how often findings of this name were right, where that was measured. */
  private origin(group: number[], finding: Finding): string {
    const streams = new Set(group.map((i) => this.findings[i].stream));
    const parts = [streams.size === 1 ? `stream ${finding.stream}` : plural(streams.size, 'stream')];
    if (group.length > streams.size) parts.push(`${count(group.length)} times`);
    parts.push(finding.id);
    if (finding.proof?.outcome === 'proved') parts.push('proved');
    if (finding.confidence !== undefined) parts.push(`${Math.floor(finding.confidence * 1000) / 10} % sure`);
    return parts.join(' · ');
  }

  private details(group: number[], index: number): HTMLElement {
    const finding = this.findings[index];
    const remedies = finding.remedy.map((text) =>
      h('li', {}, h('span', { class: 'text' }, ...withCode(text)), copyButton(text)),
    );
    const packets = finding.packets.map((n) =>
      h(
        'button',
        { class: 'packet', type: 'button', onclick: () => this.handlers.packet(n) },
        `#${count(n)}`,
      ),
    );
    return h(
      'div',
      { class: 'more' },
      remedies.length > 0 && h('h4', {}, 'What to do'),
      remedies.length > 0 && h('ul', { class: 'remedies' }, ...remedies),
      proofOf(finding.proof, this.whole),
      h('h4', {}, differ(this.findings, group) ? `Why, for stream ${finding.stream}` : 'Why'),
      h('p', {}, ...withCode(finding.cause)),
      group.length > 1 && h('h4', {}, 'Where'),
      group.length > 1 && this.places(group, index),
      packets.length > 0 && h('h4', {}, `Packets of stream ${finding.stream}`),
      packets.length > 0 && h('p', { class: 'packets' }, ...packets),
    );
  }

  /** One button for each finding of a group. */
  private places(group: number[], index: number): HTMLElement {
    const shown = this.whole ? group.length : Math.max(this.shown, group.indexOf(index) + 1);
    const list = h('p', { class: 'packets places' });
    for (const i of group.slice(0, shown)) {
      const { stream, title } = this.findings[i];
      const act = () => i !== index && this.handlers.choose(i);
      list.append(
        h(
          'button',
          {
            class: 'packet',
            type: 'button',
            title,
            'data-place': i,
            'aria-pressed': String(i === index),
            onclick: act,
          },
          `stream ${stream}`,
        ),
      );
    }
    if (shown < group.length) {
      const more = h('button', { class: 'packet', type: 'button' }, `${count(group.length - shown)} more`);
      more.addEventListener('click', () => {
        this.shown = shown + 10 * AT_FIRST;
        this.render();
      });
      list.append(more);
    }
    return list;
  }
}
