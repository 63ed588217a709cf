import { cellsOf } from '../counting/report-lines.ts';
import type { ClientReport } from '../counting/report.ts';

/** Returns the result in words, for readers who can't see the picture. */
export function descriptionOf({ client, requests, results }: ClientReport): string {
  const outcomes = results.map((result) => `${result.algorithm} allows ${cellsOf(result)[1]}`);
  return `Of ${requests} requests of ${client}, ${outcomes.join(', ')}.`;
}
