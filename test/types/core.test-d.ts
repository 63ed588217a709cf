// What the compiler must accept and refuse; `npm run check -- types` reads it, nothing runs it.
import {
  accountId,
  clientNetwork,
  compound,
  createLimiter,
  ipAddress,
  by,
  memoryStore,
  type Awaitable,
  type Decision,
  type IdFormat,
  type Key,
  type Limiter,
  type SpendEntry,
} from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { eventLoop } from '@sluice/core/load';
import { quota } from '@sluice/core/quota';

const limits = { Orders: { key: accountId(), count: 300, period: '180m' } };
declare const format: IdFormat;

// @ts-expect-error a limiter has limits
createLimiter({});
// @ts-expect-error a typo is not an option
createLimiter({ limits, stores: memoryStore() });
// @ts-expect-error a limit says what it limits
createLimiter({ limits: { Orders: { count: 300, period: '180m' } } });
// @ts-expect-error a key is made by calling its function
createLimiter({ limits: { Orders: { ...limits.Orders, key: ipAddress } } });
// @ts-expect-error `windowMs` is `period` here
createLimiter({ limits: { Orders: { key: ipAddress(), count: 5, period: '1s', windowMs: 1000 } } });
// @ts-expect-error there are three failure policies
createLimiter({ limits, failure: { onFailure: 'shut' } });
// @ts-expect-error an override is numbers, 'unlimited' or 'blocked'
createLimiter({ limits, overrides: { Orders: { '7': 'limitless' } } });
// @ts-expect-error a store has methods
createLimiter({ limits, store: {} });

// A limit has the options of one kind.
createLimiter({
  limits: {
    PerClient: concurrency({ key: ipAddress(), concurrency: 10, expiry: '10s', scope: 'store' }),
    Bulkhead: concurrency({ key: ipAddress(), concurrency: 10, scope: 'process' }),
    Daily: quota({ key: ipAddress(), count: 5, per: 'day' }),
  },
  overrides: { PerClient: { '203.0.113.7': { concurrency: 20 }, '203.0.113.8': 'unlimited' } },
});
// @ts-expect-error a rate has no concurrency
createLimiter({ limits: { Orders: concurrency({ key: ipAddress(), count: 5, period: '1s', concurrency: 10 }) } });
// @ts-expect-error a quota has no concurrency
createLimiter({ limits: { Orders: quota({ key: ipAddress(), count: 5, per: 'day', concurrency: 10 }) } });
// @ts-expect-error a quota has no period
createLimiter({ limits: { Orders: quota({ key: ipAddress(), count: 5, per: 'day', period: '1s' }) } });
// @ts-expect-error a rate has no lease
createLimiter({ limits: { Orders: { key: ipAddress(), count: 5, period: '1s', expiry: '10s' } } });
// @ts-expect-error a load limit has no concurrency
createLimiter({ limits: { Worker: concurrency({ load: eventLoop(), concurrency: 10 }) } });
// @ts-expect-error a load limit is never named, so it can not be hidden
createLimiter({ limits: { Worker: { load: eventLoop(), hidden: true } } });
// @ts-expect-error there are two scopes
createLimiter({ limits: { InFlight: concurrency({ key: ipAddress(), concurrency: 10, scope: 'host' }) } });
// @ts-expect-error a concurrency limit has a key
createLimiter({ limits: { InFlight: concurrency({ concurrency: 10 }) } });
// @ts-expect-error an override has the numbers of one kind
createLimiter({ limits, overrides: { Orders: { '7': { concurrency: 20, count: 5, period: '1s' } } } });
// @ts-expect-error the lease belongs to the limit
createLimiter({ limits, overrides: { Orders: { '7': { concurrency: 20, expiry: '10s' } } } });

createLimiter({
  limits,
  overrides: { Orders: { '7': 'unlimited', '8': { count: 600, period: '180m' }, '9': 'blocked' } },
});
createLimiter({ limits: { Orders: { ...limits.Orders, hidden: true } } });
createLimiter({ limits, overrides: (limit, id) => (limit === 'Orders' && id === '7' ? 'unlimited' : undefined) });
createLimiter({ limits, overrides: async () => ({ burst: 5, count: 600, period: 60_000 }) });
createLimiter({ limits, log: false, onEvent: (event) => event.message, overridesDeadlineMs: 100 });

// A function of a key gives text, a number, a bigint, null, or a promise of one.
accountId((req: { user: string }) => req.user);
accountId((req: { user?: number }) => req.user ?? null);
accountId(async (req: { user: bigint }) => req.user);
by((req: { domain: string }) => req.domain, { format });
// @ts-expect-error undefined would be a bucket that strangers share
accountId((req: { user?: string }) => req.user);
// @ts-expect-error an object is no id
accountId((req: { user: object }) => req.user);
// @ts-expect-error a format is more than its name
by(undefined, { format: { name: 'domain' } });
// @ts-expect-error there is no such option
clientNetwork({ ipv6Prefix: 64 });
// @ts-expect-error the option of an address key is an object
clientNetwork(64);

// The listener of a limiter is given the request that its keys read, which is left out without HTTP.
createLimiter({
  limits: { Orders: { key: accountId((req: { user: string }) => req.user), count: 5, period: '1s' } },
  onDecision: (decision, { request, shadow }) => shadow || decision.allowed || request?.user.length,
});
createLimiter({
  limits: { Orders: { key: accountId((req: { user: string }) => req.user), count: 5, period: '1s' } },
  // @ts-expect-error there may be no request
  onDecision: (_decision, { request }) => request.user,
});

// A key with a fallback needs what both need of the request.
const either: Key<{ user: string | null } & { token: string }> = accountId(
  (req: { user: string | null }) => req.user,
).or(accountId((req: { token: string }) => req.token));

// A limiter knows what its keys need.
const limiter: Limiter<{ user: string | null; token: string }> = createLimiter<{ user: string | null; token: string }>({
  limits: { Orders: { ...limits.Orders, key: either } },
});

export async function used(): Promise<Decision> {
  const decision: Awaitable<Decision> = limiter.spend([{ limit: 'Orders', id: '7', cost: 2, mode: 'check-only' }]);
  // @ts-expect-error it may be a promise, on a store that answers later
  const passes: boolean = decision.allowed;
  // @ts-expect-error an id is text
  void limiter.spend([{ limit: 'Orders', id: 7 }]);
  // @ts-expect-error `weight` is `cost` here
  void limiter.spend([{ limit: 'Orders', id: '7', weight: 2 }]);
  // @ts-expect-error there are three modes
  void limiter.spend([{ limit: 'Orders', id: '7', mode: 'peek' }]);
  // @ts-expect-error a charge has no mode
  void limiter.charge([{ limit: 'Orders', id: '7', mode: 'check-only' }]);
  // @ts-expect-error a refund has no mode
  void limiter.refund([{ limit: 'Orders', id: '7', mode: 'check-only' }]);
  // @ts-expect-error a reset has no cost: it makes the bucket full
  void limiter.reset([{ limit: 'Orders', id: '7', cost: 2 }]);
  // @ts-expect-error a reset has no mode
  void limiter.reset([{ limit: 'Orders', id: '7', mode: 'check-only' }]);
  const entry: SpendEntry = { limit: 'Orders', id: '7', mode: 'check-only' };
  // @ts-expect-error an entry that may have a mode is for spend and check
  void limiter.charge([entry]);
  // @ts-expect-error an entry that may have a mode is for spend and check
  void limiter.refund([entry]);
  const { results } = await decision;
  // @ts-expect-error a result is no entry: it has a cost and a mode
  void limiter.reset(results);
  await limiter.refund(await decision);
  await limiter.refund([{ limit: 'Orders', id: '7', cost: 2 }]);
  await limiter.reset([{ limit: 'Orders', id: '7' }]);
  return passes ? decision : limiter.check([]);
}

export async function read(): Promise<string | null> {
  const { outcome, results, limit } = await limiter.check([]);
  const known: 'allowed' | 'denied' | 'unavailable' = outcome;
  // @ts-expect-error a decision does not change
  results[0] = undefined;
  return known === 'denied' ? limit : null;
}

// A compound key asks of its request what its parts ask.
const perUserAndAddress = compound(
  accountId((req: { user: string }) => req.user),
  ipAddress(),
);
const compoundLimiter: Limiter<{ user: string }> = createLimiter({
  limits: { Orders: { key: perUserAndAddress, count: 1, period: '1s' } },
});
// @ts-expect-error a request without a user has no such id
export const strangersLimiter: Limiter<{ name: string }> = compoundLimiter;

// An overrides function gets the request that the keys of its limiter need, or undefined without HTTP.
createLimiter({
  limits: { Orders: { key: accountId((req: { user: string; plan: string }) => req.user), count: 1, period: '1s' } },
  overrides: (_limit, _id, request) => (request?.plan === 'pro' ? { count: 100, period: '1s' } : undefined),
});
createLimiter({
  limits: { Orders: { key: accountId((req: { user: string; plan: string }) => req.user), count: 1, period: '1s' } },
  // @ts-expect-error without HTTP there is no request
  overrides: (_limit, _id, request) => (request.plan === 'pro' ? 'unlimited' : undefined),
});
