import { accountId, createLimiter, memoryStore, type Awaitable, type LimiterEvent } from '@sluice/core';
import type { LimitDefinition, LimiterOptions, Rate } from '@sluice/core';
import type { Quota } from '@sluice/core/quota';
import { FakeTime } from '@sluice/core/testing';
import type { Concurrency } from '@sluice/core/concurrency';
import type { LimitSettings } from '../../src/limits/limit-settings.ts';
import { limitOf } from './limit-of.ts';

type Numbers = (Rate | Quota | Concurrency) & Omit<LimitSettings, 'key'>;
type Options = Omit<LimiterOptions, 'limits'>;

/** Limits of accounts, by name. */
export function accountLimits(numbers: Readonly<Record<string, Numbers>>): Record<string, LimitDefinition> {
  return Object.fromEntries(
    Object.entries(numbers).map(([name, given]) => [
      name,
      limitOf({ key: accountId((id: unknown) => String(id)), ...given }),
    ]),
  );
}

/** A limiter of accounts on the memory store and a time that does not move by itself, and what it has reported. */
export function limiterOnFakeTime(numbers: Readonly<Record<string, Numbers>>, options: Options = {}) {
  const time = new FakeTime();
  const store = memoryStore({ time });
  const events: LimiterEvent[] = [];
  const onEvent = (event: LimiterEvent): void => void events.push(event);
  const limiter = createLimiter({ limits: accountLimits(numbers), store, time, log: false, onEvent, ...options });
  return { limiter, time, store, events };
}

/** What a call on a store that answers at once gives: a promise fails the test. */
export function atOnce<T>(value: Awaitable<T>): T {
  if (value instanceof Promise) throw new Error('a promise, where a value was due at once');
  return value;
}
