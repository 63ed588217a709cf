import { accountId, createLimiter, memoryStore } from '@sluice/core';
import { counts, readMetrics, top } from '@sluice/core/metrics';
import { expect, onTestFinished, test } from 'vitest';
import { sized } from '../sized.ts';

const FLOOD = sized(200_000, 1_000_000);
const MEGABYTE = 2 ** 20;

test(`metrics of a limiter have the same labels and the same memory after a flood of ${FLOOD} ids`, () => {
  const limiter = createLimiter({
    limits: { Logins: { key: accountId(), count: 1, period: '1h' } },
    store: memoryStore({ maxKeys: 1000 }),
    log: false,
  });
  onTestFinished(() => limiter.close());
  top(limiter, 'Logins');
  let next = 0;
  /** An allowed and a denied request of each new id. */
  const flood = (ids: number): void => {
    for (let end = next + ids; next < end; next++)
      for (let i = 0; i < 2; i++) limiter.spendSync([{ limit: 'Logins', id: `client-${next}` }]);
  };
  const labels = () =>
    readMetrics(limiter).flatMap(({ name, samples }) => samples.map(({ attributes }) => [name, attributes]));
  const heapBytes = (): number => {
    globalThis.gc!();
    return process.memoryUsage().heapUsed;
  };

  flood(20_000);
  const before = { labels: labels(), bytes: heapBytes() };
  flood(FLOOD);
  expect(heapBytes() - before.bytes).toBeLessThan(MEGABYTE);
  expect(labels()).toEqual(before.labels);
  expect(counts(limiter).limits['Logins']).toMatchObject({ denials: next, tokens: { taken: next } });
});
