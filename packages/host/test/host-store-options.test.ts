import { SluiceError } from '@sluice/core';
import { hostStore, type HostStoreOptions } from '@sluice/host';
import { expect, test } from 'vitest';

function messageFor(options: unknown): string {
  try {
    hostStore(options as HostStoreOptions);
  } catch (error) {
    if (error instanceof SluiceError) return error.message;
    throw error;
  }
  throw new Error('it was taken');
}

const socket = '/tmp/sluice.sock';

test.each([
  [undefined, '`hostStore` must be an object'],
  [{}, '`socket` must be an absolute path of at most 85 bytes, but was undefined'],
  [{ socket: 'limits.sock' }, '`socket` must be an absolute path'],
  [{ socket: '/tmp/' }, '`socket` must be an absolute path'],
  [{ socket: '/tmp/a\0b' }, '`socket` must be an absolute path'],
  [{ socket: `/${'x'.repeat(85)}` }, '`socket` must be an absolute path of at most 85 bytes'],
  [{ socket: `/${'ü'.repeat(43)}` }, '`socket` must be an absolute path of at most 85 bytes'],
  [{ socket, maxKeys: 0 }, '`maxKeys` must be a whole number from 1'],
  [{ socket, time: 1 }, '`time` must be an object'],
  [{ socket, onEvent: 1 }, '`onEvent` must be a function'],
  [{ socket, log: true }, '`log` must be a function of a line, or false'],
  [{ socket, path: '/tmp' }, '`path` is `socket` here'],
  [{ socket, deadlineMs: 50 }, 'createLimiter({ failure: { deadlineMs'],
])('%j is an error with a remedy', (options, message) => {
  expect(messageFor(options)).toContain(message);
});
