// Paper shows what the screen hides: everything open, light colours, charts as wide as the sheet.

import { forgetInks } from '../charts/palette';

/** Calls `change` before and after printing, with the layout of paper in place. */
export function onPrint(change: (whole: boolean) => void): void {
  const root = document.documentElement;
  let theme: string | undefined;
  let opened: HTMLDetailsElement[] = [];
  addEventListener('beforeprint', () => {
    if ('paper' in root.dataset) return;
    theme = root.dataset.theme;
    root.dataset.theme = 'light';
    root.dataset.paper = '';
    opened = [...document.querySelectorAll<HTMLDetailsElement>('details:not([open])')];
    for (const details of opened) details.open = true;
    forgetInks();
    change(true);
  });
  addEventListener('afterprint', () => {
    if (!('paper' in root.dataset)) return;
    delete root.dataset.paper;
    if (theme !== undefined) root.dataset.theme = theme;
    for (const details of opened) details.open = false;
    forgetInks();
    change(false);
  });
}
