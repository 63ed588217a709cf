import { readdirSync, readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import * as sluice from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { expect, it } from 'vitest';
import { drawBucket } from '../../scripts/draw-bucket.mjs';
import { blockServer } from './block-server.ts';
import { blocksOf } from './blocks.ts';

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const linesOf = (path: string): number => textOf(path).trimEnd().split('\n').length;
const readme = textOf('README.md');

/** README leaves these out, because they say nothing about the limit. */
const LEFT_OUT = ['Date', 'Connection', 'Keep-Alive'];

it('README is read in a minute: it has at most 150 lines', () => {
  expect(linesOf('README.md')).toBeLessThanOrEqual(150);
});

it.each(readdirSync(new URL('../../docs/limits', import.meta.url)))('docs/limits/%s has at most 250 lines', (page) => {
  expect(linesOf(`docs/limits/${page}`)).toBeLessThanOrEqual(250);
});

it('the 429 of README is what the server of its first block answers', async () => {
  const { url } = await blockServer(blocksOf('README.md')[0]!.code);
  const [, shown = ''] = /```console\n([\s\S]*?)```/.exec(readme) ?? [];
  let response = await rawGet(url);
  for (let sent = 1; response.statusCode === 200 && sent < 20; sent++) response = await rawGet(url);
  expect(`${head(response)}\n\n${await text(response)}\n`).toBe(shown);
});

it.each(readdirSync(new URL('../../packages', import.meta.url)))(
  'the README of packages/%s installs what its first block imports',
  (name) => {
    const page = `packages/${name}/README.md`;
    const [, line = ''] = /^npm install (.*)$/m.exec(textOf(page)) ?? [];
    const installed = line.split(' ').map((word) => word.replace(/^.*\/sluice-(.*)-\d+\.\d+\.\d+\.tgz$/, '@sluice/$1'));
    const code = (blocksOf(page)[0]?.code ?? '').replaceAll(/^import type .*$/gm, '');
    const imported = [...code.matchAll(/ from '((?:@[^/']+\/)?[^/']+)/g)].map(([, from]) => from!);
    // An application of Nest has its packages.
    const missing = imported.filter((from) => !/^(node:|@nestjs\/)/.test(from) && !installed.includes(from));
    expect(missing).toEqual([]);
  },
);

it.each(['express', 'koa', 'fastify', 'node'])('the first block of packages/%s runs, and answers 429', async (name) => {
  const { url } = await blockServer(blocksOf(`packages/${name}/README.md`)[0]!.code);
  let { statusCode } = await rawGet(url);
  // Some of the 100 tokens come back meanwhile.
  for (let sent = 1; statusCode === 200 && sent < 1000; sent++) ({ statusCode } = await rawGet(url));
  expect(statusCode).toBe(429);
});

it('the picture of README is what `node scripts/draw-bucket.mjs` draws', async () => {
  expect(textOf('docs/bucket.svg')).toBe(await drawBucket({ ...sluice, FakeTime }));
});

function rawGet(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => void get(url, resolve).on('error', reject));
}

function head({ httpVersion, statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const fields = rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name, rawHeaders[i + 1]] as const] : []));
  const shown = fields.filter(([name]) => !LEFT_OUT.includes(name));
  return [`HTTP/${httpVersion} ${statusCode} ${statusMessage}`, ...shown.map((field) => field.join(': '))].join('\n');
}
