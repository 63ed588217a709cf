import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import * as sluice from '@sluice/core';
import { createLimiter, everyone, type Rate } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, it } from 'vitest';
import { drawBucket } from '../../scripts/draw-bucket.mjs';
import { packageFolders } from '../../scripts/package-folders.mjs';
import { blockServer } from './block-server.ts';
import { blocksOf, pages } from './blocks.ts';

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const linesOf = (path: string): number => textOf(path).trimEnd().split('\n').length;
const readme = textOf('README.md');

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

function manifestOf(path: string): Manifest {
  return JSON.parse(textOf(path)) as Manifest;
}

/** README leaves these out, because they say nothing about the limit. */
const LEFT_OUT = ['Date', 'Connection', 'Keep-Alive'];

it('README is read in a minute: it has at most 150 lines', () => {
  expect(linesOf('README.md')).toBeLessThanOrEqual(150);
});

describe('the first screen of README', () => {
  const [top = ''] = readme.split('## Why Sluice');

  it('says first what it is, and right after the first example how to start and test a clone, and how to install it', () => {
    const [, afterTheExample = ''] = top.split(/```console[\s\S]*?```/);
    expect(readme.split('\n\n')[1]).toContain('Rate limiting middleware for Node');
    expect(afterTheExample).toMatch(
      /```sh\ngit clone .+ && cd sluice\nnpm start .*minute.*\nnpm test .*minutes\n```[\s\S]*```sh\nnpm install .+\n```/,
    );
  });

  it('names what an engineer looks for besides rates of requests', () => {
    for (const word of ['logins', 'plans', 'budgets for models', 'MCP', 'queues']) expect(top).toContain(word);
    expect(top).toMatch(/Types, ESM and CommonJS; no dependency in core\./);
    expect(Object.keys(manifestOf('packages/core/package.json').dependencies ?? {})).toEqual([]);
  });
});

it.each(['README.md', 'CONTRIBUTING.md'])('every command of npm that %s names is a script of the clone', (page) => {
  const { scripts } = manifestOf('package.json');
  const named = [...textOf(page).matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g)].map(
    ([, run, own]) => run ?? own!,
  );
  expect(named).toContain('test');
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
});

it('every trial that a page, a comment or a workflow names is one of `npm run trial`', () => {
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const run = (command: string, ...args: string[]) => spawnSync(command, args, { cwd, encoding: 'utf8' }).stdout;
  const listed = [...run('node', 'scripts/trial.mjs').matchAll(/^ {2}(\S+)/gm)].map(([, name]) => name);
  const named = run('git', 'grep', '-ohE', 'npm run trial -- [a-z-]+').trim().split('\n');
  expect(named.length).toBeGreaterThan(20);
  expect([...new Set(named)].filter((name) => !listed.includes(name.split(' -- ')[1]))).toEqual([]);
});

it('`npm start` runs the example for Express, and installs and builds before', () => {
  const { scripts } = manifestOf('package.json');
  expect([scripts['prestart'], scripts['start']]).toEqual([
    'node scripts/setup.mjs',
    'node examples/express/server.js',
  ]);
});

describe('a burst comes on top of the rate', () => {
  it('a limit of 100 a minute lets at most 200 requests through in any minute', async () => {
    expect(await mostInAMinute({ count: 100, period: '1m' })).toBe(200);
  });

  it('a burst of 50 and a count of 50 let at most 100 through in any minute', async () => {
    expect(await mostInAMinute({ burst: 50, count: 50, period: '1m', atMost: { 100: '1m' } })).toBe(100);
  });

  it.each([
    'README.md',
    'docs/recipes.md',
    'docs/limits/rates.md',
    'docs/coming-from-other-libraries.md',
    ...['express', 'koa', 'fastify', 'node', 'fetch', 'hono'].map((name) => `packages/${name}/README.md`),
  ])('%s says so, and what to write instead', (page) => {
    expect(textOf(page).replaceAll(/\s+/g, ' ')).toMatch(
      /at most 200 in any minute.{0,100}at most 100 in any minute.{0,100}`burst: 50, count: 50/i,
    );
  });

  it.each(pages())('%s counts a period with both of its ends, as `burst + count`', (page) => {
    const prose = textOf(page).replaceAll(/^( *)```[\s\S]*?^\1```/gm, '');
    expect(prose).not.toMatch(/\b(?:1,?9|[1-9])99\s(?:requests\s|calls\s|guesses\s)?(?:in|within)\s/);
  });
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

it.each(packageFolders(fileURLToPath(new URL('../..', import.meta.url))))(
  'the README of %s installs what its first block imports',
  (folder) => {
    const page = `${folder}/README.md`;
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

it('the home of the site shows the code of README', () => {
  const [, shown] = /```ts\n([\s\S]*?)```/.exec(textOf('site/index.md')) ?? [];
  expect(shown).toBe(blocksOf('README.md')[0]!.code);
});

it('the picture of README is what `node scripts/draw-bucket.mjs` draws', async () => {
  expect(textOf('docs/bucket.svg')).toBe(await drawBucket({ ...sluice, FakeTime }));
});

/**
 * The most requests that pass in a minute, with its first and its last instant, which begins with a full bucket and in
 * which a client never pauses.
 */
async function mostInAMinute(numbers: Rate): Promise<number> {
  const time = new FakeTime();
  const endMs = time.nowMs + 60_000;
  const limiter = createLimiter({ time, limits: { Requests: { key: everyone(), ...numbers } } });
  for (let passed = 0; ; passed++) {
    let decision = await limiter.spend([{ limit: 'Requests', id: 'everyone' }]);
    while (!decision.allowed) {
      time.advance(decision.retryAfterMs);
      decision = await limiter.spend([{ limit: 'Requests', id: 'everyone' }]);
    }
    if (time.nowMs > endMs) return passed;
  }
}

function rawGet(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => void get(url, resolve).on('error', reject));
}

function head({ httpVersion, statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const fields = rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name, rawHeaders[i + 1]] as const] : []));
  const shown = fields.filter(([name]) => !LEFT_OUT.includes(name));
  return [`HTTP/${httpVersion} ${statusCode} ${statusMessage}`, ...shown.map((field) => field.join(': '))].join('\n');
}
