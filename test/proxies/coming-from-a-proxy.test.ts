import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLimiter, everyone, memoryStore } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { parse } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf, type Row } from '../docs/page-tables.ts';
import { reservedPort } from '../redis/servers/port.ts';
import { Program } from './program.ts';
import { AT_MS, AT_ONCE, volleys, type Outcome } from './volleys.ts';

const PAGE = 'coming-from-a-proxy.md';
const page = readFileSync(new URL(`../../docs/${PAGE}`, import.meta.url), 'utf8');

/** The columns of what was sent at each of the instants. */
const SENT = ['at once', 'after 1,250 ms', 'after 2,750 ms'] as const;
const measured = (heading: string): readonly Row[] => rowsOf(PAGE, heading).filter((row) => SENT[0] in row);
const NGINX = measured('nginx');
const [SLUICE, HAPROXY] = partOf(measured('HAProxy'), (row) => row['']!.includes('count:'));
const SERVED = [...NGINX, ...HAPROXY];
/** The numbers of Sluice for a row. */
const numbersOf = (row: Row): RateNumbers =>
  parse(`{ ${(row['here'] ?? SLUICE[0]![''])!.replaceAll('`', '')} }`) as RateNumbers;

interface RateNumbers {
  readonly count: number;
  readonly period: string;
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-limits-of-proxies-'));
const programs: Program[] = [];
/** What the servers let through, in the order of the rows. */
let outcomes: readonly (readonly Outcome[])[];
beforeAll(async () => {
  const port = await reservedPort();
  const ports = await Promise.all(HAPROXY.map(() => reservedPort()));
  await Promise.all([startNginx(port), startHaproxy(ports)]);
  outcomes = await volleys(
    SERVED.map((row, i) => {
      const instants = figuresOf(row).length;
      // The figures change where a token comes back. Except for the first, the instants are in the middle between two.
      const lateMs = tickMs(row) * (instants === 1 ? 0.8 : 0.4);
      return { port: i < NGINX.length ? port : ports[i - NGINX.length]!, path: `/${i}`, instants, lateMs };
    }),
  );
});
afterAll(async () => {
  await Promise.all(programs.map((program) => program.stop('SIGKILL')));
  rmSync(folder, { recursive: true, force: true });
});

test.each(SERVED.map((row, i) => [row['nginx'] ?? row['']!, row, i] as const))(
  '%s lets through what the page says, and as late',
  (_name, row, i) => {
    const figures = figuresOf(row);
    const served = outcomes[i]!.map(({ allowed, waitMs }) => ({ allowed, waitMs: roundedTo(500, waitMs) }));
    expect(withFirstWait(served)).toEqual(figures);
  },
);

test.each([...NGINX, ...SLUICE, ...measured('Traefik')].map((row) => [row['here'] ?? row['']!, row] as const))(
  '%s decides what the page says',
  async (_name, row) => {
    const figures = figuresOf(row);
    expect(withFirstWait(await decided(numbersOf(row))).slice(0, figures.length)).toEqual(figures);
  },
);

test('the first example of nginx is one of the rows', () => {
  const [, rate] = /zone=clients:10m (rate=.+);/.exec(page)!;
  const [, burst] = /limit_req zone=clients (.+);/.exec(page)!;
  expect(NGINX.map((row) => row['nginx'])).toContain(`\`${rate} ${burst}\``);
});

/** What Sluice decides on the same requests. */
async function decided(numbers: RateNumbers): Promise<readonly Outcome[]> {
  const time = new FakeTime();
  const limits = { Requests: { key: everyone(), ...numbers } };
  const limiter = createLimiter({ limits, time, store: memoryStore({ time }) });
  const outcomesHere: Outcome[] = [];
  for (const [i, atMs] of AT_MS.entries()) {
    time.advance(atMs - (AT_MS[i - 1] ?? 0));
    // oxlint-disable-next-line no-await-in-loop -- one instant after the other
    const decisions = await Promise.all(
      Array.from({ length: AT_ONCE }, () => limiter.spend([{ limit: 'Requests', id: 'everyone' }])),
    );
    const allowed = decisions.filter((decision) => decision.allowed);
    outcomesHere.push({ allowed: allowed.length, waitMs: Math.max(0, ...allowed.map(({ delayMs }) => delayMs)) });
  }
  await limiter.close();
  return outcomesHere;
}

/** The figures of a row, such as `21 in 1.2 s`. */
function figuresOf(row: Row): readonly Outcome[] {
  return SENT.flatMap((column) => {
    const [, allowed, seconds = 0] = /^(\d+)(?: in ([\d.]+) s)?$/.exec(row[column] ?? '') ?? [];
    return allowed === undefined ? [] : [{ allowed: Number(allowed), waitMs: Number(seconds) * 1000 }];
  });
}

/** The page says how long the first ones wait, and not how long the others do. */
function withFirstWait(all: readonly Outcome[]): readonly Outcome[] {
  return all.map((outcome, i) => (i === 0 ? outcome : { ...outcome, waitMs: 0 }));
}

/** How long a token takes to come back. */
function tickMs(row: Row): number {
  const { count, period } = numbersOf(row);
  return (Number.parseFloat(period) * 1000) / count;
}

function roundedTo(unit: number, value: number): number {
  return Math.round(value / unit) * unit;
}

function partOf<Item>(items: readonly Item[], isOfFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isOfFirst), items.filter((item) => !isOfFirst(item))];
}

async function startNginx(port: number): Promise<void> {
  writeFileSync(join(folder, 'nginx.conf'), nginxConfiguration(port));
  const global = `daemon off; pid ${folder}/nginx.pid; master_process off;`;
  const args = ['-p', folder, '-c', `${folder}/nginx.conf`, '-e', 'stderr', '-g', global];
  programs.push(await Program.start('nginx', args, port, folder));
}

/** Starts it with the parts of the page. */
async function startHaproxy(ports: readonly number[]): Promise<void> {
  const parts = [...page.matchAll(/^```text\n([\s\S]*?)^```/gm)].map(([, part = '']) => part);
  const placed = HAPROXY.map((row, i) => {
    const part = parts.find((each) => each.startsWith(`frontend ${row['']!.replaceAll('`', '')}\n`))!;
    return part.replace(/bind :\d+/, `bind 127.0.0.1:${ports[i]}`);
  });
  writeFileSync(join(folder, 'haproxy.cfg'), [HAPROXY_REST, ...placed].join('\n'));
  programs.push(await Program.start('haproxy', ['-f', 'haproxy.cfg'], ports[0]!, folder));
}

function nginxConfiguration(port: number): string {
  const rows = NGINX.map((row) => row['nginx']!.replaceAll('`', '').split(' '));
  const zones = rows.map(([rate], i) => `limit_req_zone $binary_remote_addr zone=row${i}:1m ${rate};`);
  const locations = rows.map(
    ([, ...burst], i) => `location /${i} { limit_req zone=row${i} ${burst.join(' ')}; empty_gif; }`,
  );
  return `
events { worker_connections 2048; }
http {
  access_log off;
  limit_req_status 429;
  limit_req_log_level info;
  ${zones.join('\n  ')}
  server {
    listen 127.0.0.1:${port};
    ${locations.join('\n    ')}
  }
}`;
}

/** Threads could decide on two requests between the test and the count of one. */
const HAPROXY_REST = `
global
  nbthread 1
defaults
  mode http
  timeout client 30s
  timeout connect 5s
  timeout server 30s
backend app
  http-request return status 200
`;
