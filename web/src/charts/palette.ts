// Colours come from the style sheet, so that dark and light are defined in one place.

export type Ink =
  | 'data'
  | 'fast'
  | 'rto'
  | 'tlp'
  | 'retrans'
  | 'order'
  | 'probe'
  | 'ack'
  | 'window'
  | 'sack'
  | 'immediate'
  | 'second'
  | 'delayed'
  | 'piggyback'
  | 'plain'
  | 'rtt'
  | 'flight'
  | 'goodput'
  | 'text'
  | 'faint'
  | 'grid'
  | 'mark'
  | 'page'
  | `line-${number}`
  | `time-${string}`;

let cache = new Map<Ink, string>();

/** Forgets the colours; call after the theme changed. */
export function forgetInks(): void {
  cache = new Map();
}

export function ink(name: Ink): string {
  let colour = cache.get(name);
  if (colour === undefined) {
    colour = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || '#888';
    cache.set(name, colour);
  }
  return colour;
}
