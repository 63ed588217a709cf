import { PassThrough } from 'node:stream';
import { loadWithoutKeys } from '@sluice/config';
import type { Decision } from '@sluice/core';
import { Console } from '../../src/console/console.ts';
import { Terminal } from '../../src/console/terminal.ts';
import { replay, type ReplayOptions } from '../../src/replay/replay.ts';
import type { ReplayReport } from '../../src/replay/counting/report.ts';

/** What a replay decided, request by request in the order of their arrivals, and its report. */
interface Replayed {
  readonly decisions: readonly (Decision | undefined)[];
  readonly report: ReplayReport;
}

/** Replays a log against a file of limits. */
export async function replayed(
  paths: { readonly limits: string; readonly log: string; readonly overrides?: string },
  options: Partial<ReplayOptions> = {},
): Promise<Replayed> {
  const decisions: (Decision | undefined)[] = [];
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough(), env: {} };
  const report = await replay(
    {
      files: [paths.log],
      loaded: await loadWithoutKeys({
        defaults: paths.limits,
        ...(paths.overrides !== undefined && { overrides: paths.overrides }),
      }),
      format: undefined,
      fields: [],
      durationUnit: undefined,
      trustedProxies: undefined,
      addressHeader: undefined,
      keys: [],
      costs: [],
      routes: [],
      leaveOut: [],
      only: [],
      showIds: false,
      denyAtMost: 0.001,
      observe: (pass, decision) => void (pass === 0 && decisions.push(decision)),
      ...options,
    },
    new Console(new Terminal(streams, new AbortController().signal), { isJson: true }),
  );
  return { decisions, report };
}
