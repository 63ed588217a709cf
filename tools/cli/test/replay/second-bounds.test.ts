import { describe, expect, it } from 'vitest';
import { combinedLine, files, logOf, NOON, pinoLine, seededRandom, type Logged } from './logs.ts';
import type { Band } from '../../src/replay/counting/band.ts';
import type { SuggestReport } from '../../src/replay/suggesting/suggest-report.ts';
import { run } from '../run.ts';
import { replayReport } from './report.ts';
import { sized } from '../../../../test/sized.ts';

const holds = (band: Band | undefined, { low: truth }: Band): boolean =>
  band !== undefined && band.low <= truth && truth <= band.high;

/** Replays requests by a log with milliseconds, and by one of whole seconds. */
async function replayed(requests: readonly Logged[], limits: string, overrides?: string, args: readonly string[] = []) {
  const written = files({ limits, overrides: overrides ?? '[]', seconds: logOf(combinedLine, requests) });
  const options = ['--limits', written.limits, '--overrides', written.overrides, ...args];
  const truth = await replayReport(['-', ...options], { stdin: logOf(pinoLine, requests) });
  return { truth, bounded: await replayReport([written.seconds, ...options]) };
}

/** So many requests of an address, evenly spread from one time to another. */
function burst(count: number, fromMs: number, toMs: number): Logged[] {
  return Array.from({ length: count }, (_, i) => {
    return { ms: NOON + Math.floor(fromMs + ((toMs - fromMs) * i) / count), address: '203.0.113.7' };
  });
}

/** Writes a request as nginx does with the time of its end and `$request_time`. */
function timedLine({ ms, address, tookMs }: Logged & { readonly tookMs: number }, digits: number): string {
  const seconds = (ms + tookMs) / 1000;
  const msec = digits === 0 ? Math.floor(seconds) : seconds.toFixed(3);
  return `{"msec":"${msec}","remote_addr":"${address}","request_time":"${(tookMs / 1000).toFixed(3)}","status":"200"}\n`;
}

describe('a log of whole seconds shows the fewest and the most requests that a limit denies', () => {
  it('also for bursts at the end of one second and the start of the next', async () => {
    const limits = 'PerAddress: { count: 5, period: 1s, burst: 8, idFormat: ipAddress }\n';
    const requests = Array.from({ length: 100 }, (_, i) => burst(16, i * 4000 + 900, i * 4000 + 1100)).flat();
    const { truth, bounded } = await replayed(requests, limits);
    expect(truth.totals.denied.low).toBeGreaterThan(700);
    expect(bounded.denials).toBe('bounds');
    expect(holds(bounded.totals.denied, truth.totals.denied)).toBe(true);
    expect(bounded.totals.denied.high).toBeLessThan(requests.length);
  });

  it('exactly, where it does not matter when in its second a request arrived', async () => {
    const limits = 'PerAddress: { count: 1, period: 10s, burst: 2, idFormat: ipAddress }\n';
    const { bounded } = await replayed([...burst(2, 0, 500), ...burst(6, 60_000, 60_900)], limits);
    expect(bounded.totals.denied).toEqual({ low: 4, high: 4 });
    expect(bounded.limits[0]).toMatchObject({ denied: { low: 4, high: 4 }, deniedIds: { low: 1, high: 1 } });
  });

  it.each(Array.from({ length: sized(6, 25) }, (_, seed) => seed))(
    'of random bursts, limits and overrides: seed %i',
    async (seed) => {
      const random = seededRandom(seed);
      const whole = (most: number): number => 1 + Math.floor(random() * most);
      const numbers = (): string => {
        const wait = random() < 0.2 ? `, maxWait: ${whole(3)}s` : '';
        return `count: ${whole(20)}, period: ${whole(4)}s, burst: ${2 + whole(20)}${wait}`;
      };
      const one = `PerAddress: { ${numbers()}, idFormat: ipAddress }\n`;
      const limits = random() < 0.4 ? one : `${one}Everyone: { ${numbers()}, idFormat: everyone }\n`;
      const overrides = `- PerAddress: { count: ${whole(9)}, period: ${whole(3)}s, burst: ${2 + whole(9)}, ids: [10.0.0.1] }\n- PerAddress: { blocked: true, ids: [10.0.0.2] }\n- PerAddress: { unlimited: true, ids: [10.0.0.3] }\n`;
      let ms = NOON;
      const requests = Array.from({ length: 60 }, () => {
        ms += Math.floor(random() ** 4 * 4000);
        const address = `10.0.0.${Math.floor(random() * 5)}`;
        return Array.from({ length: whole(12) }, () => ({ ms: (ms += Math.floor(random() * 60)), address }));
      }).flat();
      const cost = random() < 0.3 ? ['--cost', `/=${whole(2)}`] : [];
      const { truth, bounded } = await replayed(requests, limits, random() < 0.5 ? overrides : undefined, cost);
      expect(bounded.denials).toBe('bounds');
      expect(truth.denials).toBe('exact');
      expect(holds(bounded.totals.denied, truth.totals.denied)).toBe(true);
      for (const [i, { denied, deniedIds }] of truth.limits.entries()) {
        expect(holds(bounded.limits[i]?.denied, denied)).toBe(true);
        expect(holds(bounded.limits[i]?.deniedIds, deniedIds)).toBe(true);
      }
    },
  );

  it.each(Array.from({ length: sized(6, 25) }, (_, seed) => seed))(
    'also if it has how long requests took, in milliseconds: seed %i',
    async (seed) => {
      const random = seededRandom(seed);
      const whole = (most: number): number => 1 + Math.floor(random() * most);
      const numbers = `count: ${whole(20)}, period: ${whole(4)}s, burst: ${1 + whole(20)}`;
      let ms = NOON;
      const requests = Array.from({ length: 80 }, () => {
        ms += Math.floor(random() ** 4 * 4000);
        const address = `10.0.0.${Math.floor(random() * 4)}`;
        return Array.from({ length: whole(14) }, () => {
          return { ms: (ms += Math.floor(random() * 60)), address, tookMs: Math.floor(random() ** 3 * 3000) };
        });
      })
        .flat()
        .toSorted((a, b) => a.ms + a.tookMs - b.ms - b.tookMs);
      const written = files({
        limits: `PerAddress: { ${numbers}, idFormat: ipAddress }\n`,
        exact: requests.map((each) => timedLine(each, 3)).join(''),
        seconds: requests.map((each) => timedLine(each, 0)).join(''),
      });
      const args = ['--limits', written.limits, '--format', 'json'];
      const truth = await replayReport([written.exact, ...args]);
      const bounded = await replayReport([written.seconds, ...args]);
      expect([truth.denials, bounded.denials]).toEqual(['exact', 'bounds']);
      expect(bounded.input.time).toMatchObject({ resolution: 'second', moment: 'arrival' });
      expect(holds(bounded.totals.denied, truth.totals.denied)).toBe(true);
      expect(holds(bounded.limits[0]?.deniedIds, truth.limits[0]!.deniedIds)).toBe(true);
    },
  );

  it('as two different numbers, if it matters when in its second each request ended', async () => {
    const requests = Array.from({ length: 60 }, (_, i) => ({ ms: NOON + i * 100, address: '10.0.0.1', tookMs: 40 }));
    const limits = 'PerAddress: { count: 5, period: 1s, burst: 5, idFormat: ipAddress }\n';
    const written = files({ limits, log: requests.map((each) => timedLine(each, 0)).join('') });
    const { totals } = await replayReport([written.log, '--limits', written.limits, '--format', 'json']);
    expect(totals.denied.low).toBeLessThan(totals.denied.high);
    // Exactly 25 requests have tokens of 6 s, and 5 the burst.
    expect(holds(totals.denied, { low: 30, high: 30 })).toBe(true);
  });

  it.each([0, 1, 2, 3, 4])('and a suggestion that may deny nobody denies nobody at most: seed %i', async (seed) => {
    const random = seededRandom(seed);
    let ms = 0;
    const requests = Array.from({ length: 200 }, () => {
      ms += random() ** 3 * 9000;
      return burst(1 + Math.floor(random() * 9), ms, (ms += 700));
    }).flat();
    const { log } = files({ log: logOf(combinedLine, requests) });
    const { out } = await run(['suggest', log, '--key', 'ip', '--deny-at-most', '0%', '--json']);
    const { suggestions } = JSON.parse(out) as SuggestReport;
    expect(suggestions.length).toBeGreaterThan(0);
    for (const { denied, deniedIds } of suggestions) {
      expect({ denied, deniedIds }).toEqual({ denied: { low: 0, high: 0 }, deniedIds: { low: 0, high: 0 } });
    }
  });

  it.each([0, 1, 2])('also beside the durations of requests: seed %i', async (seed) => {
    const random = seededRandom(seed);
    let ms = NOON;
    const requests = Array.from({ length: 500 }, () => {
      ms += Math.floor(random() ** 8 * 9000);
      return { ms, address: '10.0.0.1', tookMs: Math.floor(random() ** 3 * 2500) };
    }).toSorted((a, b) => a.ms + a.tookMs - b.ms - b.tookMs);
    const { log } = files({ log: requests.map((each) => timedLine(each, 0)).join('') });
    const { out } = await run(['suggest', log, '--key', 'ip', '--deny-at-most', '0%', '--json']);
    const { suggestions } = JSON.parse(out) as SuggestReport;
    expect(suggestions.length).toBeGreaterThan(0);
    for (const { denied } of suggestions) expect(denied).toEqual({ low: 0, high: 0 });
  });

  it('or else two examples: for different costs, and for quotas', async () => {
    const limits = 'PerAddress: { count: 5, period: 1s, burst: 8, idFormat: ipAddress }\n';
    const requests = [{ ms: NOON, address: '10.0.0.1', path: '/dear' }, ...burst(20, 0, 900)];
    const { bounded } = await replayed(requests, limits, undefined, ['--cost', 'GET /dear=3']);
    expect(bounded.denials).toBe('examples');
    expect(bounded.notes.join('\n')).toContain('Two numbers are two examples, not bounds');
    const quota = 'PerAddress: { count: 5, per: day, idFormat: ipAddress }\n';
    expect((await replayed(requests, quota)).bounded.denials).toBe('examples');
  });
});
