import { describe, expect, it } from 'vitest';
import { run } from '../run.ts';
import { combinedLine, files, logOf, NOON } from './logs.ts';
import { replayReport } from './report.ts';

const LIMITS = `
PerAddress: { count: 1, period: 1m, idFormat: ipAddress }
Orders: { count: 3, period: 1m, idFormat: accountId }
Other: { count: 1, period: 1s, idFormat: everyone }
`;
const LOG = logOf(
  combinedLine,
  Array.from({ length: 5 }, (_, i) => ({ ms: NOON + 1000 * i, address: '203.0.113.7', path: '/orders' })),
);
const NO_SOURCE = 'it is not known where its ids come from. Give it a --key with ip, network, everyone,';

describe('sluice replay', () => {
  it('replays the other limits of a file if the ids of one are not known, and notes which is left out and why', async () => {
    const { limits } = files({ limits: LIMITS });
    const report = await replayReport(['-', '--limits', limits], { stdin: LOG });
    expect(report.limits.map(({ name }) => name)).toEqual(['PerAddress', 'Other']);
    expect(report.leftOut).toEqual([{ limit: 'Orders', reason: expect.stringContaining(NO_SOURCE) as string }]);
    const { code, out } = await run(['replay', '-', '--limits', limits], { stdin: LOG });
    expect(code).toBe(0);
    expect(out.replaceAll(/\s+/g, ' ')).toContain(`Orders is left out: ${NO_SOURCE}`);
  });

  it('decides the others exactly as without the limit that is left out', async () => {
    const { limits, alone } = files({ limits: LIMITS, alone: LIMITS.replace(/^Orders.*\n/m, '') });
    const [report, expected] = await Promise.all(
      [limits, alone].map((path) => replayReport(['-', '--limits', path], { stdin: LOG })),
    );
    expect({ ...report, leftOut: [], mostDenied: [] }).toEqual({ ...expected, mostDenied: [] });
  });

  it('leaves out what --leave-out names, also with rules for it', async () => {
    const { limits } = files({ limits: LIMITS });
    const rules = ['--only', 'Other=/orders', '--only', 'Orders=/orders', '--key', 'Other=everyone'];
    const words = ['-', '--limits', limits, '--leave-out', 'Other', '--leave-out', 'Orders', ...rules];
    const report = await replayReport(words, { stdin: LOG });
    expect(report.limits.map(({ name }) => name)).toEqual(['PerAddress']);
    expect(report.leftOut).toEqual([
      { limit: 'Orders', reason: 'because of --leave-out' },
      { limit: 'Other', reason: 'because of --leave-out' },
    ]);
  });

  it.each([
    [
      ['--leave-out', 'Odrers'],
      "`--leave-out` must be the name of a limit, but was 'Odrers'. Limits: PerAddress, Orders",
    ],
    [['--leave-out', 'PerAddress', '--leave-out', 'Other'], 'has no limit that this log can be replayed against.'],
  ])('rejects %j', async (words, message) => {
    const { limits } = files({ limits: LIMITS });
    const { code, err } = await run(['replay', '-', '--limits', limits, ...words], { stdin: LOG });
    expect({ code, err: err.replaceAll(/\s+/g, ' ') }).toEqual({
      code: 2,
      err: expect.stringContaining(message) as string,
    });
  });
});
