import { readFileSync } from 'node:fs';
import { createLimiter } from '@sluice/core';
import { loadLimits } from '@sluice/config';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, it } from 'vitest';

const page = 'docs/load.md';
const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
const files = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)]
  .map(([, code]) => code!)
  .filter((code) => /^ +load:/m.test(code));

describe(`the file of ${page}`, () => {
  it('defines load limits that deny clients while the process has too much to do', async () => {
    const [file, ...others] = files;
    expect(others).toEqual([]);
    const loaded = await loadLimits({ defaults: () => file, keys: {} });
    const time = new FakeTime();
    const limiter = createLimiter({ ...loaded, time, log: false });
    const passing = async (): Promise<readonly string[]> => {
      const names = Object.keys(loaded.limits);
      const decisions = await Promise.all(names.map((limit) => limiter.check([{ limit, id: '203.0.113.7' }])));
      return names.filter((_, i) => decisions[i]!.allowed);
    };
    expect(await passing()).toEqual(Object.keys(loaded.limits));
    time.advance(10_000);
    expect(await passing()).toEqual([]);
  });
});
