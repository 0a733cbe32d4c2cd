// Dark, light, or what the system says; the choice is kept where the browser allows it.

import { forgetInks } from '../charts/palette';
import { h } from '../dom';

const CHOICES = ['system', 'dark', 'light'] as const;
type Choice = (typeof CHOICES)[number];
const KEY = 'tcplab-theme';

function stored(): Choice {
  try {
    const value = localStorage.getItem(KEY);
    return CHOICES.find((c) => c === value) ?? 'system';
  } catch {
    return 'system';
  }
}

/** A button that goes through the choices; `changed` draws the charts anew. */
export function themeButton(changed: () => void): HTMLButtonElement {
  let choice = stored();
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const button = h('button', { type: 'button', class: 'theme', title: 'colours: system, dark, light (t)' });
  const apply = () => {
    const system = dark.matches ? 'dark' : 'light';
    document.documentElement.dataset.theme = choice === 'system' ? system : choice;
    button.textContent = `theme: ${choice}`;
    forgetInks();
    changed();
  };
  button.addEventListener('click', () => {
    choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
    try {
      localStorage.setItem(KEY, choice);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    apply();
  });
  dark.addEventListener('change', apply);
  apply();
  return button;
}

/** `t` presses the button, unless somebody writes. */
export function themeByKey(place: HTMLElement): void {
  addEventListener('keydown', (e) => {
    const target = e.target as HTMLElement;
    if (e.ctrlKey || e.metaKey || e.altKey || target.matches('input, select, textarea')) return;
    if (e.key === 't') place.querySelector<HTMLButtonElement>('button.theme')?.click();
  });
}
