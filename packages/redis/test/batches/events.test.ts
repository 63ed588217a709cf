import { expect, test } from 'vitest';
import { connectionChanged, refundLost } from '../../src/batches/events.ts';

const cause = new Error('connect ECONNREFUSED');

test.each([
  ['connecting', 'Redis at 10.0.0.1:6379: not connected yet (Error: connect ECONNREFUSED).'],
  ['up', 'Redis at 10.0.0.1:6379: connected.'],
  [
    'degraded',
    'Redis at 10.0.0.1:6379: some primaries of the cluster are not connected (Error: connect ECONNREFUSED).',
  ],
  ['down', 'Redis at 10.0.0.1:6379: not connected, reconnecting (Error: connect ECONNREFUSED).'],
  ['closed', 'Redis at 10.0.0.1:6379: closed (Error: connect ECONNREFUSED).'],
] as const)('a connection that is %s emits an event', (state, message) => {
  const server = '10.0.0.1:6379';
  expect(connectionChanged({ state, server, cause })).toEqual({ type: 'connection', state, server, cause, message });
});

test('a connection without a server or a cause leaves them out', () => {
  const { message } = connectionChanged({ state: 'closed', server: undefined, cause: undefined });
  expect(message).toBe('Redis: closed.');
});

test('a lost refund reports the number of buckets, the reason and the remedy', () => {
  expect(refundLost(1, cause).message).toBe(
    'A batch over several cluster slots was denied, and what it had taken from 1 bucket could not be given ' +
      'back (Error: connect ECONNREFUSED). It comes back with time. ' +
      'To avoid this, use the option `hashTag` to keep these buckets in one slot.',
  );
  expect(refundLost(2, cause).message).toContain('from 2 buckets could');
});
