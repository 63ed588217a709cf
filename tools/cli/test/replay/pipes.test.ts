import { PassThrough, Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Terminal } from '../../src/console/terminal.ts';
import { runSluice } from '../../src/program.ts';
import type { ReplayReport } from '../../src/replay/counting/report.ts';
import { run } from '../run.ts';
import { combinedLine, files, logOf, NOON } from './logs.ts';

const LIMITS = 'PerAddress: { count: 60, period: 1m, burst: 3, idFormat: ipAddress }\n';
const LOG = logOf(
  combinedLine,
  Array.from({ length: 20 }, (_, i) => ({ ms: NOON + i * 100, address: `10.0.0.${i % 2}` })),
);

/** Replays what comes through a pipe in chunks. */
async function replayOf(chunks: readonly Uint8Array[]): Promise<ReplayReport> {
  const { limits } = files({ limits: LIMITS });
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const terminal = new Terminal(
    { stdin: Readable.from(chunks), stdout, stderr, env: {} },
    new AbortController().signal,
  );
  const code = await runSluice(['replay', '-', '--limits', limits, '--json'], terminal);
  if (code !== 0) throw new Error(String(stderr.read()));
  return JSON.parse(String(stdout.read())) as ReplayReport;
}

/** Cuts bytes into a first part and the rest. */
function cut(bytes: Buffer, at: number): Buffer[] {
  return [bytes.subarray(0, at), bytes.subarray(at)];
}

describe('sluice replay of a pipe', () => {
  it.each([0, 1, 2, 3, 40, 200])('reports the same if its first chunk has %d bytes', async (size) => {
    for (const bytes of [Buffer.from(LOG), gzipSync(LOG)]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const report = await replayOf(cut(bytes, size));
      expect(report.input).toMatchObject({ requests: 20, lines: 20, files: [{ format: 'combined' }] });
      expect(report.totals.denied.high).toBeGreaterThan(0);
    }
  });

  it('reports the same if each chunk has one byte', async () => {
    const bytes = Buffer.from(LOG);
    const report = await replayOf(Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)));
    expect(report.input).toMatchObject({ requests: 20, lines: 20 });
  });

  it('finds the first line after chunks of empty lines', async () => {
    const report = await replayOf([Buffer.from('\n\r\n'), Buffer.from('\r'), Buffer.from(`\n${LOG}`)]);
    expect(report.input).toMatchObject({ requests: 20, lines: 20 });
  });

  it('ends at Ctrl-C also while it waits for the first line', async () => {
    const { limits } = files({ limits: LIMITS });
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const controller = new AbortController();
    const stdin = Readable.from(
      (async function* () {
        yield Buffer.from(LOG.slice(0, 40));
        setImmediate(() => controller.abort());
        await new Promise(() => undefined);
      })(),
    );
    const terminal = new Terminal({ stdin, stdout, stderr, env: {} }, controller.signal);
    expect(await runSluice(['replay', '-', '--limits', limits, '--json'], terminal)).toBe(130);
    const report = JSON.parse(String(stdout.read())) as ReplayReport;
    expect(report).toMatchObject({ partial: ['interrupted by Ctrl-C'], totals: { requests: 0 } });
  });

  it('rejects a log whose first line is longer than 64 KiB, and does not wait for its end', async () => {
    const endless = Buffer.alloc(40_000, 'a');
    await expect(replayOf([endless, endless, Buffer.from(`\n${LOG}`)])).rejects.toThrow(
      'standard input has no known format: its first line is longer than 64 KiB.',
    );
    const { limits, log } = files({ limits: LIMITS, log: Buffer.alloc(500_000, 'a') });
    expect((await run(['replay', log, '--limits', limits])).code).toBe(2);
  });
});
