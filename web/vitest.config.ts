// Apart from vite.config.ts: tests need none of the build.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 10_000 } },
  },
});
