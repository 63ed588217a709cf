import { fromHeaders } from '@sluice/core';
import { flowSettings, grpcTimeoutMs } from '@sluice/core/http';
import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import { dueOf, type CallerDeadline } from '../../src/http/caller-deadline.ts';
import { plainExchange } from '../support/plain-exchange.ts';
import { thrown } from '../support/thrown.ts';

test.each([
  ['1S', 1000],
  ['99999999H', 99_999_999 * 3_600_000],
  ['00000001M', 60_000],
  ['250m', 250],
  ['1500u', 1.5],
  ['20n', 0.000_02],
  ['0m', 0],
])('the field grpc-timeout %s says %d ms', (field, ms) => {
  expect(grpcTimeoutMs(field)).toBeCloseTo(ms, 9);
});

test.each([
  undefined,
  '',
  '1',
  'S',
  '1s',
  '100000000n',
  '-1S',
  '+1S',
  '1.5S',
  ' 1S',
  '1S ',
  '1 S',
  '1S\n',
  '1S, 2S',
  '１S',
  '1e3m',
  'constructor',
])('the field grpc-timeout %o is none', (field) => {
  expect(grpcTimeoutMs(field)).toBeUndefined();
});

const leftMs = (headers: Readonly<Record<string, string>>): number | undefined =>
  fromHeaders().leftMs({ header: (name) => headers[name] });
const ENVOY = 'x-envoy-expected-rq-timeout-ms';

test.each<readonly [headers: Readonly<Record<string, string>>, expected: number | undefined]>([
  [{}, undefined],
  [{ [ENVOY]: '15000' }, 15_000],
  [{ [ENVOY]: '15000', 'grpc-timeout': '2S' }, 2000],
  [{ [ENVOY]: '500', 'grpc-timeout': '2S' }, 500],
  [{ [ENVOY]: '0', 'grpc-timeout': '2S' }, 2000],
  ...['0', '-1', '1.5', '0x10', '1e3', ' 5', '12345678901', '5, 5', '5ms', 'Infinity', ''].map(
    (wrong) => [{ [ENVOY]: wrong }, undefined] as const,
  ),
])('the fields %o say %o ms', (headers, expected) => {
  expect(leftMs(headers)).toBe(expected);
});

const exchange = plainExchange();

test('a deadline counts from now, by the clock of the limiter, and a date by the wall clock', () => {
  const time = new FakeTime(1000);
  time.setWall(Date.parse('2026-12-01T00:00:00Z'));
  const due = (given: unknown): number | undefined => dueOf(() => given as number, exchange, time);
  expect([0, 1.5, -20, 1e9].map(due)).toEqual([1_000_000, 1_001_500, 980_000, 1_000_001_000_000]);
  expect([undefined, Infinity].map(due)).toEqual([undefined, undefined]);
  expect(due(new Date('2026-12-01T00:00:02Z'))).toBe(3_000_000);
  expect(due(new Date('2026-11-30T23:59:59Z'))).toBe(0);
});

test.each([NaN, null, '500', '1s', new Date(NaN), Promise.resolve(5), {}, 5n])(
  'a function that returns %o is an error',
  (given) => {
    const error = thrown(() => dueOf(() => given as number, exchange, new FakeTime()));
    expect(error).toMatchObject({ code: 'ERR_OPTION', path: 'deadline' });
  },
);

test.each([null, 500, '1s', {}, new Date(), { leftMs: 5 }])('a deadline of %o is an error', (deadline) => {
  const options = { count: 1, period: '1s', deadline: deadline as CallerDeadline } as const;
  expect(thrown(() => flowSettings(options, []))).toMatchObject({ code: 'ERR_OPTION', path: 'deadline' });
});
