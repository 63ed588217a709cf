import { FakeTime, storeContract } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { SteeredStore } from '../support/steered-store.ts';

const server = await redisServer();

/** The script rounds the level that was written up by at most a sixteenth: see decide-script.redis.test.ts. */
const ROUNDED = [
  'a clock that ran ahead and came back locks nobody out for longer than an empty bucket',
  'a clock that came back does not undo the debt that a larger burst left',
];

describe('the script keeps the contract of stores where a test sets the clock of the server', () => {
  const cases = storeContract({
    clock: 'steered',
    create() {
      const time = new FakeTime();
      return {
        store: new SteeredStore(server, time),
        advance: (ms) => time.advance(ms),
        stepBack: (ms) => time.set(time.nowMs - ms),
      };
    },
  });
  test.each(cases.filter(({ name }) => !ROUNDED.includes(name)))('$name', async ({ run }) =>
    expect(run()).resolves.toBeUndefined(),
  );
});
