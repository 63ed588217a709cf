import type { Console } from '../../console/console.ts';
import { durationText } from '../../console/number-text.ts';
import type { AlgorithmReport, ClientReport, SimulationReport } from './report.ts';

/** What lines for people need of a console. */
type Styles = Pick<Console, 'styled'>;

/** Returns a report as lines for people. */
export function simulationLines({ title, clients }: SimulationReport, console: Styles): string[] {
  return [console.styled('bold', title), ...clients.flatMap((client) => clientLines(client, console))];
}

/** Returns the title of a client's table: how many requests it had, and at which limits. */
export function captionOf({ client, copies, limits, requests }: ClientReport): string {
  const many = copies === 1 ? client : `${copies} × ${client}`;
  return `${many}: ${requests} ${requests === 1 ? 'request' : 'requests'} at ${limits.join(' and ')}`;
}

/** Returns the titles of the columns. */
export function columnsOf({ withinMs }: ClientReport): readonly string[] {
  return ['algorithm', 'allowed', 'denied', `most in ${durationText(withinMs)}`, 'last continues after'];
}

/** Returns the figures of an algorithm as texts, in the order of the columns. */
export function cellsOf({ algorithm, allowed, denied, mostWithin, lastMs }: AlgorithmReport): readonly string[] {
  return [algorithm, ...[allowed, denied, mostWithin].map(String), lastMs === null ? '–' : durationText(lastMs)];
}

function clientLines(client: ClientReport, console: Styles): string[] {
  const rows = [columnsOf(client), ...client.results.map(cellsOf)];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map(([name = '', ...figures]) => {
    const padded = figures.map((text, i) => text.padStart(widths[i + 1]!));
    return `  ${[name.padEnd(widths[0]!), ...padded].join('  ')}`;
  });
  return ['', captionOf(client), console.styled('dim', lines[0]!), ...lines.slice(1)];
}

/** Returns the result in words, for readers who can't see the picture. */
export function descriptionOf({ client, requests, results }: ClientReport): string {
  const outcomes = results.map((result) => `${result.algorithm} allows ${cellsOf(result)[1]}`);
  return `Of ${requests} requests of ${client}, ${outcomes.join(', ')}.`;
}
