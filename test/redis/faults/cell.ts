import type { FailurePolicy, Store } from '@sluice/core';
import type { RedisClient } from '@sluice/redis';
import { until } from '../servers/until.ts';
import type { ClientKind } from './clients.ts';
import { FAULT_MS, type End, type Fault } from './faults.ts';
import { Gateway } from './gateway.ts';
import { Load, type Answered } from './load.ts';
import { charges, type Charged } from './probes.ts';
import { Rejections } from './rejections.ts';
import { Scene } from './scene.ts';
import { Stalls } from './stalls.ts';
import { realDelay } from '../../real-delay.ts';

export const DEADLINE_MS = 50;

const SETTLED_MS = 500;
const HANGS_AFTER_MS = 5000;
const GIVES_UP_AFTER_MS = 15_000;

const ALL = ['one', 'two', 'probe'] as const;

/** One cell of the matrix. */
export interface Cell {
  readonly fault: Fault;
  readonly policy: FailurePolicy;
  readonly client: ClientKind;
}

/** What was seen in it. */
export interface Observed {
  readonly answers: readonly Answered[];
  readonly charged: readonly Charged[];
  /** From the end of the fault to the first answers of the store for all clients; undefined when none came. */
  readonly recoveryMs: number | undefined;
  readonly stalls: Stalls;
  readonly rejections: number;
  /** How long `close` took. */
  readonly closeMs: number;
}

/** How the store under test is made from an application's client. */
export type MakeStore = (client: RedisClient) => Store;

/** Runs a cell: a server, a client, a gateway under load, a fault that comes and goes. */
export async function runCell(cell: Cell, makeStore: MakeStore): Promise<Observed> {
  const scene = await Scene.open();
  try {
    return await observe(cell, scene, makeStore);
  } finally {
    await scene.close();
  }
}

async function observe({ fault, policy, client: kind }: Cell, scene: Scene, makeStore: MakeStore): Promise<Observed> {
  let end: End | undefined = fault.atBoot && (await fault.begin(scene));
  const application = kind.open(scene.proxy.port);
  const store = makeStore(application.client);
  const gateway = new Gateway(store, { policy, deadlineMs: DEADLINE_MS });
  const load = new Load(gateway, await gateway.listen());
  const stalls = new Stalls();
  const rejections = new Rejections();
  try {
    if (!fault.atBoot) await healthy(load);
    const beganMs = performance.now();
    end ??= await fault.begin(scene);
    await realDelay(FAULT_MS - (performance.now() - beganMs));
    await end();
    const endedMs = performance.now();
    const recoveryMs = await recovery(load, endedMs);
    await realDelay(SETTLED_MS);
    await load.stop(HANGS_AFTER_MS);
    const answers = load.answers();
    const closingMs = performance.now();
    await gateway.close();
    await store.close();
    const closeMs = performance.now() - closingMs;
    application.close();
    const charged = await charges(scene, answers);
    return { answers, charged, recoveryMs, stalls, rejections: rejections.count, closeMs };
  } finally {
    load.end();
    stalls.stop();
    rejections.end();
  }
}

async function healthy(load: Load): Promise<void> {
  await until('the store decides', () => ALL.every((accounts) => load.storeDecidedAfter(0, accounts) !== undefined));
  await realDelay(SETTLED_MS);
}

async function recovery(load: Load, endedMs: number): Promise<number | undefined> {
  const decidedMs = (): (number | undefined)[] => ALL.map((accounts) => load.storeDecidedAfter(endedMs, accounts));
  try {
    await until('the store decides again', () => decidedMs().every((ms) => ms !== undefined), {
      withinMs: GIVES_UP_AFTER_MS,
    });
    return Math.max(...decidedMs().map((ms) => ms! - endedMs));
  } catch {
    return undefined;
  }
}
