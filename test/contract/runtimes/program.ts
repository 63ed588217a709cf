// Runs in Node and, bundled, where there is none of it: both must come to the same.
import {
  accountId,
  by,
  clientNetwork,
  createLimiter,
  everyone,
  IpAddress,
  memoryStore,
  type Limiter,
} from '@sluice/core';
import { borrow } from '@sluice/core/borrow';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { flowSettings, runFlow, type Exchange, type RequestDecision } from '@sluice/core/http';
import { bucketKey } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';

interface Visit {
  readonly address: string;
  readonly user: string;
}

const time = new FakeTime();

/** Created while the module is loaded, as in a Worker. */
export const limiter: Limiter<Visit> = createLimiter<Visit>({
  limits: {
    PerClient: { key: clientNetwork(), burst: 3, count: 1, period: '1s' },
    PerUser: borrow({
      key: accountId((visit: Visit) => visit.user),
      count: 2,
      period: '1m',
      borrow: { from: 'Pool', ceiling: { count: 9, period: '1m' } },
    }),
    Pool: { key: everyone(), count: 100, period: '1m' },
    Monthly: quota({ key: by((visit: Visit) => visit.user), count: 5, per: 'month', timeZone: 'Europe/Berlin' }),
    Slots: concurrency({ key: everyone(), concurrency: 2 }),
    Queue: { key: everyone(), burst: 1, count: 2, period: '1s', maxWait: '10s' },
  },
  trustedProxies: [],
  store: memoryStore({ time }),
  time,
  log: false,
});

const users = ['12345678', 'Zoë', '日本', 'x'.repeat(250)];
const addresses = ['203.0.113.7', '::ffff:203.0.113.7', '2001:db8::1', '2001:db8::203.0.113.7'];

/** Decisions, header fields, messages and keys, as JSON. */
export async function results(): Promise<string> {
  time.setWall(Date.parse('2026-10-30T12:00:00Z'));
  const all: unknown[] = [];
  for (let i = 0; i < 40; i++) {
    const visit = { user: users[i % users.length]!, address: addresses[i % addresses.length]! };
    all.push(await answered(visit), limiter.checkSync([{ limit: 'Queue', id: 'everyone' }]));
    time.advance(137.5 * (i % 5));
  }
  const held = await limiter.spend([{ limit: 'Slots', id: 'everyone' }], { hold: true });
  all.push(held, limiter.checkSync([{ limit: 'Slots', id: 'everyone' }]));
  await held.release();
  all.push(
    users.map((user) => bucketKey('PerUser', user)),
    wrongOptions.map(messageOf),
  );
  return JSON.stringify(all);
}

async function answered(visit: Visit): Promise<unknown> {
  const settings = flowSettings<Visit, readonly []>(
    { limiter, limits: ['PerClient', 'PerUser', 'Monthly', 'Queue'] },
    [],
  );
  const fields: Record<string, string> = {};
  let decision: RequestDecision | undefined;
  const exchange: Exchange<Visit> = {
    request: visit,
    method: 'GET',
    peer: IpAddress.parse(visit.address),
    header: () => undefined,
    getField: (name) => fields[name],
    setField: (name, value) => void (fields[name] = value),
    onEnd: () => {},
    get decision() {
      return decision;
    },
    set decision(made) {
      decision = made;
    },
  };
  const flow = runFlow(settings, exchange, []);
  await time.pass(1000);
  return { denial: await flow, fields, decision };
}

const wrongOptions: readonly unknown[] = [1.5, 'often', null, [1, 2], { a: { b: 1 } }, -0, 12n];

function messageOf(count: unknown): string {
  try {
    createLimiter({ limits: { Wrong: { key: everyone(), count: count as number, period: '1s' } } });
    return 'none';
  } catch (error) {
    return String(error);
  }
}

/** What a limiter on the runtime's own time decides: no token comes back in ten seconds, and one does in 20 ms. */
export async function ownTime(): Promise<string> {
  const limits = {
    Slow: { key: everyone(), count: 1, period: '10s' },
    Quick: { key: everyone(), count: 1, period: '20ms', maxWait: '1m' },
  };
  const own = createLimiter({ limits, log: false });
  const both = await own.spend([
    { limit: 'Slow', id: 'everyone' },
    { limit: 'Quick', id: 'everyone' },
  ]);
  const slow = await own.check([{ limit: 'Slow', id: 'everyone' }]);
  const quick = await own.spend([{ limit: 'Quick', id: 'everyone' }], { wait: true });
  await own.close();
  return [both.outcome, slow.outcome, quick.outcome].join(', ');
}
