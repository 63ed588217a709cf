import { accountId, createLimiter, everyone, type Decision, type Limits } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { expect, test } from 'vitest';
import { denialOf } from '../../src/http/denial.ts';

const rate = { key: accountId(), count: 1, period: '1h' };
const slots = concurrency({ key: accountId(), concurrency: 1 });
const fleet = concurrency({ key: everyone(), concurrency: 1 });

/** Uses up some limits of a limiter, and returns the decision on a request of all of them. */
async function deniedBy(limits: Limits, usedUp: readonly string[] = Object.keys(limits)): Promise<Decision> {
  const limiter = createLimiter({ limits, log: false });
  const idOf = ({ key }: Limits[string]): string => (key === fleet.key ? 'everyone' : 'ann');
  const all = Object.entries(limits).map(([limit, definition]) => ({ limit, id: idOf(definition) }));
  for (const entry of all) if (usedUp.includes(entry.limit)) await limiter.spend([entry], { hold: true });
  return limiter.spend(all, { hold: true });
}

test.each<[what: string, limits: Limits, detail: string]>([
  ['a rate', { A: rate }, 'Rate limit "A" exceeded.'],
  ['two rates', { A: rate, B: rate }, 'Rate limits "A" and "B" exceeded.'],
  ['three rates', { A: rate, B: rate, C: rate }, 'Rate limits "A", "B" and "C" exceeded.'],
  ['slots', { A: slots }, 'Concurrency limit "A" exceeded.'],
  ['a rate and slots', { A: rate, B: slots }, 'Limits "A" and "B" exceeded.'],
  ['slots, and those of everyone', { A: slots, B: fleet }, 'Concurrency limits "A" and "B" exceeded.'],
])('a denial by %s is a 429 that names the limits that were exceeded', async (_what, limits, detail) => {
  const { status, body } = denialOf(await deniedBy(limits), 1);
  expect(status).toBe(429);
  expect(JSON.parse(body)).toEqual({
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Too many requests',
    status: 429,
    detail: `${detail} Try again in 1 second.`,
    'violated-policies': Object.keys(limits),
  });
});

test.each<[what: string, limits: Limits, usedUp: readonly string[]]>([
  ['alone', { Fleet: fleet }, ['Fleet']],
  ['beside limits with room', { Fleet: fleet, A: rate, B: slots }, ['Fleet']],
  ['in this process', { Fleet: { ...fleet, scope: 'process' as const } }, ['Fleet']],
  ['of several parts of the service', { Fleet: fleet, Zone: fleet }, ['Fleet', 'Zone']],
])('a denial by slots of everyone %s is a 503 that names no limit', async (_where, limits, usedUp) => {
  const decision = await deniedBy(limits, usedUp);
  const { status, body } = denialOf(decision, 1);
  expect({ status, overloaded: decision.overloaded }).toEqual({ status: 503, overloaded: true });
  expect(JSON.parse(body)).toEqual({
    type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
    title: 'Temporarily unavailable',
    status: 503,
    detail: 'The service is at capacity. Try again in 1 second.',
  });
});

test('a rate of everyone is a limit like any other: a denial by it is a 429', async () => {
  const decision = await deniedBy({ All: { ...rate, key: fleet.key } });
  expect([denialOf(decision, 1).status, decision.overloaded]).toEqual([429, false]);
});

test('an id that is blocked at slots of everyone is a 403, and an allowed request is not overloaded', async () => {
  const limiter = createLimiter({
    limits: { Fleet: fleet },
    overrides: { Fleet: { everyone: 'blocked' } },
    log: false,
  });
  const blocked = await limiter.spend([{ limit: 'Fleet', id: 'everyone' }], { hold: true });
  expect([denialOf(blocked, 0).status, blocked.overloaded]).toEqual([403, false]);
  expect((await deniedBy({ Fleet: fleet }, [])).overloaded).toBe(false);
});
