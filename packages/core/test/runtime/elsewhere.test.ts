import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FakeTime } from '../../src/testing/fake-time.ts';

// What a runtime lacks that is not Node.
beforeEach(() => {
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined);
  vi.resetModules();
});
afterEach(() => void vi.restoreAllMocks());

test('a diagnostics channel has no subscribers, and takes what is published', async () => {
  const { channel } = await import('../../src/runtime/channel.ts');
  const silent = channel('sluice:decision');
  expect(silent.hasSubscribers).toBe(false);
  silent.publish({});
});

test('functions of process that throw, as in the Edge runtime of Next.js, are as good as none', async () => {
  vi.spyOn(process, 'getBuiltinModule').mockImplementation(() => {
    throw new Error('A Node.js API is used (process.getBuiltinModule) which is not supported in the Edge Runtime.');
  });
  const { accountId, createLimiter } = await import('../../src/index.ts');
  const limiter = createLimiter({ limits: { Calls: { key: accountId(), count: 1, period: '1m' } } });
  expect((await limiter.spend([{ limit: 'Calls', id: '12345678' }])).allowed).toBe(true);
});

test('without Node, the store contract fails with an error that names node:assert', async () => {
  const { assert } = await import('../../src/testing/assert.ts');
  expect(() => assert.equal(1, 1)).toThrow('needs `node:assert`');
});

test('a fake time lets promises run between its timers', async () => {
  const time = new FakeTime();
  const ran: string[] = [];
  time.alarm(1, () => void Promise.resolve().then(() => ran.push('then')));
  time.alarm(2, () => ran.push('second'));
  await time.pass(2);
  expect(ran).toEqual(['then', 'second']);
});
