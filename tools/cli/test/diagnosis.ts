import { expect } from 'vitest';
import type { Examined } from '../src/doctor/finding.ts';
import { run } from './run.ts';

/** Whatever the machine does meanwhile, no round trip takes a third of that. */
const PATIENT = ['--deadline', '60s'];

/** What `sluice doctor` has found. */
export interface Diagnosis {
  readonly code: number;
  /** `check: found`, of all that is wrong. */
  readonly wrong: readonly string[];
  /** What was only noted. */
  readonly notes: readonly string[];
}

/** Runs `sluice doctor`. Each finding must have a remedy that is a sentence. */
export async function diagnosis(options: readonly string[]): Promise<Diagnosis> {
  const { code, out, err } = await run(['doctor', ...PATIENT, ...options, '--json']);
  expect(err).toBe('');
  const { examined } = JSON.parse(out) as { examined: Examined[] };
  const all = examined.flatMap(({ findings }) => findings);
  expect(all.filter(({ verdict, remedy }) => verdict === 'wrong' && !remedy?.endsWith('.'))).toEqual([]);
  const of = (verdict: string): string[] =>
    all.filter((each) => each.verdict === verdict).map(({ check, found, remedy }) => `${check}: ${found}. ${remedy}`);
  return { code, wrong: of('wrong'), notes: of('note') };
}
