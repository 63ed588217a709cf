import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { NOON, pinoLine, seededRandom, type Logged } from './logs.ts';

/** The numbers that every honest client of the planted log keeps, and every attacker exceeds. */
export const PLANTED = { perSecond: 2, burst: 20 } as const;
const MS_PER_TOKEN = 1000 / PLANTED.perSecond;
const HOUR_MS = 3_600_000;
/** Nothing is logged while a new version is deployed. */
const DEPLOY = { from: 1_500_000, to: 1_560_000 };

/** A log with a known truth. */
export interface PlantedLog {
  readonly path: string;
  readonly requests: readonly Logged[];
  readonly clients: number;
  readonly attackers: ReadonlySet<string>;
}

/** The five kinds of attackers: the milliseconds at which each sends its requests, from its start. */
const ATTACKS: readonly ((random: () => number) => number[])[] = [
  // Everything at once.
  () => Array.from({ length: 150 }, (_, i) => i * 3),
  // A script without a pause.
  () => Array.from({ length: 400 }, (_, i) => i * 100),
  // Passwords: a burst each minute.
  () => Array.from({ length: 240 }, (_, i) => Math.floor(i / 60) * 60_000 + (i % 60) * 10),
  // A scraper that is a bit too fast for long.
  () => Array.from({ length: 700 }, (_, i) => i * 250),
  // Random bursts.
  (random) => Array.from({ length: 300 }, () => Math.floor(random() * 20_000)).toSorted((a, b) => a - b),
];

/**
 * Writes a log of an hour: 1 % attackers of five kinds, offices that share an address and use all that is allowed, a crawler, a
 * deployment during which nothing is logged, and people.
 */
export function plantedLog({ clients, seed }: { readonly clients: number; readonly seed: number }): PlantedLog {
  const random = seededRandom(seed);
  const attackers = new Set<string>();
  const requests: Logged[] = [];
  for (let client = 0; client < clients; client++) {
    const address = `10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`;
    const start = NOON + Math.floor(random() * (HOUR_MS - 600_000));
    const isAttacker = client % 100 === 0;
    if (isAttacker) attackers.add(address);
    const attack = isAttacker ? ATTACKS[(client / 100) % ATTACKS.length] : undefined;
    const times = attack?.(random) ?? kept(honest(client, random));
    for (const ms of times)
      requests.push({ ms: afterDeploy(start + ms, isAttacker), address, path: `/p/${client % 9}` });
  }
  const sorted = requests.toSorted((a, b) => a.ms - b.ms);
  return { path: writtenLog(sorted), requests: sorted, clients, attackers };
}

/** What an honest client would like to send. */
function honest(client: number, random: () => number): number[] {
  // An office: for five minutes more than is allowed.
  if (client % 500 === 1) return Array.from({ length: 900 }, (_, i) => i * 300);
  // A crawler: one page in 600 ms, all the time.
  if (client === 2) return Array.from({ length: 900 }, (_, i) => i * 600);
  return Array.from({ length: 1 + Math.floor(random() * 8) }, () => Math.floor(random() * 30_000)).toSorted(
    (a, b) => a - b,
  );
}

/** The requests that a bucket with the planted numbers allows. */
function kept(times: readonly number[]): number[] {
  let [left, last] = [PLANTED.burst * MS_PER_TOKEN, 0];
  return times.filter((ms) => {
    left = Math.min(PLANTED.burst * MS_PER_TOKEN, left + ms - last);
    last = ms;
    if (left < MS_PER_TOKEN) return false;
    left -= MS_PER_TOKEN;
    return true;
  });
}

/** Honest clients that meet the deployment come after it, with the same distances. Attackers do not wait. */
function afterDeploy(ms: number, isAttacker: boolean): number {
  return !isAttacker && ms - NOON >= DEPLOY.from ? ms + DEPLOY.to - DEPLOY.from : ms;
}

function writtenLog(requests: readonly Logged[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-planted-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'access.log');
  const file = openSync(path, 'w');
  for (let i = 0; i < requests.length; i += 10_000) {
    writeSync(
      file,
      requests
        .slice(i, i + 10_000)
        .map((request) => `${pinoLine(request)}\n`)
        .join(''),
    );
  }
  closeSync(file);
  return path;
}

/** Who is denied by the planted numbers: the rule as it is in a textbook, without any code of Sluice. */
export function slowCount(requests: readonly Logged[]): { denied: number; ids: Map<string, number> } {
  const buckets = new Map<string, { left: number; ms: number }>();
  const ids = new Map<string, number>();
  let denied = 0;
  for (const { ms, address } of requests) {
    const bucket = buckets.get(address) ?? { left: PLANTED.burst * MS_PER_TOKEN, ms };
    buckets.set(address, bucket);
    bucket.left = Math.min(PLANTED.burst * MS_PER_TOKEN, bucket.left + ms - bucket.ms);
    bucket.ms = ms;
    if (bucket.left >= MS_PER_TOKEN) bucket.left -= MS_PER_TOKEN;
    else {
      denied++;
      ids.set(address, (ids.get(address) ?? 0) + 1);
    }
  }
  return { denied, ids };
}
