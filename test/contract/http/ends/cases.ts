import { createLimiter, everyone, type Store } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import express from 'express5';
import Koa from 'koa3';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { expressFramework } from '../express.ts';
import { fastifyFramework } from '../fastify.ts';
import type { Framework, Handler, NativeRequest, Options } from '../framework.ts';
import { koaFramework } from '../koa.ts';
import { start } from '../start.ts';
import { leaversOf, type Leaver, type Room } from './ways.ts';
import { expectWithin } from '../../../expect-within.ts';

const FRAMEWORKS: readonly Framework[] = [
  expressFramework('Express 5', express),
  koaFramework('Koa 3', Koa),
  fastifyFramework(),
  koaFramework('Koa 3', Koa, 'HTTP/2'),
  fastifyFramework('HTTP/2'),
];

/** When the clients leave. */
interface Moment {
  readonly name: string;
  readonly handle: Handler;
  readonly room: Room;
  /** Undefined: as soon as the request was sent, whether it is decided or not. */
  readonly reached?: (leaver: Leaver) => Promise<unknown>;
  /** Whether the requests hold their slots then. */
  readonly holds?: boolean;
}

const never: Handler = () => new Promise<never>(() => undefined);
const begin: Handler = ({ outgoing }) => {
  outgoing.flushHeaders();
  return undefined;
};
const write: Handler = ({ outgoing }) => {
  outgoing.write('the first part');
  return undefined;
};
/** More than a client that does not read has room for: of HTTP/1.1, the buffers of the system. */
const large: Handler = ({ incoming }) => 'x'.repeat(incoming.httpVersionMajor === 2 ? 1000 : 20_000_000);

const head = (leaver: Leaver): Promise<unknown> => leaver.head;

const MOMENTS: readonly Moment[] = [
  { name: 'at once', handle: never, room: 'all' },
  { name: 'before the headers', handle: never, room: 'all', reached: async () => undefined, holds: true },
  { name: 'after the headers alone', handle: begin, room: 'all', reached: head, holds: true },
  { name: 'amid the data', handle: write, room: 'all', reached: head, holds: true },
  { name: 'between the headers and the first part', handle: write, room: 'head', reached: head, holds: true },
  { name: 'between the headers and the whole body', handle: large, room: 'head', reached: head, holds: true },
  { name: 'after the last byte', handle: () => 'at last', room: 'all', reached: (leaver) => leaver.lastByte },
];

/** More than there are ways. */
const CONCURRENCY = 500;
const COUNT = 1000;

/** All ways in which a request can end, at each moment: no slot is left, and each request is settled. */
export function endCases(storeName: string, makeStore: () => Promise<Store>): void {
  const table: Record<string, Record<string, string>> = {};

  for (const framework of FRAMEWORKS) {
    describe(`${framework.name} over ${framework.protocol}, ${storeName}`, () => {
      test.each(MOMENTS)(
        'whichever way clients leave $name, the slots are back within two seconds, and each request is settled',
        async (moment) => {
          const { port, decided, held, spent, connections, areDecided } = await serve(
            framework,
            moment,
            await makeStore(),
          );
          const leavers = await leaversOf(framework.protocol, port, '/', moment.room);
          const isEarly = moment.reached === undefined;
          const count = leavers.length;
          await expect.poll(connections).toBe(count);
          await Promise.all(leavers.map((leaver) => moment.reached?.(leaver)));
          await expect.poll(decided).toBeGreaterThanOrEqual(isEarly ? 0 : count);
          const heldThen = await held();
          expect(heldThen).toEqual(moment.holds === true ? [count, count] : heldThen);
          for (const leaver of leavers) leaver.leave();
          await expect.poll(() => !isEarly || areDecided(leavers)).toBe(true);
          await expectWithin(2000, held, [0, 0]);
          await expectWithin(1000, spent, decided());
          const left = (await held()).join(' + ');
          (table[`${framework.name}, ${framework.protocol}`] ??= {})[moment.name] = `${left} of ${decided()}`;
        },
      );
    });
  }

  afterAll(() => {
    if (process.env['SLUICE_TABLE'] === undefined) return;
    console.log(`Slots left in the ${storeName} and in the process, of how many requests, on Node ${process.version}:`);
    console.table(table);
  });
}

/** Serves requests with a slot of the store, one of this process, and a cost that is settled. */
async function serve(framework: Framework, { handle }: Moment, store: Store) {
  const key = everyone();
  const limiter = createLimiter<NativeRequest>({
    limits: {
      Fleet: concurrency({ key, concurrency: CONCURRENCY }),
      Here: concurrency({ key, concurrency: CONCURRENCY, scope: 'process' }),
      Logins: { key, count: COUNT, period: '1d' },
    },
    store,
    // A server that is late would leave slots to expire.
    failure: { deadlineMs: 20_000 },
    log: false,
  });
  onTestFinished(async () => limiter.close({ store: true }));
  let arrived = 0;
  let decisions = 0;
  const settle = framework.settle(() => 1);
  const { port, server } = await start(framework, {
    before: () => void arrived++,
    limits: [
      {
        limiter,
        limits: ['Fleet', 'Here', { limit: 'Logins', mode: 'check-only', settle, settleAborted: true }],
        onDecision: () => decisions++,
      },
    ] as Options[],
    routes: { '/': { handle } },
  });
  const remaining = async (limit: string): Promise<number> =>
    (await limiter.check([{ limit, id: 'everyone' }])).results[0]!.remaining;
  const connections = (): Promise<number> =>
    new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
  return {
    port,
    connections,
    /** Whether the requests of all clients have arrived, or can't any more, and are decided. */
    areDecided: async (leavers: readonly Leaver[]) => {
      await Promise.all(leavers.map((leaver) => leaver.heard()));
      return (await connections()) === leavers.filter((leaver) => leaver.isOpen()).length && arrived === decisions;
    },
    decided: () => decisions,
    held: async () => [CONCURRENCY - (await remaining('Fleet')), CONCURRENCY - (await remaining('Here'))],
    spent: async () => COUNT - (await remaining('Logins')),
  };
}
