import { describe } from 'vitest';
import { callbackCases } from './cases/callbacks.ts';
import { errorCases } from './cases/errors.ts';
import { fieldCases } from './cases/fields.ts';
import { limitCases } from './cases/limits.ts';
import { refusalCases } from './cases/refusals.ts';
import type { Framework } from './framework.ts';

const CASES = {
  limits: limitCases,
  fields: fieldCases,
  refusals: refusalCases,
  callbacks: callbackCases,
  errors: errorCases,
};

/** What every adapter promises, on its framework over real sockets. */
export function httpContract(framework: Framework): void {
  for (const [topic, cases] of Object.entries(CASES)) describe(`${framework.name}: ${topic}`, () => cases(framework));
}
