import { readFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { blocksOf } from './blocks.ts';
import { app, limiter, makeReport } from './code/in-flight.ts';
import { serve } from './serve.ts';

it('docs/limits/concurrency.md shows the code that is tested here', () => {
  const code = readFileSync(new URL('code/in-flight.ts', import.meta.url), 'utf8');
  expect(blocksOf('docs/limits/concurrency.md').map((block) => block.code)).toContain(code);
});

it('a client has ten streams at most, and another one as soon as one of them is closed', async () => {
  const url = `${await serve(app)}/events`;
  const streams = Array.from({ length: 10 }, () => new AbortController());
  const responses = await Promise.all(streams.map(({ signal }) => fetch(url, { signal })));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  const denied = await fetch(url);
  expect(denied.status).toBe(429);
  expect(denied.headers.get('Retry-After')).toBe('1');
  expect(((await denied.json()) as { detail: string }).detail).toBe(
    'Concurrency limit "InFlight" exceeded. Try again in 1 second.',
  );
  streams[0]!.abort();
  await vi.waitFor(async () => {
    const { allowed } = await limiter.check([{ limit: 'InFlight', id: '127.0.0.1' }]);
    expect(allowed).toBe(true);
  });
  const last = new AbortController();
  expect((await fetch(url, { signal: last.signal })).status).toBe(200);
  for (const each of [...streams, last]) each.abort();
});

it('four reports are made at the same time, and a fifth when one of them has failed', async () => {
  const ends: (() => void)[] = [];
  const waiting = () => new Promise<void>((resolve) => ends.push(resolve));
  const broken = makeReport(() => waiting().then(() => Promise.reject(new Error('no data'))));
  const others = [makeReport(waiting), makeReport(waiting), makeReport(waiting)];
  await vi.waitFor(() => expect(ends).toHaveLength(4));
  expect(await makeReport(waiting)).toBe(false);
  ends[0]!();
  await expect(broken).rejects.toThrow('no data');
  const fifth = makeReport(waiting);
  await vi.waitFor(() => expect(ends).toHaveLength(5));
  for (const end of ends) end();
  expect(await Promise.all([...others, fifth])).toEqual([true, true, true, true]);
});
