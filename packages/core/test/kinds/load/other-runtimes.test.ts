import { eventLoop } from '@sluice/core/load';
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => vi.unstubAllGlobals());

test('in a runtime without Node, eventLoop() is an error that names what to use', () => {
  vi.stubGlobal('process', undefined);
  expect(() => eventLoop()).toThrow(
    expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringContaining('loadFrom(() => used / size)') }),
  );
});
