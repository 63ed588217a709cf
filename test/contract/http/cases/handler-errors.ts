import { expect, test } from 'vitest';
import type { Framework, Handler, NativeRequest } from '../framework.ts';
import { as, inlinePerUser } from '../limiters.ts';
import { start } from '../start.ts';

/** Errors of handlers, which are not ours: they stay as they are, and our fields reach their answers. */
export function handlerErrorCases(framework: Framework): void {
  const gone = (more: object = {}): Error & { headers?: unknown } =>
    Object.assign(new Error('gone'), { status: 410, statusCode: 410, ...more });
  const throwing =
    (error: unknown): Handler =>
    () => {
      throw error;
    };

  test.each([{}, { fields: false }] as const)('an error keeps its headers, of any kind: %o', async (options) => {
    const headers = new UpstreamHeaders();
    const error = gone({ headers });
    const app = await start(framework, {
      limits: [inlinePerUser(options)],
      routes: { '/': { handle: throwing(error) } },
    });
    expect((await app.get('/', as('ann'))).status).toBe(410);
    expect(app.errors).toEqual([error]);
    expect(error.headers).toBe(headers);
    expect(headers.get()).toBe('kept');
  });

  test('an error gets no headers that it did not have', async () => {
    const error = gone();
    const app = await start(framework, { limits: [inlinePerUser()], routes: { '/': { handle: throwing(error) } } });
    const answer = await app.get('/', as('ann'));
    expect([answer.status, answer.headers.ratelimit]).toEqual([410, '"PerUser";r=4;t=12']);
    expect(error).not.toHaveProperty('headers');
  });

  test('a constant error that requests throw at once never gives one client the fields of another', async () => {
    const constant = gone();
    const users = Array.from({ length: 8 }, (_, i) => `user-${i}`);
    let arrived = 0;
    let open = (): void => undefined;
    const everyone = new Promise<void>((resolve) => (open = resolve));
    const app = await start(framework, {
      limits: [inlinePerUser({ count: 60, cost: ({ headers }: NativeRequest) => Number(headers['x-cost']) })],
      routes: {
        '/': {
          async handle() {
            if (++arrived === users.length) open();
            await everyone;
            throw constant;
          },
        },
      },
    });
    const answers = await Promise.all(users.map((user, i) => app.get('/', as(user, { 'X-Cost': `${i}` }))));
    const told = answers.map(({ headers }) => /r=\d+/.exec(headers.ratelimit as string)?.[0]);
    expect(told).toEqual(users.map((_user, i) => `r=${60 - i}`));
  });

  test('a constant error carries no field to a request that no limit applies to', async () => {
    const constant = gone();
    const app = await start(framework, {
      limits: [inlinePerUser()],
      routes: { '/': { handle: throwing(constant) } },
    });
    expect((await app.get('/', as('ann'))).headers).toHaveProperty('ratelimit');
    expect((await app.get('/')).headers).not.toHaveProperty('ratelimit');
  });
}

/** Headers that are no plain object, as those of a failed `fetch`. */
class UpstreamHeaders {
  readonly #value = 'kept';

  get(): string {
    return this.#value;
  }
}
