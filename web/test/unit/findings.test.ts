// What the copy button of a remedy gives.

import { describe, expect, it } from 'vitest';
import { toPaste } from '../../src/ui/words';

describe('a remedy', () => {
  it('is copied as its commands, which can be pasted', () => {
    expect(toPaste('On the host: `ip route get 192.0.2.1`, then `ip route replace X quickack 1`.')).toBe(
      'ip route get 192.0.2.1\nip route replace X quickack 1',
    );
  });

  it('is copied whole when it holds no command', () => {
    expect(toPaste('Read faster.')).toBe('Read faster.');
  });
});
