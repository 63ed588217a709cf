import { readFileSync } from 'node:fs';
import { clientNetwork, createLimiter } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import { rateLimit as fastifyRateLimit } from '@sluice/fastify';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';

const page = readFileSync(new URL('../../docs/coming-from-other-libraries.md', import.meta.url), 'utf8');

/** The names in the first column of the tables of options. */
const theirs = [...page.matchAll(/^\| option +\|.*\n\|[ |-]+\|\n((?:\|.*\n)+)/gm)]
  .flatMap(([, rows = '']) => rows.trim().split('\n'))
  .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
const alsoOurs = ['skip', 'store', 'hook', 'global'];
/** In the same column, but no options. */
const calls = ['preHandler', 'setNotFoundHandler'];

describe('an option of another library is an error that says what it is here', () => {
  const names = [...new Set(theirs)].filter((name) => ![...alsoOurs, ...calls].includes(name));

  it.each(names)('%s', (name) => {
    const message = messageOf(() => rateLimit({ count: 1, period: '1s', [name]: 1 }));
    // Between the value and the list of all options stands what to write instead.
    expect(message).toMatch(new RegExp(`has no option \`${name}\` .*\\. \`${name}\` .*\\. Options: `));
  });

  it('beside a limiter, where limits are only named, it says where their numbers are written', () => {
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

function messageOf(run: () => unknown): string {
  try {
    run();
    return 'nothing was thrown';
  } catch (error) {
    return (error as Error).message;
  }
}
