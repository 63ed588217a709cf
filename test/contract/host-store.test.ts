import { hostStore } from '@sluice/host';
import { FakeTime, storeContract, type ContractCase } from '@sluice/core/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { rmSync } from 'node:fs';
import { HostProcess } from '../host/host-process.ts';
import { folder } from '../host/socket-path.ts';
import { patient } from '../patient.ts';
import { realDelay } from '../real-delay.ts';
import { until } from '../redis/servers/until.ts';

const paths = folder();
const server = new HostProcess();
afterAll(async () => {
  await server.kill();
  paths.delete();
});

let isFrozen = false;

/** Stops the process that serves while a function runs. */
async function whileFrozen(run: () => Promise<void>): Promise<void> {
  server.freeze();
  isFrozen = true;
  try {
    await run();
  } finally {
    isFrozen = false;
    server.thaw();
  }
}

/** A store of this process, which asks another one. */
async function askingStore({ time, steered = false }: { readonly time?: FakeTime; readonly steered?: boolean } = {}) {
  const socket = paths.newSocket();
  await server.open(socket, { steered });
  const store = patient(hostStore({ socket, time, log: false }));
  await store.ready();
  return { store, provokeReport: () => changeServer(socket, store) };
}

/** Lets this process serve, or if it does, another one: its socket has no name any more when that one looks for it. */
async function changeServer(socket: string, store: ReturnType<typeof hostStore>): Promise<void> {
  const { role } = store.status();
  if (role === 'asking') {
    await server.close(socket);
  } else {
    await letServe(socket);
  }
  const next = role === 'asking' ? 'serving' : 'asking';
  await until(`this process is ${next}`, () => store.status().role === next);
}

/** Takes the name of the socket from this process. It may have a new one before the other process looks for it. */
async function letServe(socket: string): Promise<void> {
  for (;;) {
    for (const file of paths.files()) if (file.startsWith(socket)) rmSync(file);
    // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
    if ((await server.open(socket)).role === 'serving') return;
    // oxlint-disable-next-line no-await-in-loop
    await server.close(socket);
  }
}

test('the store of these tests asks another process', async () => {
  const { store } = await askingStore();
  expect(store.status()).toMatchObject({ role: 'asking', serverPid: server.pid });
  await store.close();
});

/** Most of the time of these cases is waiting for the real clock. */
function keepsAll(cases: readonly ContractCase[]): void {
  test.concurrent.each(cases.filter(({ alone }) => !alone))('$name', keepsPromise);
  test.each(cases.filter(({ alone }) => alone))('$name', keepsPromise);
}

async function keepsPromise({ run }: ContractCase): Promise<void> {
  await expect(run()).resolves.toBeUndefined();
}

describe('the host store keeps the contract of stores over a socket', () => {
  const cases = storeContract({
    clock: 'real',
    async create() {
      return { ...(await askingStore()), advance: realDelay, hang: whileFrozen };
    },
  });
  keepsAll(cases);
});

describe('on clocks that a test moves', () => {
  const cases = storeContract({
    clock: 'steered',
    async create() {
      const time = new FakeTime();
      const { store } = await askingStore({ time, steered: true });
      return {
        store,
        hang: whileFrozen,
        advance: async (ms) => {
          const advanced = server.advance(ms);
          // While it is frozen, it does not answer.
          if (!isFrozen) await advanced;
          await time.pass(ms);
        },
        stepBack: async (ms) => {
          time.set(time.nowMs - ms);
          await server.stepBack(ms);
        },
      };
    },
  });
  // The cases of `watch` need the real time.
  test.each(cases.filter(({ name }) => !name.endsWith('of a store that has watch')))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});

describe('in the process that serves', () => {
  const cases = storeContract({
    clock: 'real',
    async create() {
      const socket = paths.newSocket();
      const store = patient(hostStore({ socket, log: false }));
      await store.ready();
      const hang = async (): Promise<void> => {
        // Its calls are answered at once, whatever other processes do.
      };
      const provokeReport = async (): Promise<void> => {
        if (store.status().role === 'asking') return changeServer(socket, store);
        await letServe(socket);
        await until('another process serves', () => store.status().role === 'asking');
      };
      return { store, advance: realDelay, hang, provokeReport };
    },
  });
  keepsAll(cases);
});
