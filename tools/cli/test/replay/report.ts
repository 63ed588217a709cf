import type { ReplayReport } from '../../src/replay/counting/report.ts';
import { run, type Given } from '../run.ts';

/** Runs `sluice replay --json` and returns its report. */
export async function replayReport(args: readonly string[], given?: Given): Promise<ReplayReport> {
  const { out, err } = await run(['replay', ...args, '--json'], given);
  if (out === '') throw new Error(err);
  return JSON.parse(out) as ReplayReport;
}
