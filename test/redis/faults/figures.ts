import { SluiceError } from '@sluice/core';
import { HAMMERED } from './gateway.ts';
import { DEADLINE_MS, type Cell, type Observed } from './cell.ts';
import type { Answered } from './load.ts';
import type { Stalls } from './stalls.ts';

/** By how much the server's clock reading and the wall clock of the process may differ. */
const CLOCKS_MS = 3;

/** One row of the matrix. */
export interface Figures {
  readonly cell: Cell;
  /** How many requests got which status, e.g. `200: 410, 429: 320`. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Times of all answers, less the time for which the process itself stood still. */
  readonly p99Ms: number;
  readonly longestMs: number;
  /** The one of the two hammering clients that got nearest to its bound. */
  readonly admitted: number;
  /** What the documentation lets through at most; undefined when it sets no bound. */
  readonly bound: number | undefined;
  /** The share of it that the store let through, and its bound. */
  readonly admittedByStore: number;
  readonly storeBound: number;
  /**
   * How many decisions of `one` a policy made because the bucket of `two` was broken. Late answers are no such reason, nor
   * is an outage after three of them: on a machine with much other work, a sound server is late, too.
   */
  readonly hitByTwo: number;
  readonly recoveryMs: number | undefined;
  /** Probes that the server has charged. */
  readonly charged: number;
  /** Probes that it charged after the deadline. */
  readonly late: number;
  readonly latestMs: number;
  /** Requests that were charged more than once. */
  readonly twice: number;
  readonly hangs: number;
  readonly rejections: number;
  readonly closeMs: number;
}

/** What came of a cell. */
export function figuresOf(cell: Cell, observed: Observed): Figures {
  const { answers, charged, recoveryMs, stalls, rejections, closeMs } = observed;
  const answered = answers.filter((answer) => answer.answeredMs !== undefined);
  const lengths = answered.map((answer) => lengthMs(answer, stalls)).toSorted((a, b) => a - b);
  return {
    cell,
    statuses: statusesOf(answered),
    p99Ms: lengths[Math.floor(lengths.length * 0.99)] ?? 0,
    longestMs: lengths.at(-1) ?? 0,
    ...admissions(cell, observed),
    recoveryMs,
    charged: charged.length,
    late: charged.filter(({ afterMs }) => afterMs > DEADLINE_MS + CLOCKS_MS).length,
    latestMs: Math.max(0, ...charged.map(({ afterMs }) => afterMs)),
    twice: charged.filter(({ times }) => times > 1).length,
    hangs: answers.length - answered.length,
    rejections,
    closeMs,
  };
}

function lengthMs({ sentMs, answeredMs = 0 }: Answered, stalls: Stalls): number {
  return answeredMs - sentMs - stalls.within(sentMs, answeredMs);
}

function statusesOf(answers: readonly Answered[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1);
  return new Map([...counts].toSorted(([a], [b]) => a - b));
}

function admissions({ fault, policy }: Cell, { answers }: Observed) {
  const of = (account: string): Answered[] => answers.filter((answer) => answer.account === account);
  const hammering = [of('one'), of('two')];
  const spanMs = Math.max(...answers.map(({ answeredMs = 0 }) => answeredMs)) - answers[0]!.sentMs;
  const back = (HAMMERED.count * spanMs) / HAMMERED.periodMs;
  const storeBound = HAMMERED.burst * (fault.losesData ? 2 : 1) + back;
  const bounds = { local: storeBound + HAMMERED.burst + back, closed: storeBound, open: undefined };
  return {
    admitted: most(hammering.map((own) => own.filter(({ status }) => status === 200).length)),
    bound: floored(bounds[policy]),
    admittedByStore: most(
      hammering.map((own) => own.filter(({ status, decidedBy }) => status === 200 && decidedBy === 'store').length),
    ),
    storeBound: Math.floor(storeBound),
    hitByTwo: hammering[0]!.filter(({ cause }) => cause instanceof SluiceError && cause.code === 'ERR_STORE_BUCKET')
      .length,
  };
}

function most(counts: readonly number[]): number {
  return Math.max(...counts);
}

function floored(bound: number | undefined): number | undefined {
  return bound === undefined ? undefined : Math.floor(bound);
}
