import { describe, expect, it } from 'vitest';
import { run } from '../run.ts';
import { DeniedRoutes } from '../../src/replay/counting/denied-routes.ts';
import { type ClientId, ClientTable } from '../../src/replay/keys/client-table.ts';
import { replayed } from './decisions.ts';
import { files, logOf, NOON, pinoLine, seededRandom } from './logs.ts';

const LIMITS = `PerAddress: { count: 1, period: 1s, burst: 4, idFormat: ipAddress }
Users: { count: 1, period: 1s, burst: 3, idFormat: accountId }\n`;
const USERS = 'Users=json:user.id';

function randomLog(): { requests: Parameters<typeof logOf>[1]; log: string } {
  const random = seededRandom(3);
  const requests = Array.from({ length: 3000 }, (_, i) => ({
    ms: NOON + i * 5,
    address: `10.0.0.${Math.floor(random() ** 2 * 40)}`,
    user: `u${Math.floor(random() ** 3 * 60)}`,
    path: `/${'abc'[Math.floor(random() * 3)]}`,
  }));
  return { requests, log: logOf(pinoLine, requests) };
}

describe('the routes of a replay', () => {
  it('have the requests and the distinct ids that each limit denied there', async () => {
    const { requests, log } = randomLog();
    const { decisions, report } = await replayed(files({ limits: LIMITS, log }), { keys: [USERS] });
    const expected = new Map<string, { requests: number; ids: Set<string> }>();
    for (const [i, decision] of decisions.entries()) {
      for (const { limit, id, allowed } of decision!.results) {
        if (allowed) continue;
        const name = `GET ${requests[i]?.path} ${limit}`;
        const counted = expected.get(name) ?? { requests: 0, ids: new Set<string>() };
        counted.requests++;
        counted.ids.add(id);
        expected.set(name, counted);
      }
    }
    expect(expected.size).toBe(6);
    const shown = report.routes.flatMap(({ route, limits }) =>
      limits.map(({ limit, denied, deniedIds }) => [`${route} ${limit}`, denied, deniedIds]),
    );
    expect(shown).toHaveLength(6);
    for (const [name, denied, ids] of shown) {
      const counted = expected.get(name as string)!;
      expect([name, denied, ids]).toEqual([
        name,
        { low: counted.requests, high: counted.requests },
        { low: counted.ids.size, high: counted.ids.size },
      ]);
    }
  });

  it('are shown with their distinct ids, for each limit if there are several', async () => {
    const paths = files({ limits: LIMITS, log: randomLog().log });
    const { out } = await run(['replay', paths.log, '--limits', paths.limits, '--key', USERS]);
    expect(out).toMatch(/GET \/a: \d+ of \d+ \(\d+ %\), \d+ ids of PerAddress, \d+ ids of Users\n/);
  });
});

describe('DeniedRoutes', () => {
  /** Clients of a table, and what is counted of their denials. */
  function clientsOf(table: ClientTable, names: string, count: number): ClientId[] {
    return Array.from({ length: count }, (_, i) => {
      const text = `${names}${i}`;
      return { text, ...table.placeOf(text) };
    });
  }
  const isKept = (table: ClientTable, client: ClientId): boolean => table.rowOf(client) !== -1;

  it('counts the clients that are in the table, also when rows have had other clients', () => {
    // Rows are chosen by a keyed hash, so that their number differs by chance: of so many, no run has only ten.
    const table = new ClientTable(256, 1);
    const routes = new DeniedRoutes(table, 0);
    const deny = (client: ClientId, route: number): void => {
      routes.add(client, route);
      if (isKept(table, client)) for (const column of [table.requests, ...table.denied]) column[client.row] = 1;
    };
    const denied: ClientId[] = [];
    for (const [names, count] of [
      ['early', 60],
      ['later', 4000],
    ] as const) {
      // Those that come later get rows of clients that were denied before.
      for (const client of clientsOf(table, names, count)) {
        const i = denied.push(client) - 1;
        for (const route of [i % 200, (i * 7) % 200]) deny(client, route);
      }
    }
    // Clients without denials, which get rows of others.
    for (const client of clientsOf(table, 'never', 4000)) if (isKept(table, client)) table.requests[client.row] = 1;
    const kept = denied.map((client, i) => ({ client, i })).filter(({ client }) => isKept(table, client));
    for (const client of denied) if (!isKept(table, client)) deny(client, 5);
    expect(table.sampling).toBeGreaterThan(16);
    expect(kept.length).toBeGreaterThan(10);
    const expected = Array.from({ length: 200 }, (_, route) => {
      return kept.filter(({ i }) => i % 200 === route || (i * 7) % 200 === route).length;
    });
    expect(routes.clients()).toEqual(expected);
    expect(routes.requests.reduce((sum, count) => sum + count, 0)).toBe(8120 + 4060 - kept.length);
  });

  it('finds room for the rows of all clients', () => {
    const table = new ClientTable(10_000, 1);
    const routes = new DeniedRoutes(table, 0);
    for (const client of clientsOf(table, 'a', 9000)) {
      routes.add(client, 199);
      for (const column of [table.requests, ...table.denied]) column[client.row] = 1;
    }
    expect(routes.clients()[199]).toBe(9000);
  });
});
