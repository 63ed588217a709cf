import { accountId, everyone, type Limits } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { describe, expect, test } from 'vitest';
import type { Answer } from '../client.ts';
import type { Framework, NativeRequest } from '../framework.ts';
import { as, userKey } from '../limiters.ts';
import { serveSlots, type SlotPlan } from '../slots.ts';

const InFlight = concurrency({ key: userKey, concurrency: 2 });
const Rate = { key: userKey, count: 60, period: '1m' };
const Fleet = concurrency({ key: everyone(), concurrency: 1 });

const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded';
const REDUCED_CAPACITY = 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity';

/** What clients are told about slots. */
export function slotFieldCases(framework: Framework): void {
  const fieldsOf = ({ headers }: Answer): Record<string, unknown> =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => /ratelimit|retry-after/.test(name)));

  /** The answers to requests of `ann` that come while those before are in progress. Some of them are denied. */
  async function answers(users: readonly string[], plan: SlotPlan): Promise<Answer[]> {
    const { begin, open, allReleased } = await serveSlots(framework, plan);
    const visits = [];
    for (const user of users) visits.push(await begin(user));
    open();
    const all = await Promise.all(visits.map(({ answer }) => answer));
    await allReleased();
    return all;
  }

  const dialects: [name: string, what: 'alone' | 'beside a rate', allowed: object, denied: object][] = [
    [
      'draft-11',
      'alone',
      { ratelimit: '"InFlight";r=1', 'ratelimit-policy': '"InFlight";q=2;qu="concurrent-requests"' },
      {
        ratelimit: '"InFlight";r=0',
        'ratelimit-policy': '"InFlight";q=2;qu="concurrent-requests"',
        'retry-after': '1',
      },
    ],
    [
      'draft-11',
      'beside a rate',
      {
        ratelimit: '"InFlight";r=1, "Rate";r=59;t=1',
        'ratelimit-policy': '"InFlight";q=2;qu="concurrent-requests", "Rate";q=60;w=60',
      },
      {
        ratelimit: '"InFlight";r=0',
        'ratelimit-policy': '"InFlight";q=2;qu="concurrent-requests", "Rate";q=60;w=60',
        'retry-after': '1',
      },
    ],
    ['draft-7', 'alone', {}, { ratelimit: 'limit=2, remaining=0, reset=1', 'retry-after': '1' }],
    [
      'draft-7',
      'beside a rate',
      { ratelimit: 'limit=60, remaining=59, reset=1', 'ratelimit-policy': '60;w=60' },
      { ratelimit: 'limit=2, remaining=0, reset=1', 'ratelimit-policy': '60;w=60', 'retry-after': '1' },
    ],
    [
      'draft-6',
      'alone',
      {},
      { 'ratelimit-limit': '2', 'ratelimit-remaining': '0', 'ratelimit-reset': '1', 'retry-after': '1' },
    ],
    [
      'draft-6',
      'beside a rate',
      { 'ratelimit-limit': '60', 'ratelimit-remaining': '59', 'ratelimit-reset': '1', 'ratelimit-policy': '60;w=60' },
      {
        'ratelimit-limit': '2',
        'ratelimit-remaining': '0',
        'ratelimit-reset': '1',
        'ratelimit-policy': '60;w=60',
        'retry-after': '1',
      },
    ],
    [
      'legacy',
      'alone',
      {},
      { 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1', 'retry-after': '1' },
    ],
    [
      'legacy',
      'beside a rate',
      { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '59', 'x-ratelimit-reset': '1' },
      { 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1', 'retry-after': '1' },
    ],
  ];

  test.each(dialects)('%s reports slots %s without a window', async (fields, what, allowed, denied) => {
    const limits: Limits<NativeRequest> = what === 'alone' ? { InFlight } : { InFlight, Rate };
    const [first, , third] = await answers(['ann', 'ann', 'ann'], { limits, options: { fields } });
    expect(fieldsOf(first!)).toEqual(allowed);
    expect(third!.status).toBe(429);
    expect(fieldsOf(third!)).toEqual(denied);
  });

  test('the slots that are left are those of the share of the request', async () => {
    const limits = { InFlight: concurrency({ key: userKey, concurrency: 10 }) };
    const [answer] = await answers(['ann'], { limits, uses: [{ limit: 'InFlight', cost: 2, share: 0.5 }] });
    expect(fieldsOf(answer!)).toEqual({
      ratelimit: '"InFlight";r=3',
      'ratelimit-policy': '"InFlight";q=10;qu="concurrent-requests"',
    });
  });

  test('slots of two middlewares are reported together', async () => {
    const limits = { InFlight, Rate };
    const served = await serveSlots(framework, {
      limits,
      all: (limiter) => [
        { limiter, limits: ['InFlight'] },
        { limiter, limits: ['Rate'] },
      ],
    });
    served.open();
    expect(fieldsOf(await served.app.get('/', as('ann')))).toEqual({
      ratelimit: '"InFlight";r=1, "Rate";r=59;t=1',
      'ratelimit-policy': '"InFlight";q=2;qu="concurrent-requests", "Rate";q=60;w=60',
    });
    await served.allReleased();
  });

  test('hidden slots are not reported, neither when they deny', async () => {
    const limits = { InFlight: concurrency({ key: userKey, concurrency: 1, hidden: true }), Rate };
    const [first, second] = await answers(['ann', 'ann'], { limits });
    expect(fieldsOf(first!)).toEqual({ ratelimit: '"Rate";r=59;t=1', 'ratelimit-policy': '"Rate";q=60;w=60' });
    expect(fieldsOf(second!)).toEqual({ 'retry-after': '1' });
    expect(JSON.stringify(second)).not.toContain('InFlight');
  });

  test('jitter lengthens Retry-After of a denial by slots', async () => {
    const [, second] = await answers(['ann', 'ann'], {
      limits: { InFlight: concurrency({ key: userKey, concurrency: 1 }) },
      options: { retryJitter: 0.03 },
    });
    expect(['1', '2']).toContain(second!.headers['retry-after']);
  });

  describe.each([false, true])('a denial by slots (late store: %s)', (isLate) => {
    const rateUsedUp = { key: accountId<NativeRequest>(() => 'all'), count: 1, period: '1h' };
    const slotsUsedUp = concurrency({ key: accountId<NativeRequest>(() => 'all'), concurrency: 1 });

    test.each<[of: string, limits: Limits<NativeRequest>, status: number, problem: object]>([
      [
        'of a user is a 429',
        { InFlight: slotsUsedUp },
        429,
        {
          type: QUOTA_EXCEEDED,
          title: 'Too many requests',
          detail: 'Concurrency limit "InFlight" exceeded. Try again in 1 second.',
          'violated-policies': ['InFlight'],
        },
      ],
      [
        'of everyone is a 503',
        { Fleet },
        503,
        {
          type: REDUCED_CAPACITY,
          title: 'Temporarily unavailable',
          detail: 'The service is at capacity. Try again in 1 second.',
        },
      ],
      [
        'of everyone, beside limits that allow it, is a 503',
        { Rate, Fleet, InFlight },
        503,
        { type: REDUCED_CAPACITY },
      ],
      ['of everyone that are hidden is a 503', { Fleet: { ...Fleet, hidden: true } }, 503, { type: REDUCED_CAPACITY }],
      [
        'of everyone and of a user is a 429',
        { Fleet, InFlight: slotsUsedUp },
        429,
        { type: QUOTA_EXCEEDED, 'violated-policies': ['Fleet', 'InFlight'] },
      ],
      [
        'of everyone and by a rate is a 429',
        { Fleet, Rate: rateUsedUp },
        429,
        {
          type: QUOTA_EXCEEDED,
          detail: 'Limits "Fleet" and "Rate" exceeded. Try again in 1 h.',
          'violated-policies': ['Fleet', 'Rate'],
        },
      ],
    ])('%s', async (_of, limits, status, problem) => {
      const [allowed, denied] = await answers(['ann', 'bob'], { isLate, limits });
      expect([allowed!.status, denied!.status]).toEqual([200, status]);
      expect(denied!.headers['content-type']).toBe('application/problem+json');
      expect(denied!.headers['cache-control']).toBe('no-store');
      expect(JSON.parse(denied!.body)).toMatchObject({ ...problem, status });
    });
  });

  test('an answer of your own can tell that the service is at capacity', async () => {
    const onDenied = framework.onDenied(({ status, decision }, { overloaded }) => {
      status(overloaded ? 503 : 429);
      return `${decision!.overloaded}`;
    });
    const [, denied] = await answers(['ann', 'bob'], { limits: { Fleet, Rate }, options: { onDenied } });
    expect(denied).toMatchObject({ status: 503, body: 'true' });
  });
}
