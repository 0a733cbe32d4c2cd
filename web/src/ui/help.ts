// The list of keys and gestures.

import { h } from '../dom';

const KEYS: [string, string][] = [
  ['drag', 'zoom to a stretch of time; a box zooms both axes'],
  ['wheel', 'zoom around the pointer'],
  ['Shift + drag, Shift + wheel', 'move along; so does a drag on the time axis'],
  ['double click, 0', 'show all'],
  ['Backspace', 'the range before'],
  ['click', 'keep the packet box open, to copy from it; Esc closes it'],
  ['+ and −', 'zoom in and out'],
  ['← and →', 'move along'],
  ['. and ,', 'next and previous packet'],
  ['d', 'the other direction'],
  ['n and p', 'next and previous kind of finding'],
  ['band of time: ← → Home End', 'from span to span; Enter or a double click shows one'],
  ['t', 'dark or light'],
  ['?', 'this list'],
];

export function helpDialog(): HTMLDialogElement {
  const list = h('dl', {});
  for (const [keys, what] of KEYS) list.append(h('dt', {}, keys), h('dd', {}, what));
  const dialog = h(
    'dialog',
    { class: 'help', 'aria-label': 'Keys' },
    h('h2', {}, 'Keys and gestures'),
    list,
    h('form', { method: 'dialog' }, h('button', {}, 'close')),
  );
  dialog.addEventListener('click', (e) => {
    if (e.target === dialog) dialog.close();
  });
  return dialog;
}
