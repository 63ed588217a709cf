import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { run } from '../run.ts';
import { combinedLine, files, logOf, NOON, pinoLine, type Logged } from './logs.ts';
import { replayReport } from './report.ts';
import { sized } from '../../../../test/sized.ts';

const LIMITS = 'PerAddress: { count: 60, period: 1m, burst: 3, idFormat: ipAddress }\n';
const DAY_MS = 86_400_000;
/** A multiple of a hundred. */
const MANY = sized(600, 2000);
const REQUESTS: readonly Logged[] = Array.from({ length: MANY }, (_, i) => ({
  ms: NOON + i * 100,
  address: `10.0.0.${i % 90}`,
}));

/** Requests with one of another time among them. */
function withJump(at: number, ms: number): Logged[] {
  return REQUESTS.toSpliced(at, 0, { ms, address: '10.0.0.1' });
}

describe('sluice replay of a log with a jump in its times', () => {
  it.each([
    ['a year ahead in the middle', MANY / 2, NOON + 365 * DAY_MS],
    ['two hours ahead in the middle', MANY / 2, NOON + 7_200_000],
    ['a year ahead in the first line', 0, NOON + 365 * DAY_MS],
    ['1970 in the first line', 0, 0],
    ['a year ahead in the last line', MANY, NOON + 365 * DAY_MS],
  ])('skips a lone line of %s, and keeps all others', async (_, at, ms) => {
    const { limits, log } = files({ limits: LIMITS, log: logOf(combinedLine, withJump(at, ms)) });
    const { input, partial } = await replayReport([log, '--limits', limits]);
    expect(input).toMatchObject({
      requests: MANY,
      late: 0,
      fromMs: NOON,
      toMs: NOON + Math.floor((MANY - 1) / 10) * 1000,
    });
    expect(input.skipped).toMatchObject({ 'far from the times of its neighbours': 1 });
    expect(input.examples).toMatchObject([{ line: at + 1, reason: 'far from the times of its neighbours' }]);
    expect(partial).toEqual([]);
    expect((await run(['replay', log, '--limits', limits])).code).toBe(0);
  });

  it('keeps all requests of a log with a night and a week without requests, and of one request a day', async () => {
    const pauses = [0, DAY_MS / 3, 8 * DAY_MS].flatMap((pause) =>
      REQUESTS.map(({ ms, address }) => ({ ms: ms + pause, address })),
    );
    const days = Array.from({ length: 40 }, (_, day) => ({ ms: NOON + (10 + day) * DAY_MS, address: '10.0.0.1' }));
    const { limits, log } = files({ limits: LIMITS, log: logOf(combinedLine, [...pauses, ...days]) });
    const { input, totals, partial } = await replayReport([log, '--limits', limits]);
    expect({ requests: totals.requests, late: input.late, partial }).toEqual({
      requests: 3 * MANY + 40,
      late: 0,
      partial: [],
    });
  });

  it('reports logs that are joined in the wrong order at the top, and exits with 1', async () => {
    const later = Array.from({ length: 5 * MANY }, (_, i) => ({ ms: NOON + DAY_MS + i * 10, address: '10.0.0.1' }));
    const { limits, log, page } = files({ limits: LIMITS, log: logOf(pinoLine, [...later, ...REQUESTS]), page: '' });
    const first = `PART OF THE LOG: ${MANY} of ${6 * MANY} requests (17 %) are more than 60 s older than a line before them`;
    const { code, out } = await run(['replay', log, '--limits', limits, '--html', page]);
    expect([code, out.split('\n')[0]]).toEqual([1, expect.stringContaining(first)]);
    expect(readFileSync(page, 'utf8')).toMatch(
      new RegExp(`about a part of the log only.*${MANY} of ${6 * MANY} requests`, 's'),
    );
    const { partial, input } = await replayReport([log, '--limits', limits]);
    expect([partial.length, input.late]).toEqual([1, MANY]);
  });

  it('reports a log of which more than 1 % could not be read at the top, and exits with 1', async () => {
    const bad = 'no log\n'.repeat(MANY / 100 + 1);
    const { limits, log } = files({ limits: LIMITS, log: logOf(pinoLine, REQUESTS) + bad });
    const { code, out } = await run(['replay', log, '--limits', limits]);
    expect([code, out.split('\n')[0]]).toEqual([
      1,
      expect.stringContaining(
        `${MANY / 100 + 1} of ${MANY + MANY / 100 + 1} lines (1.${MANY < 1000 ? 2 : 0} %) could not be read`,
      ),
    ]);
    expect((await run(['suggest', log])).code).toBe(1);
    const enough = files({ limits: LIMITS, log: logOf(pinoLine, REQUESTS) + 'no log\n'.repeat(MANY / 100) });
    expect((await run(['replay', enough.log, '--limits', enough.limits])).code).toBe(0);
  });

  it('merges logs of which one begins with a wrong time', async () => {
    const { limits, first, second } = files({
      limits: LIMITS,
      first: logOf(pinoLine, withJump(0, NOON + 365 * DAY_MS)),
      second: logOf(pinoLine, REQUESTS),
    });
    const { input } = await replayReport([first, second, '--limits', limits]);
    expect(input).toMatchObject({ requests: 2 * MANY, late: 0 });
  });
});
