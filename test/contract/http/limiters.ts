import {
  accountId,
  createLimiter,
  by,
  memoryStore,
  type Key,
  type Limiter,
  type LimiterOptions,
  type Store,
} from '@sluice/core';
import { storeGuard } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { createHash } from 'node:crypto';
import type { Ask } from './client.ts';
import type { NativeRequest, Options } from './framework.ts';

/** The user that a request names in its `X-User` field; nobody when it names none. */
export const userKey: Key<NativeRequest> = accountId((request: NativeRequest) => userOf(request));

/** The user as well, whose ids are hashes: the id of an id is another one. */
export const hashedUserKey: Key<NativeRequest> = by((request: NativeRequest) => userOf(request), {
  format: { name: 'hashed', canonical: (text) => createHash('sha256').update(text.toLowerCase()).digest('hex') },
});

export function userOf({ headers }: NativeRequest): string | null {
  return (headers['x-user'] as string | undefined) ?? null;
}

/** A request of a user. */
export function as(user: string, headers: Ask['headers'] = {}): Ask {
  return { headers: { 'X-User': user, ...headers } };
}

/** A clock that stands still, and a store that goes by it. */
export function timed(): { time: FakeTime; store: Store } {
  const time = new FakeTime();
  return { time, store: memoryStore({ time }) };
}

/** The options of a middleware with a limit of its own: 5 requests a minute for each user, on a store whose clock does not move. */
export function inlinePerUser(options: object = {}): Options {
  return { name: 'PerUser', key: userKey, count: 5, period: '1m', store: timed().store, ...options };
}

/** A limiter on a store whose clock does not move, without log lines, and with a deadline that a busy machine meets. */
export function stillLimiter({ failure, ...options }: LimiterOptions<NativeRequest>): Limiter<NativeRequest> {
  return createLimiter<NativeRequest>({
    store: timed().store,
    log: false,
    failure: { deadlineMs: 20_000, ...failure },
    ...options,
  });
}

/** What a function gives that is no promise and can be waited for, such as the queries of many database clients. */
export function thenable(then: (done: (value: unknown) => void, fail: (error: unknown) => void) => void): unknown {
  // oxlint-disable-next-line unicorn/no-thenable -- it is what is tried
  return { then };
}

/** A store that answers later, as those over a network do. */
export function lateStore(store: Store = timed().store): Store {
  const later = <T>(answer: () => T): Promise<T> => new Promise((resolve) => setImmediate(() => resolve(answer())));
  return {
    guard: storeGuard,
    traits: { slots: true },
    run: (operation) => later(() => store.run(operation)) as never,
    close: () => store.close(),
  };
}

/** A store that answers nothing that is to be spent before it is released. */
export function heldStore(): { readonly store: Store; readonly arrived: () => number; readonly release: () => void } {
  const { store } = timed();
  let arrived = 0;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const late = lateStore(store);
  const run: Store['run'] = async (operation) => {
    if (operation.kind !== 'spend') return late.run(operation);
    arrived++;
    await released;
    return store.run(operation);
  };
  return { store: { ...late, run }, arrived: () => arrived, release };
}

/** A store that nobody reaches. */
export function brokenStore(): Store {
  const refuse = (): Promise<never> => Promise.reject(new Error('connection refused'));
  return { guard: storeGuard, run: refuse, close: () => undefined };
}
