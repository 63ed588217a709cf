import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadLimits } from '@sluice/config';
import { accountId, createLimiter, memoryStore, type LimitDefinition, type Limiter, type Rate } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { rateLimit } from '@sluice/express';
import express from 'express';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { refusedBy, type Entry } from './replay.ts';

const page = readFileSync(new URL('../../docs/choosing-numbers.md', import.meta.url), 'utf8');
const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
const names = Object.keys(parse(yaml) as object);
const { limits: loaded } = await loadLimits({
  defaults: () => yaml,
  keys: Object.fromEntries(names.map((name) => [name, accountId(() => '7')])),
});
/** All of them are rates. */
const numbers = loaded as Record<string, LimitDefinition & Rate>;
const rows = page.split('\n').map((line) => line.replaceAll(/ +/g, ' '));
const prose = page.replaceAll(/\s+/g, ' ');

const MORE_THAN_ANY_BURST = 1_000_000;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

it.each(names)('the page has the right result for %s', async (name) => {
  const limit = numbers[name]!;
  const { wait, full } = await whenEmpty(limit);
  const figures = [most(limit, 0), most(limit, MINUTE_MS), most(limit, DAY_MS)].map(grouped);
  const { policy, retryAfter } = await denialOf(name, limit);
  const cells = [`\`${name}\``, ...figures, wait, full, `\`${policy}\``, retryAfter];
  expect(rows).toContain(`| ${cells.join(' | ')} |`);
});

it.each(rows.filter((row) => row.includes('| `{ ')))(
  'the page has the right number of requests that pass of four pages: %s',
  async (row) => {
    const [, text = ''] = /`\{ (.*) \}`/.exec(row) ?? [];
    const limit = parse(`{ ${text} }`) as Rate;
    const log = Array.from({ length: 4 * 40 }, (_, index) => at(Math.floor(index / 40) * 10 * SECOND_MS));
    const refused = await refusedBy(limit, log);
    const passed = [0, 1, 2, 3].map((nth) => 40 - refused.filter(({ atMs }) => atMs === log[nth * 40]!.atMs).length);
    expect(row).toBe(`| \`{ ${text} }\` | ${passed.join(' | ')} |`);
  },
);

it('the page has the right figures for an office limited by address, and by account', async () => {
  // 200 people, each a page of 40 files a minute; ten more open theirs in the second in which the sixth minute begins.
  const pages = Array.from({ length: 200 * 10 }, (_, index) => index * 300);
  const meeting = Array.from({ length: 10 }, (_, index) => 5 * MINUTE_MS + index * 100);
  const log = [...pages, ...meeting]
    .toSorted((a, b) => a - b)
    .flatMap((ms) => Array.from({ length: 40 }, () => at(ms)));
  expect(await refusedBy(numbers['RequestsPerIPAddress']!, log)).toEqual([]);
  const refused = await refusedBy(numbers['RequestsPerAccount']!, log);
  expect(prose).toContain(`would deny ${Math.round((100 * refused.length) / log.length)} % of`);
});

it('the page has the right time at which the sustained limit stops a client at the peak rate', async () => {
  const both = ['CallsPerKeyPeak', 'CallsPerKeyPerHour'];
  const { time, limiter } = onFakeTime(Object.fromEntries(both.map((name) => [name, numbers[name]!])));
  const call = async () => limiter.spend(both.map((limit) => ({ limit, id: '7' })));
  let calls = 0;
  for (;;) {
    const decision = await call();
    if (decision.allowed) calls++;
    else if (decision.limit === 'CallsPerKeyPerHour') break;
    else time.advance(decision.retryAfterMs);
  }
  expect(prose).toContain(`reaches the second limit after ${calls} calls, at ${time.nowMs / SECOND_MS} seconds`);
  expect(most(numbers['CallsPerKeyPerHour']!, HOUR_MS)).toBe(1000);
  expect(prose).toContain(`would allow ${grouped(most({ count: 1000, period: '1h' }, HOUR_MS))} in any hour`);
});

it('the page has the right number of passwords that can be guessed', () => {
  const short = most({ count: 5, period: '15m' }, DAY_MS);
  const long = numbers['FailedLoginsPerName']!;
  expect(prose).toContain(`${most(long, DAY_MS)} guesses in any day`);
  expect(prose).toContain(`${grouped(most(long, 365 * DAY_MS))} in any year`);
  expect(prose).toContain(
    `${short} guesses in any day and ${grouped(most({ count: 5, period: '15m' }, 365 * DAY_MS))}`,
  );
});

it('the page has the right wait of the second report', async () => {
  const { limiter } = onFakeTime({ Work: numbers['WorkPerAccount']! });
  const report = [{ limit: 'Work', id: '7', cost: 80 }];
  expect((await limiter.spend(report)).allowed).toBe(true);
  const { retryAfterMs } = await limiter.spend(report);
  expect(prose).toContain(`a second one waits for ${retryAfterMs / SECOND_MS} seconds`);
});

const DURATIONS = [
  { unit: 'h', unitMs: HOUR_MS, fromMs: 2 * HOUR_MS },
  { unit: 'min', unitMs: MINUTE_MS, fromMs: 2 * MINUTE_MS },
  { unit: 's', unitMs: SECOND_MS, fromMs: SECOND_MS },
  { unit: 'ms', unitMs: 1, fromMs: 0 },
] as const;

const START_MS = Date.UTC(2026, 0, 1);

function at(ms: number): Entry {
  return { id: '7', atMs: START_MS + ms };
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

function onFakeTime(limits: Record<string, Rate>): { time: FakeTime; limiter: Limiter } {
  const time = new FakeTime();
  const defined = Object.entries(limits).map(
    ([name, limit]) => [name, { key: accountId(() => '7'), ...limit }] as const,
  );
  return { time, limiter: createLimiter({ limits: Object.fromEntries(defined), store: memoryStore({ time }) }) };
}

/** The most that one client gets within a time: it takes all that is there, again and again before the bucket is full. */
function most(limit: Rate, withinMs: number): number {
  const { time, limiter } = onFakeTime({ Limit: limit });
  const entry = { limit: 'Limit', id: '7' };
  const takeAll = (): number => {
    const { remaining } = limiter.checkSync([entry]);
    void limiter.charge([{ ...entry, cost: remaining }]);
    return remaining;
  };
  let taken = takeAll();
  const fullAfterMs = limiter.checkSync([{ ...entry, cost: 0 }]).resetAfterMs;
  while (time.nowMs < withinMs) {
    time.set(Math.min(withinMs, time.nowMs + fullAfterMs));
    taken += takeAll();
  }
  return taken;
}

async function whenEmpty(limit: Rate): Promise<{ wait: string; full: string }> {
  const { limiter } = onFakeTime({ Limit: limit });
  await limiter.charge([{ limit: 'Limit', id: '7', cost: MORE_THAN_ANY_BURST }]);
  const { retryAfterMs, resetAfterMs } = await limiter.check([{ limit: 'Limit', id: '7' }]);
  return { wait: duration(retryAfterMs), full: duration(resetAfterMs) };
}

function duration(ms: number): string {
  const { unit, unitMs } = DURATIONS.find(({ fromMs }) => ms >= fromMs)!;
  return `${Number((ms / unitMs).toPrecision(3))} ${unit}`;
}

/** What Express answers when the bucket is empty. */
async function denialOf(name: string, limit: Rate): Promise<Record<string, string | null>> {
  const { limiter } = onFakeTime({ [name]: limit });
  await limiter.charge([{ limit: name, id: '7', cost: MORE_THAN_ANY_BURST }]);
  const server = createServer(express().use(rateLimit({ limiter, limits: [name] })));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { status, headers } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect(status).toBe(429);
  return { policy: headers.get('RateLimit-Policy'), retryAfter: headers.get('Retry-After') };
}
