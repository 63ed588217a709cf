import { createLimiter, memoryStore, type LimiterEvent, type LimiterOptions } from '@sluice/core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { coreOf } from '../../src/limiter/create-limiter.ts';
import { requestFrom } from '../support/fake-request.ts';
import { accountLimits } from '../support/limiter-on-fake-time.ts';
import { thrown } from '../support/thrown.ts';

const limits = accountLimits({ Orders: { count: 5, period: '1s' } });
const entry = [{ limit: 'Orders', id: '7' }];
const make = (options: object) => createLimiter({ limits, ...options });

/** A limiter whose every decision makes an event. */
const failing = (options: object) => make({ overrides: () => null, ...options });
const MESSAGE = /^Sluice: The overrides function failed for limit "Orders" /;

afterEach(() => void vi.restoreAllMocks());

describe('createLimiter rejects', () => {
  test.each<[what: string, options: unknown, code: string, message: string]>([
    ['what is no object', null, 'ERR_OPTION', '`createLimiter` must be an object, but was null.'],
    [
      'options without limits',
      {},
      'ERR_OPTION',
      "`limits` must be an object of limits by name, but was undefined. For example limits: { Requests: { key: clientNetwork(), count: 100, period: '1m' } }.",
    ],
    [
      'an unknown option',
      { limits, stores: 5 },
      'ERR_UNKNOWN_OPTION',
      '`createLimiter` has no option `stores` (its value was 5). Did you mean `store`? ' +
        'Options: limits, overrides, overridesDeadlineMs, onDecision, store, trustedProxies, addressHeader, decodeNat64, failure, onEvent, log, time.',
    ],
    [
      'a store that is none',
      { limits, store: 'redis://' },
      'ERR_OPTION',
      '`store` must be a store, such as memoryStore(): it has no method `run`.',
    ],
    [
      'a store that is null',
      { limits, store: null },
      'ERR_OPTION',
      '`store` must be a store, such as memoryStore(): it has no method `run`. For a memory store of its own, leave `store` out.',
    ],
    [
      'a store that was not made',
      { limits, store: memoryStore },
      'ERR_OPTION',
      '`store` must be a store, such as memoryStore(): it has no method `run`. It is a function: write what it returns, store: memoryStore(…).',
    ],
    [
      'a store that was not made, by a function without a name',
      { limits, store: [() => memoryStore()][0] },
      'ERR_OPTION',
      '`store` must be a store, such as memoryStore(): it has no method `run`. It is a function: write what it returns, store: makeStore(…).',
    ],
    [
      'a store that is promised',
      { limits, store: Promise.resolve(memoryStore()) },
      'ERR_OPTION',
      '`store` must be a store, such as memoryStore(): it has no method `run`. It is a promise: write store: await ….',
    ],
    [
      'limits that are options themselves',
      { Orders: 5 },
      'ERR_UNKNOWN_OPTION',
      '`createLimiter` has no option `Orders` (its value was 5). ' +
        "For example createLimiter({ limits: { Requests: { key: clientNetwork(), count: 100, period: '1m' } } }). " +
        'Options: limits, overrides, overridesDeadlineMs, onDecision, store, trustedProxies, addressHeader, decodeNat64, failure, onEvent, log, time.',
    ],
    [
      'a store that lacks a method',
      { limits, store: { run() {} } },
      'ERR_OPTION',
      '`store` must be a store, such as memoryStore(): it has no method `close`.',
    ],
    [
      'a store that does not answer at once, without its guard',
      { limits, store: { run() {}, close() {} } },
      'ERR_OPTION',
      '`store.guard` must be `storeGuard`, by which failure policies decide when the store does not answer in time, but was undefined. ' +
        "Write import { storeGuard } from '@sluice/core/store'; and store: { guard: storeGuard, … }. " +
        "A store whose calls all return values and can't fail has traits = { answersAtOnce: true } instead.",
    ],
    [
      'a class of such stores',
      {
        limits,
        store: new (class TableStore {
          guard = true;
          run() {}
          close() {}
        })(),
      },
      'ERR_OPTION',
      '`store.guard` must be `storeGuard`, by which failure policies decide when the store does not answer in time, but was true. ' +
        "Write import { storeGuard } from '@sluice/core/store'; and class TableStore { readonly guard = storeGuard; … }. ",
    ],
    [
      'a listener that is no function',
      { limits, onEvent: 'log' },
      'ERR_OPTION',
      "`onEvent` must be a function, but was 'log'. For example onEvent: (event) => metrics.count(event.type).",
    ],
    [
      'a log that is no function',
      { limits, log: true },
      'ERR_OPTION',
      '`log` must be a function of a line, or false, but was true.',
    ],
    [
      'a time that is only a clock',
      { limits, time: Date },
      'ERR_OPTION',
      '`time` must be an object with the methods nowMicros, wallNow, alarm, endOfTurn, but was ',
    ],
    [
      'a deadline of overrides that is no whole number',
      { limits, overridesDeadlineMs: 0.5 },
      'ERR_OPTION',
      '`overridesDeadlineMs` must be a whole number from 1 to 60000, but was 0.5.',
    ],
    [
      'a deadline of overrides of nothing',
      { limits, overridesDeadlineMs: 0 },
      'ERR_OPTION',
      '`overridesDeadlineMs` must be a whole number from 1 to 60000, but was 0.',
    ],
    [
      'a deadline of overrides of more than a minute',
      { limits, overridesDeadlineMs: 60_001 },
      'ERR_OPTION',
      '`overridesDeadlineMs` must be a whole number from 1 to 60000, but was 60001.',
    ],
    [
      'a wrong failure policy',
      { limits, failure: { onFailure: 'shut' } },
      'ERR_OPTION',
      "`failure.onFailure` must be 'local' or 'closed' or 'open', but was 'shut'.",
    ],
  ])('%s', (_, options, code, message) => {
    const error = thrown(() => createLimiter(options as LimiterOptions));
    expect(error).toMatchObject({ code, status: 500 });
    expect(error.message.slice(0, message.length)).toBe(message);
  });

  test('wrong proxies', () => {
    expect(thrown(() => make({ trustedProxies: ['10.0.0.0/33'] })).code).toBe('ERR_CIDR');
  });

  test('half of it: after an error no name is taken', () => {
    const store = memoryStore();
    for (const wrong of [{ failure: { deadlineMs: 0 } }, { trustedProxies: ['x'] }, { overridesDeadlineMs: 0 }]) {
      expect(thrown(() => make({ store, ...wrong })).status).toBe(500);
    }
    expect(() => make({ store })).not.toThrow();
  });
});

describe('events', () => {
  test('go to onEvent and, as a line, to the log', () => {
    const events: LimiterEvent[] = [];
    const lines: string[] = [];
    const limiter = failing({
      onEvent: (event: LimiterEvent) => events.push(event),
      log: (line: string) => lines.push(line),
    });
    limiter.spendSync(entry);
    expect(events).toMatchObject([{ type: 'override-failed', limit: 'Orders', id: '7' }]);
    expect(lines).toEqual([`Sluice: ${events.at(0)!.message}`]);
    expect(lines[0]).toMatch(MESSAGE);
  });

  test('go to console.warn unless another log is given', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    await failing({}).spend(entry);
    expect(warn.mock.calls).toEqual([[expect.stringMatching(MESSAGE)]]);
  });

  test('go to no log when it is false', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    await failing({ log: false }).spend(entry);
    expect(warn).not.toHaveBeenCalled();
  });

  const faults: [what: string, fault: () => unknown][] = [
    [
      'throws',
      () => {
        throw new Error('full disk');
      },
    ],
    ['rejects', () => Promise.reject(new Error('full disk'))],
  ];

  test.each(faults)('are harmless when the listener %s', async (_, fault) => {
    expect((await failing({ onEvent: fault, log: false }).spend(entry)).remaining).toBe(4);
    await new Promise(setImmediate);
  });

  test.each(faults)('are harmless when the log %s, and still reach the listener', async (_, fault) => {
    const events: LimiterEvent[] = [];
    const limiter = failing({ log: fault, onEvent: (event: LimiterEvent) => events.push(event) });
    expect(limiter.spendSync(entry).remaining).toBe(4);
    await new Promise(setImmediate);
    expect(events).toHaveLength(1);
  });

  test('include a warning when there seems to be a proxy and trustedProxies is not set', () => {
    const events: LimiterEvent[] = [];
    const core = coreOf(make({ log: false, onEvent: (event: LimiterEvent) => events.push(event) }));
    core.clientAddress(requestFrom('10.0.0.1', { 'x-forwarded-for': '203.0.113.7' }));
    expect(events).toMatchObject([{ type: 'warning', message: expect.stringContaining('trustedProxies') as string }]);
  });
});
