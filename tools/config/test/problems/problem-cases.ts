import { CONCURRENCY_PROBLEMS } from './concurrency-problems.ts';
import { LIMIT_PROBLEMS } from './limit-problems.ts';
import { LOAD_PROBLEMS } from './load-problems.ts';
import { NUMBER_PROBLEMS } from './number-problems.ts';
import { OVERRIDE_PROBLEMS } from './override-problems.ts';
import type { ProblemCase } from './problem-case.ts';
import { TEXT_PROBLEMS } from './text-problems.ts';

/** Every problem that a file can have. */
export const PROBLEM_CASES: readonly ProblemCase[] = [
  ...LIMIT_PROBLEMS,
  ...CONCURRENCY_PROBLEMS,
  ...LOAD_PROBLEMS,
  ...NUMBER_PROBLEMS,
  ...OVERRIDE_PROBLEMS,
  ...TEXT_PROBLEMS,
];
