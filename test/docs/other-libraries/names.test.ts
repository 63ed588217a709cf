import { readFileSync } from 'node:fs';
import * as core from '@sluice/core';
import { clientNetwork, createLimiter, memoryStore } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import { rateLimit as fastifyRateLimit } from '@sluice/fastify';
import * as host from '@sluice/host';
import * as redis from '@sluice/redis';
import Fastify from 'fastify';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { rowsOf } from '../page-tables.ts';

const PAGE = 'coming-from-other-libraries.md';
const page = readFileSync(new URL(`../../../docs/${PAGE}`, import.meta.url), 'utf8');

const MIDDLEWARES = ['express-rate-limit', '@fastify/rate-limit', 'koa-ratelimit', 'rate-limiter-flexible'];
/** The names in the first column of the tables of options. */
const theirs = MIDDLEWARES.flatMap((library) => rowsOf(PAGE, library)).flatMap(({ option = '' }) =>
  [...option.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
);
const alsoOurs = ['limit', 'skip', 'store', 'hook', 'global'];
/** In the same column, but no options. */
const calls = ['preHandler', 'setNotFoundHandler'];

describe('the page names every option that the libraries declare', () => {
  it.each([
    ['express-rate-limit', optionsIn(sourceOf('express-rate-limit/dist/index.d.ts'), /^Options$/)],
    ['@fastify/rate-limit', optionsIn(sourceOf('@fastify/rate-limit/types/index.d.ts'), /RateLimit\w*Options$/)],
    ['rate-limiter-flexible', optionsIn(sourceOf('rate-limiter-flexible/types.d.ts'), /^IR\w+Opt(ion)?s(AndSchema)?$/)],
    ['koa-ratelimit', optionsRead(sourceOf('koa-ratelimit/index.js'))],
  ])('%s', (library, options) => {
    const named = page.split(/^## /m).find((section) => section.startsWith(`${library}\n`));
    expect(options.length).toBeGreaterThan(10);
    expect(options.filter((option) => !named?.includes(`\`${option}\``))).toEqual([]);
  });
});

it('what has no counterpart here does not exist under its name', () => {
  const rows = [...page.matchAll(/^\| (.+?) +\| none\b/gm)].map(([, there = '']) => there);
  const names = rows.flatMap((there) =>
    [...there.matchAll(/`(?:\w+\.)?(\w+)(?:\(\))?`/g)].map(([, name = '']) => name),
  );
  expect(names.length).toBeGreaterThan(10);
  const ours = new Set([core, redis, host, memoryStore(), createLimiter({ limits: {} })].flatMap(propertiesOf));
  expect(names.filter((name) => ours.has(name))).toEqual([]);
});

describe('an option of another library is an error that names ours', () => {
  const names = [...new Set(theirs)].filter((name) => ![...alsoOurs, ...calls].includes(name));

  it.each(names)('%s', (name) => {
    const message = messageOf(() => rateLimit({ count: 1, period: '1s', [name]: 1 }));
    // Between the value and where all options are stands what to write instead.
    expect(message).toMatch(new RegExp(`has no option \`${name}\` .*\\. \`${name}\` .*\\. All 38 options are in `));
  });

  it('limit, which has other values here', () => {
    expect(messageOf(() => rateLimit({ count: 1, period: '1s', limit: 1 } as never))).toMatch(
      /^`rateLimit\.limit` must be a limit of a kind, but was 1\. `limit` is `count` here/,
    );
  });

  it('beside a limiter, where limits are only named, the error names the place of their numbers', () => {
    const limiter = createLimiter({ limits: { Requests: { key: clientNetwork(), count: 1, period: '1s' } } });
    expect(messageOf(() => rateLimit({ limiter, max: 1 } as never))).toMatch(
      /`max` is `count` here .* It belongs to the limiter: give it to createLimiter, and name the limit here/,
    );
  });

  it('in Fastify too, when the plugin is registered', async () => {
    const registered = Fastify()
      .register(fastifyRateLimit, { max: 1, timeWindow: '1 minute' } as never)
      .ready();
    await expect(registered).rejects.toThrow(/`max` is `count` here/);
  });
});

/** The names of what an object has, by itself or by its class. */
function propertiesOf(object: object): string[] {
  const prototype = Object.getPrototypeOf(object) as object | null;
  return [...Object.getOwnPropertyNames(object), ...(prototype === null ? [] : propertiesOf(prototype))];
}

function messageOf(run: () => unknown): string {
  try {
    run();
    return 'nothing was thrown';
  } catch (error) {
    return (error as Error).message;
  }
}

function sourceOf(file: string): string {
  return readFileSync(new URL(`../../node_modules/${file}`, import.meta.url), 'utf8');
}

/** The members of the types of a declaration file that have such a name. */
function optionsIn(source: string, name: RegExp): string[] {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if ((ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) && name.test(node.name.text)) {
      const { members } = ts.isInterfaceDeclaration(node) ? node : (node.type as ts.TypeLiteralNode);
      for (const member of members) if (member.name !== undefined) names.add(member.name.getText());
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('types.d.ts', source, ts.ScriptTarget.Latest, true));
  return [...names];
}

/** The options that a file without declarations reads. */
function optionsRead(source: string): string[] {
  const read = [...source.matchAll(/\bopts\.(\w+)/g)].map(([, name = '']) => name);
  return [...new Set([...read, 'db', 'duration', 'max', 'namespace'])];
}
