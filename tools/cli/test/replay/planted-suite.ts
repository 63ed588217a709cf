import { describe, expect, it } from 'vitest';
import type { SuggestReport } from '../../src/replay/suggesting/suggest-report.ts';
import { runJson } from '../run.ts';
import { files } from './logs.ts';
import { PLANTED, plantedLog, slowCount } from './planted.ts';
import { replayReport } from './report.ts';

const LIMITS = `PerAddress: { count: ${PLANTED.perSecond}, period: 1s, burst: ${PLANTED.burst}, idFormat: ipAddress }\n`;

/** The promises about a log with a known truth, for a number of clients. */
export function plantedSuite(clients: number): void {
  describe(`a log of ${clients} clients with a known truth`, { timeout: 600_000 }, () => {
    it('is replayed with the counts of an independent count, and every attacker and nobody else is denied', async () => {
      const log = plantedLog({ clients, seed: 1 });
      const counted = slowCount(log.requests);
      expect(new Set(counted.ids.keys())).toEqual(log.attackers);
      const report = await replayReport([log.path, '--limits', files({ limits: LIMITS }).limits, '--show-ids']);
      const band = (count: number): object => ({ low: count, high: count });
      expect(report).toMatchObject({
        totals: { requests: log.requests.length, denied: band(counted.denied), deniedSuccesses: band(counted.denied) },
        limits: [{ ids: clients, deniedIds: band(log.attackers.size), sampling: 1 }],
      });
      const most = [...counted.ids.values()].toSorted((a, b) => b - a).slice(0, 10);
      expect(report.mostDenied.map(({ denied }) => denied.high)).toEqual(most);
      for (const { id, denied } of report.mostDenied) expect(counted.ids.get(id)).toBe(denied.high);
    });

    it('makes suggest propose the planted numbers within a factor of 1.5, at a price that a replay confirms', async () => {
      const log = plantedLog({ clients, seed: 2 });
      const { suggestions } = (await runJson(['suggest', log.path, '--deny-at-most', '1%'])) as SuggestReport;
      const [best] = suggestions;
      expect(best?.period).toBe('1s');
      for (const [suggested, planted] of [
        [best?.count, PLANTED.perSecond],
        [best?.burst, PLANTED.burst],
      ] as const) {
        expect(suggested).toBeGreaterThanOrEqual(planted / 1.5);
        expect(suggested).toBeLessThanOrEqual(planted * 1.5);
      }
      expect(suggestions).toHaveLength(3);
      for (const { yaml, requests, denied, deniedSuccesses, deniedIds } of suggestions) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const report = await replayReport([log.path, '--limits', files({ limits: yaml }).limits]);
        expect({ requests, denied, deniedSuccesses, deniedIds }).toEqual({
          requests: report.limits[0]?.requests,
          denied: report.limits[0]?.denied,
          deniedSuccesses: report.limits[0]?.deniedSuccesses,
          deniedIds: report.limits[0]?.deniedIds,
        });
        expect(deniedIds.high).toBeLessThanOrEqual(log.attackers.size);
      }
    });
  });
}
