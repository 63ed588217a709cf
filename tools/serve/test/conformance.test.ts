import fc from 'fast-check';
import { expect, test } from 'vitest';
import { envoyOf, type SentDescriptor } from '../../../test/service/envoy.ts';
import { served } from '../../../test/service/served.ts';
import { sized } from '../../../test/sized.ts';

const REQUESTS = Number(process.env['SLUICE_RLS_REQUESTS'] ?? sized(1000, 3000));
/** Requests of one sequence, on one service. */
const LENGTH = 500;
const COUNTS = { user: 20, path: 7, charged: 10 } as const;
type Key = keyof typeof COUNTS;

const LIMITS = Object.entries(COUNTS)
  .map(([key, count]) => `${key}: { count: ${count}, per: minute, idFormat: by }`)
  .join('\n');
const TABLES = `
envoy:
  ingress:
    rules:
      - { descriptor: [user], limit: user }
      - { descriptor: [path], limit: path }
      - { descriptor: [charged], limit: charged, report: charge }
`;

interface Step {
  readonly afterMs: number;
  readonly descriptors: readonly {
    readonly key: Key | 'unknown';
    readonly value: string;
    readonly hits: number | undefined;
    readonly isNegative: boolean;
  }[];
  readonly hitsAddend: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  afterMs: fc.constantFrom(0, 0, 0, 1, 5000, 59_999, 60_000),
  descriptors: fc.array(
    fc
      .record({
        key: fc.constantFrom<Key | 'unknown'>('user', 'path', 'charged', 'unknown'),
        value: fc.constantFrom('a', 'b', 'ü'),
        hits: fc.option(fc.constantFrom(0, 1, 2, 7, 21), { nil: undefined, freq: 3 }),
        isNegative: fc.boolean().map((is) => is),
      })
      .map((each) => ({ ...each, isNegative: each.isNegative && each.hits === 2 })),
    { minLength: 1, maxLength: 4 },
  ),
  hitsAddend: fc.constantFrom(0, 0, 1, 3),
});

/** Counters of calendar minutes: all descriptors of a request, or none. Slow and obvious. */
class Minutes {
  #minute = -1;
  readonly #used = new Map<string, number>();

  answer({ descriptors, hitsAddend }: Step, nowMs: number): readonly ('OK' | 'OVER_LIMIT')[] {
    const minute = Math.floor(nowMs / 60_000);
    if (minute !== this.#minute) this.#used.clear();
    this.#minute = minute;
    const uses = descriptors.map((each) => ({
      ...each,
      bucket: `${each.key} ${each.value}`,
      n: each.hits ?? Math.max(1, hitsAddend),
    }));
    const spends = uses.filter(
      ({ key, n, isNegative }) => key !== 'unknown' && !(n > 0 && (isNegative || key === 'charged')),
    );
    const needed = new Map<string, number>();
    for (const { bucket, n } of spends) needed.set(bucket, (needed.get(bucket) ?? 0) + n);
    for (const [bucket, n] of needed) if (n === 0) needed.set(bucket, 1);
    const fits = (bucket: string): boolean => this.#usedOf(bucket) + needed.get(bucket)! <= mostOf(bucket);
    const answers = uses.map((use) => (spends.includes(use) && !fits(use.bucket) ? 'OVER_LIMIT' : 'OK'));
    if (!answers.includes('OVER_LIMIT'))
      for (const { bucket, n } of spends) this.#used.set(bucket, this.#usedOf(bucket) + n);
    const changed = new Map<string, number>();
    for (const { bucket, n, isNegative } of uses.filter((use) => use.key !== 'unknown' && !spends.includes(use)))
      changed.set(bucket, (changed.get(bucket) ?? 0) + (isNegative ? -n : n));
    for (const [bucket, n] of changed)
      this.#used.set(bucket, Math.min(mostOf(bucket), Math.max(0, this.#usedOf(bucket) + n)));
    return answers;
  }

  #usedOf(bucket: string): number {
    return this.#used.get(bucket) ?? 0;
  }
}

function mostOf(bucket: string): number {
  return COUNTS[bucket.split(' ', 1)[0] as Key];
}

test('random requests of grpc-js are answered as an oracle answers them', { timeout: 3_600_000 }, async () => {
  let denied = 0;
  const sequence = async (steps: readonly Step[]): Promise<void> => {
    const { servers, service, time } = await served(LIMITS, TABLES);
    const envoy = envoyOf(servers.ports.grpc);
    const oracle = new Minutes();
    for (const each of steps) {
      time.advance(each.afterMs);
      const expected = oracle.answer(each, time.wallNow());
      const descriptors = each.descriptors.map(sent);
      // oxlint-disable-next-line no-await-in-loop -- one request after the other
      const { overall_code, statuses } = await envoy.ask({
        domain: 'ingress',
        descriptors,
        hits_addend: each.hitsAddend,
      });
      const isDenied = expected.includes('OVER_LIMIT');
      if (isDenied) denied++;
      expect([each, overall_code, statuses.map(({ code }) => code)]).toEqual([
        each,
        isDenied ? 'OVER_LIMIT' : 'OK',
        expected,
      ]);
    }
    envoy.close();
    await servers.close(0);
    await service.close();
  };
  const steps = fc.array(step, { minLength: LENGTH, maxLength: LENGTH });
  await fc.assert(fc.asyncProperty(steps, sequence), {
    numRuns: Math.ceil(REQUESTS / LENGTH),
    seed: 31,
    endOnFailure: true,
  });
  expect(denied).toBeGreaterThan(REQUESTS / 10);
});

function sent({ key, value, hits, isNegative }: Step['descriptors'][number]): SentDescriptor {
  return {
    entries: [{ key, value }],
    ...(hits !== undefined && { hits_addend: { value: hits } }),
    ...(isNegative && { is_negative_hits: true }),
  };
}
