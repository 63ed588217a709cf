import { FixedWindows, type Entry, type WindowDescriptor } from '../../../../test/proxies/fixed-window.ts';
import { envoyOf } from '../../../../test/service/envoy.ts';
import { served } from '../../../../test/service/served.ts';
import { run } from '../run.ts';
import type { ForeignFile } from './files.ts';

/** What came of a file of envoyproxy/ratelimit. */
export interface DomainsOutcome {
  readonly outcome: 'whole' | 'with notes' | 'refused';
  /** The notes, or the reason. */
  readonly said: string;
  /** How many descriptors were answered as by envoyproxy/ratelimit. */
  readonly asked: number;
  /** Those that were not. */
  readonly different: readonly unknown[];
}

interface Domain {
  readonly domain: string;
  readonly descriptors?: readonly WindowDescriptor[] | null;
}

const MORE_THAN_A_MONTH = 32 * 86_400_000;

/** Imports a file, and asks a service with what it became, and the rules of envoyproxy/ratelimit, the same. */
export async function domainsOutcome({ text, documents }: ForeignFile): Promise<DomainsOutcome> {
  const { code, out, err } = await run(['import', 'envoy', '-', '--as', 'window', '--json'], { stdin: text });
  if (out === '') return { outcome: 'refused', said: err, asked: 0, different: [] };
  const { limits, tables } = JSON.parse(out) as { limits: unknown; tables: unknown };
  const { servers, time } = await served(limits, tables);
  const envoy = envoyOf(servers.ports.grpc);
  const different: unknown[] = [];
  let asked = 0;
  for (const { domain, descriptors } of documents as readonly Domain[]) {
    const windows = new FixedWindows(descriptors ?? []);
    for (const request of requestsFor(descriptors ?? [])) {
      // A request that is denied takes nothing here, and there one of each descriptor. So those of several begin anew.
      if (request.length > 1) time.advance(MORE_THAN_A_MONTH);
      const seconds = Math.floor(time.wallNow() / 1000);
      const expected = windows.answers(request, seconds).map(({ isAllowed, limit, remaining, isShadow }) => {
        // What is denied has no number, as what is in shadow mode.
        const { requests_per_unit: most = 0, unit = '' } = limit ?? {};
        return isShadow || most === 0 ? [isAllowed] : [isAllowed, ...figures({ most, unit, remaining })];
      });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { statuses } = await envoy.ask({
        domain,
        descriptors: request.map((entries) => ({ entries: entries.map(([key, value]) => ({ key, value })) })),
      });
      const answers = statuses.map(({ code: status, current_limit: limit, limit_remaining: remaining }) =>
        limit === null
          ? [status === 'OK']
          : [status === 'OK', ...figures({ most: limit.requests_per_unit, unit: limit.unit, remaining })],
      );
      asked += request.length;
      // What is left after a denial differs for the same reason.
      const isDenied = request.length > 1 && expected.some(([isAllowed]) => isAllowed !== true);
      const [is, was] = isDenied
        ? [answers, expected].map((each) => each.map(([isAllowed]) => isAllowed))
        : [answers, expected];
      if (JSON.stringify(is) !== JSON.stringify(was)) different.push({ domain, request, expected, answers });
    }
  }
  return { outcome: code === 0 ? 'whole' : 'with notes', said: err, asked, different };
}

/** Numbers that are larger than ours can be have a note. */
function figures({ most, unit, remaining }: { most: number; unit: string; remaining: number }): readonly unknown[] {
  return most >= 16_000_000 ? ['large'] : [most, unit.toLowerCase(), remaining];
}

/**
 * Requests for all descriptors of a file: with values that fit, twice and others; with values that do not fit; and those that
 * replace beside those that are replaced.
 */
function requestsFor(descriptors: readonly WindowDescriptor[]): readonly (readonly (readonly Entry[])[])[] {
  const paths = [...pathsOf([], descriptors)];
  const alone = paths.flatMap((path) => [
    ...['one', 'one', 'two'].map((fill) => [entriesOf(path, fill)]),
    ...path.map((_, i) => [
      entriesOf(path, 'one').map(([key, value], at) => [key, at === i ? `${value}~` : value] as const),
    ]),
    [[...entriesOf(path, 'one'), ['more', 'x'] as const]],
  ]);
  const replacing = paths.filter((path) => (path.at(-1)!.rate_limit?.replaces ?? []).length > 0);
  const pairs = replacing.flatMap((path) =>
    paths.map((other) => [entriesOf(path, 'three'), entriesOf(other, 'three')]),
  );
  // One of the two is both: the same counter twice is one decision here.
  return [...alone, ...pairs.filter(([a, b]) => JSON.stringify(a) !== JSON.stringify(b))];
}

function* pathsOf(
  parent: readonly WindowDescriptor[],
  children: readonly WindowDescriptor[],
): Generator<readonly WindowDescriptor[]> {
  for (const child of children) {
    const path = [...parent, child];
    yield path;
    yield* pathsOf(path, child.descriptors ?? []);
  }
}

const METHODS: Readonly<Record<string, string>> = { one: 'GET', two: 'POST', three: 'PUT' };

function entriesOf(path: readonly WindowDescriptor[], fill: string): readonly Entry[] {
  return path.map(({ key: name, value }) => {
    const key = String(name);
    const pattern = String(value ?? '');
    // A path that begins with a slash has one spelling, and methods that are not registered have one bucket.
    const any = /path/i.test(key) ? `/${fill}` : /method/i.test(key) ? METHODS[fill]! : fill;
    return [key, pattern === '' ? any : pattern.replaceAll('*', fill)];
  });
}
