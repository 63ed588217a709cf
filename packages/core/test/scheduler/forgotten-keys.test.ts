import { describe, expect, test } from 'vitest';
import { id, key, LIMITS, quiet, scene } from './scene.ts';

const api = (cost: number) => [{ limit: 'Api', id, cost }] as const;
const limits = { ...LIMITS, Api: { key, burst: 100, count: 10, period: '1s' } } as unknown as typeof LIMITS;

describe('what a key has had is remembered for a second', () => {
  test.each(['keys', 'ids'])('also when a hundred other %s come', async (others) => {
    const { run, time, names } = scene({}, { limits });
    await time.pass(2000);
    void run('greedy', api(40), { fair: 'greedy' });
    await time.pass(500);
    for (let i = 0; i < 100; i++) {
      if (others === 'ids') void run('other', [{ limit: 'PerUser', id: `${i}` }]);
      else quiet(run('other', api(0), { fair: `${i}` }));
    }
    quiet(run('empties it', api(65), { fair: 'other' }));
    void run('greedy again', api(1), { fair: 'greedy' });
    void run('new', api(1), { fair: 'new' });
    await time.pass(1000);
    expect(names().slice(-2)).toEqual(['new', 'greedy again']);
  });
});

test('a key that has waited for long is not forgotten when others come', async () => {
  const { run, time, limiter, scheduler } = scene({}, { limits });
  const leaving = new AbortController();
  await limiter.restrict([{ limit: 'Api', id, forMs: 10_000 }]);
  // The first one is asked for once a second.
  quiet(run('first', api(1), { fair: 'first' }));
  const waits = run('waits', api(1), { fair: 'waits', signal: leaving.signal });
  quiet(waits);
  await time.pass(2000);
  for (let i = 0; i < 100; i++) quiet(run('other', api(1), { fair: `${i}` }));
  leaving.abort(new Error('gone'));
  await expect(waits).rejects.toThrow('gone');
  expect(scheduler.size).toBe(101);
});

test('keys and ids are looked through more and more rarely', () => {
  const { run } = scene();
  const maps = Map.prototype;
  // oxlint-disable-next-line typescript/unbound-method -- they are called with a map
  const { [Symbol.iterator]: iterate, values } = maps;
  let looks = 0;
  maps[Symbol.iterator] = function () {
    looks++;
    return iterate.call(this);
  };
  maps.values = function () {
    looks++;
    return values.call(this);
  };
  try {
    for (let i = 0; i < 1000; i++) quiet(run('waits', api(1), { fair: `${i}` }));
    const before = looks;
    for (let i = 0; i < 1000; i++) quiet(run('runs', [{ limit: 'PerUser', id: `${i}` }], {}, 1000));
    // Of 64, 128, 256 and 512.
    expect([before, looks - before]).toEqual([4, 4]);
  } finally {
    Object.assign(maps, { [Symbol.iterator]: iterate, values });
  }
});
