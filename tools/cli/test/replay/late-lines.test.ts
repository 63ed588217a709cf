import { PassThrough, Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Terminal } from '../../src/console/terminal.ts';
import { runSluice } from '../../src/program.ts';
import type { ReplayReport } from '../../src/replay/counting/report.ts';
import { files, logOf, NOON, pinoLine, seededRandom, type Logged } from './logs.ts';
import { replayReport } from './report.ts';
import { sized } from '../../../../test/sized.ts';

const LIMITS = 'PerAddress: { count: 60, period: 1m, burst: 3, idFormat: ipAddress }\n';

/** Requests of some minutes, of which some are written up to two minutes too late. */
function disordered(seed: number): { readonly log: string; readonly late: number } {
  const random = seededRandom(seed);
  const requests = Array.from({ length: sized(3000, 8000) }, (_, i): Logged => {
    const isOld = i > 200 && random() < 0.02;
    return { ms: NOON + i * 100 - (isOld ? Math.floor(random() * 120_000) : 0), address: `10.0.0.${i % 7}` };
  });
  let [latest, late] = [-Infinity, 0];
  for (const { ms } of requests) {
    if (ms < latest - 60_000) late++;
    latest = Math.max(latest, ms);
  }
  return { log: logOf(pinoLine, requests), late };
}

/** Replays what comes through a pipe in parts of some bytes. */
async function piped(log: Buffer, size: number, limits: string): Promise<ReplayReport> {
  const parts = Array.from({ length: Math.ceil(log.length / size) }, (_, i) => log.subarray(i * size, (i + 1) * size));
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const streams = { stdin: Readable.from(parts), stdout, stderr, env: {} };
  await runSluice(['replay', '-', '--limits', limits, '--json'], new Terminal(streams, new AbortController().signal));
  return JSON.parse(String(stdout.read())) as ReplayReport;
}

describe('a request more than 60 s older than one before it', () => {
  it.each([1, 2])('is left out, and no other, however the log is read: seed %i', async (seed) => {
    const { log, late } = disordered(seed);
    const bytes = Buffer.from(log);
    const { limits, plain, packed } = files({ limits: LIMITS, plain: log, packed: gzipSync(bytes) });
    const reports = await Promise.all([
      replayReport([plain, '--limits', limits]),
      replayReport([packed, '--limits', limits]),
      piped(bytes, 100, limits),
      piped(bytes, 70_000, limits),
      piped(bytes, bytes.length, limits),
      piped(gzipSync(bytes), 1000, limits),
    ]);
    expect(late).toBeGreaterThan(20);
    expect(reports.map(({ input }) => input.late)).toEqual(reports.map(() => late));
    expect(new Set(reports.map(({ totals }) => totals.denied.low)).size).toBe(1);
  });

  it('is left out if it is older than one of the same log, whatever other logs have', async () => {
    const { log, late } = disordered(3);
    const other = logOf(pinoLine, [
      { ms: NOON - 1000, address: '10.0.1.1' },
      { ms: NOON + 300_000, address: '10.0.1.1' },
      { ms: NOON + 900_000, address: '10.0.1.1' },
    ]);
    const { limits, one, two } = files({ limits: LIMITS, one: log, two: other });
    expect((await replayReport([one, two, '--limits', limits])).input.late).toBe(late);
  });
});
