import { DEADLINE_MS } from './cell.ts';
import type { Figures } from './figures.ts';

const ANSWER_WITHIN_MS = DEADLINE_MS + 20;
const RECOVERY_WITHIN_MS = 2000;
const CLOSE_WITHIN_MS = 500;

/** The promises that a cell broke, each as a sentence; none when all were kept. */
export function brokenPromises(figures: Figures): string[] {
  const { cell, statuses, recoveryMs, bound } = figures;
  const allowed = new Set(cell.policy === 'closed' ? [200, 429, 503] : [200, 429]);
  const strange = [...statuses.keys()].filter((status) => !allowed.has(status));
  const promises: [boolean, string][] = [
    [
      figures.longestMs <= ANSWER_WITHIN_MS,
      `an answer took ${Math.ceil(figures.longestMs)} ms, more than ${ANSWER_WITHIN_MS}`,
    ],
    [strange.length === 0, `there were answers with status ${strange.join(', ')}`],
    [bound === undefined || figures.admitted <= bound, `${figures.admitted} were admitted, more than ${bound}`],
    [
      figures.admittedByStore <= figures.storeBound,
      `the store admitted ${figures.admittedByStore}, more than ${figures.storeBound}`,
    ],
    [
      figures.hitByTwo === 0,
      `${figures.hitByTwo} decisions of a sound bucket were left to the policy for another bucket`,
    ],
    [recoveryMs !== undefined, 'the store did not decide again'],
    [(recoveryMs ?? 0) <= RECOVERY_WITHIN_MS, `recovery took ${Math.ceil(recoveryMs ?? 0)} ms`],
    [figures.charged > 0, 'the server shows no charge at all'],
    [figures.late === 0, `${figures.late} were charged after the deadline, up to ${Math.ceil(figures.latestMs)} ms`],
    [figures.twice === 0, `${figures.twice} were charged twice`],
    [figures.hangs === 0, `${figures.hangs} were never answered`],
    [figures.rejections === 0, `${figures.rejections} rejections were not handled`],
    [figures.closeMs <= CLOSE_WITHIN_MS, `closing took ${Math.ceil(figures.closeMs)} ms`],
  ];
  return promises.flatMap(([kept, sentence]) => (kept ? [] : [sentence]));
}
