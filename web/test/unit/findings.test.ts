// What the copy button of a remedy gives.

import { describe, expect, it } from 'vitest';
import type { Finding } from '../../src/data/model';
import { titleOf } from '../../src/ui/findings';
import { toPaste } from '../../src/ui/words';

describe('the title of a group', () => {
  const findings = [
    { stream: 3, title: '24 segments lost' },
    { stream: 7, title: '2 segments lost' },
    { stream: 9, title: '2 segments lost' },
  ] as Finding[];

  it('names the stream whose figures it has', () => {
    expect(titleOf(findings, [0, 1], 0)).toBe('For example stream 3: 24 segments lost');
    expect(titleOf(findings, [1, 2], 1)).toBe('2 segments lost');
    expect(titleOf(findings, [0], 0)).toBe('24 segments lost');
  });
});

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
