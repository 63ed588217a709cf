import { expect, test } from 'vitest';
import { mayLackFields } from '../../src/http/lacking-fields.ts';

const lines = (count: number): string[] => Array.from({ length: count }, () => ['x', '1']).flat();
const by = (maxHeadersCount?: unknown) => ({ server: { maxHeadersCount } });

test.each<[string, Parameters<typeof mayLackFields>[0], boolean]>([
  ['has fewer lines than Node keeps', { rawHeaders: lines(999), socket: by() }, false],
  ['has as many', { rawHeaders: lines(1000), socket: by() }, true],
  ['has as many as its server keeps', { rawHeaders: lines(10), socket: by(10) }, true],
  ['has fewer than its server keeps', { rawHeaders: lines(1999), socket: by(2000) }, false],
  ['has a server that keeps all', { rawHeaders: lines(5000), socket: by(0) }, false],
  ['has a server that says null', { rawHeaders: lines(1000), socket: by(null) }, true],
  ['has a socket without a server', { rawHeaders: lines(1000), socket: {} }, true],
  ['has no socket any more', { rawHeaders: lines(1000), socket: null }, true],
  ['came over HTTP/2', { rawHeaders: lines(5000), httpVersionMajor: 2, socket: by() }, false],
  ['has no list of its lines', {}, false],
])('whether fields of a request may be lost that %s', (_what, request, expected) => {
  expect(mayLackFields(request)).toBe(expected);
});
