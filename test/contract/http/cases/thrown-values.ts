import { accountId, type LimiterEvent, type Store } from '@sluice/core';
import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { ok, type Framework, type Handler, type NativeRequest, type Options } from '../framework.ts';
import { as, lateStore, stillLimiter, thenable, timed, userKey, userOf } from '../limiters.ts';
import { start, type App } from '../start.ts';

const fail = (): never => {
  throw new Error('not for you');
};

/** What may be thrown. Texts and `undefined` are no errors to a framework: Express and Fastify would admit the request. */
const KINDS: Readonly<Record<string, unknown>> = {
  'an Error': Object.assign(new Error('boom'), { status: 418, statusCode: 418 }),
  'a frozen Error': Object.freeze(Object.assign(new Error('boom'), { status: 418, statusCode: 418 })),
  'a Proxy that throws': new Proxy({}, new Proxy({}, { get: () => fail })),
  'an Error whose getters throw': Object.defineProperties(new Error('boom'), {
    stack: { value: 'boom' },
    message: { get: fail },
    name: { get: fail },
    status: { get: fail },
    statusCode: { get: fail },
    headers: { get: fail },
  }),
  'an object': { status: 418, statusCode: 418 },
  'an object without a prototype': Object.create(null),
  'a text': 'boom',
  undefined,
};

type Run = () => never;

interface Seen {
  readonly events?: LimiterEvent[];
  readonly handle?: Handler;
}

const MANNERS: readonly [manner: string, thrower: (value: () => unknown) => Run][] = [
  ['throws', (value) => () => { throw value(); }], // prettier-ignore
  ['throws later', (value) => (() => new Promise(setImmediate).then(() => { throw value(); })) as never], // prettier-ignore
  ['rejects', (value) => (() => Promise.reject(value())) as never],
  ['gives a thenable that rejects', (value) => (() => thenable((_done, reject) => reject(value()))) as never],
];

/** What is thrown, and where: by functions whose error reaches the error handler, and by those of which it is an event. */
interface Matrix {
  readonly manners: typeof MANNERS;
  readonly toHandler: readonly string[];
  readonly toEvents: readonly string[];
}

/** What an adapter adds: the way of an error to its framework, at once and later, and the end of which `settle` is told. */
const OF_ADAPTERS: Matrix = { manners: MANNERS.slice(0, 2), toHandler: ['key', 'onDenied'], toEvents: ['settle'] };
/** Where and how else something is thrown is the same to an adapter. */
const WHOLE: Matrix = {
  manners: MANNERS,
  toHandler: ['key', 'cost', 'skip', 'onDenied'],
  toEvents: ['settle', 'onDecision', 'overrides'],
};

const STORES: readonly [kind: string, store: () => Store][] = [
  ['memory', () => timed().store],
  ['promise', () => lateStore()],
];

/** Makes a response throw when it gets the status 429, once. */
function failAt429(outgoing: ServerResponse): void {
  Object.defineProperty(outgoing, 'statusCode', {
    configurable: true,
    get: () => 200,
    set(status: number) {
      delete (outgoing as Partial<ServerResponse>).statusCode;
      if (status === 429) throw Object.assign(new Error('can not be sent'), { status: 418, statusCode: 418 });
      outgoing.statusCode = status;
    },
  });
}

/** Whatever a function of the user throws: the framework's error handling gets it, or an event does. */
export function thrownValueCases(framework: Framework): void {
  casesOf(framework, OF_ADAPTERS);
  for (const [kind, storeOf] of STORES) {
    test(`an exception while a denial is sent reaches the error handler: ${kind} store`, async () => {
      const limiter = stillLimiter({
        limits: { PerUser: { key: userKey, count: 1, period: '1h' } },
        failure: { deadlineMs: 5000 },
        store: storeOf(),
      });
      let served = 0;
      const app = await start(framework, {
        before: ({ outgoing }) => {
          if (++served === 2) failAt429(outgoing);
        },
        limits: [{ limiter }],
      });
      expect(await app.statuses(2, '/', as('ann'))).toEqual([200, 418]);
      expect(app.errors).toMatchObject([{ message: 'can not be sent' }]);
    });
  }
}

/** The same of all functions, in all manners. */
export function allThrownValueCases(framework: Framework): void {
  casesOf(framework, WHOLE);
}

function casesOf(framework: Framework, { manners, toHandler, toEvents }: Matrix): void {
  const serve = (place: string, run: Run, store: Store, { events = [], handle = ok }: Seen = {}): Promise<App> => {
    const at = (name: string): Run | undefined => (name === place ? run : undefined);
    const limiter = stillLimiter({
      limits: {
        PerUser: {
          key: accountId<NativeRequest>(at('key') ?? userOf),
          count: place === 'onDenied' ? 1 : 1000,
          period: '1h',
        },
      },
      overrides: at('overrides') ?? {},
      overridesDeadlineMs: 5000,
      failure: { deadlineMs: 5000 },
      store,
      onEvent: (event) => events.push(event),
    });
    const settle = place === 'settle' ? framework.settle(run) : undefined;
    const limits = [{ limit: 'PerUser', cost: at('cost'), settle }];
    const use = { limiter, limits, skip: at('skip'), onDenied: at('onDenied'), onDecision: at('onDecision') };
    return start(framework, { catchesAll: true, limits: [use] as Options[], routes: { '/': { handle } } });
  };

  for (const [kind, storeOf] of STORES) {
    describe(`with a ${kind} store`, () => {
      for (const place of toHandler) {
        test.each(manners)(
          `what a ${place} function %s reaches the error handler as of a plain middleware`,
          async (_manner, thrower) => {
            let value: unknown;
            let handled = 0;
            const app = await serve(
              place,
              thrower(() => value),
              storeOf(),
              { handle: () => `${++handled}` },
            );
            const control = await start(framework, { catchesAll: true, plain: () => { throw value; }, }); // prettier-ignore
            if (place === 'onDenied') await app.get('/', as('ann'));
            for (const [what, thrown] of Object.entries(KINDS)) {
              if (framework.loses?.includes(what) === true) continue;
              value = thrown;
              const { status, body } = await app.get('/', as('ann'));
              const isObject = typeof thrown === 'object';
              const plain = isObject ? await control.get('/', as('ann')) : { status: 500, body: 'failed' };
              expect({ what, status, body }).toEqual({ what, status: plain.status, body: plain.body });
              const [error, ...others] = app.errors.splice(0);
              expect(others).toHaveLength(0);
              expect(isObject ? error === thrown : (error as Error).cause === thrown).toBe(true);
            }
            expect(handled).toBe(place === 'onDenied' ? 1 : 0);
          },
        );
      }

      for (const place of toEvents) {
        test.each(manners)(
          `a value that a ${place} function %s is an event, and the request continues`,
          async (_manner, thrower) => {
            let value: unknown;
            const events: LimiterEvent[] = [];
            const app = await serve(
              place,
              thrower(() => value),
              storeOf(),
              { events },
            );
            for (const [what, thrown] of Object.entries(KINDS)) {
              value = thrown;
              expect({ what, status: (await app.get('/', as('ann'))).status }).toEqual({ what, status: 200 });
              await expect.poll(() => events.length).toBe(1);
              const [event] = events.splice(0);
              expect(event!.type).toBe(place === 'overrides' ? 'override-failed' : 'callback-failed');
              expect((event as { cause: unknown }).cause === thrown).toBe(true);
            }
            expect(app.errors).toHaveLength(0);
          },
        );
      }
    });
  }
}
