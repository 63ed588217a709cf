import { runInNewContext } from 'node:vm';
import { accountId, clientNetwork, createLimiter, ipAddress, by } from '@sluice/core';
import { domain, fqdnSet } from '@sluice/domains';
import { rateLimit } from '@sluice/express';
import { redisStore } from '@sluice/redis';
import { describe, expect, test } from 'vitest';

export type Options = Readonly<Record<string, unknown>>;

export const KEY = accountId(() => '7');
export const NUMBERS = { count: 2, period: '1m' };
export const limiterOf = (given: Options = {}) =>
  createLimiter({ limits: { Orders: { key: KEY, ...NUMBERS } }, log: false, ...given });
export const inline = (given: Options) => rateLimit({ ...NUMBERS, ...given } as never);

/** The functions that a remedy may use. */
const SCOPE = { accountId, by, clientNetwork, createLimiter, ipAddress, rateLimit, redisStore, domain, fqdnSet };

/** Evaluates the code of a remedy: options in an object, or an expression. */
const pasted = (code: string): unknown =>
  runInNewContext(/^\w+: /.test(code) ? `({ ${code} })` : `(${code})`, { ...SCOPE, logger: console, metrics: {} });

interface Wrong {
  /** Called with the wrong options, and with those of the remedy. */
  readonly make: (options: Options) => unknown;
  readonly options: unknown;
  readonly message: string;
  /** The code in the message that replaces the wrong options. */
  readonly remedy?: string;
}

/** Returns the message of the error that a function throws; `undefined` when it does not throw. */
export async function messageOf(run: () => unknown): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Tests each wrong use of a table: its message, and that the remedy in the message works. */
export function testRemedies(table: Readonly<Record<string, Wrong>>): void {
  describe.each(Object.entries(table))('%s', (_what, { make, options, message, remedy }) => {
    test('is an error that names option, value, demand and remedy', async () => {
      expect(await messageOf(() => make(options as Options))).toBe(message);
    });

    test.runIf(remedy !== undefined)('is accepted when the remedy is pasted', async () => {
      expect(message).toContain(remedy);
      const given = pasted(remedy!) as Options;
      const right = typeof options === 'object' ? { ...options, ...given } : given;
      expect(await messageOf(() => make(right))).toBeUndefined();
    });
  });
}
