import { leasedStore, type LeasedStoreOptions } from '@sluice/redis';
import { Cluster } from 'ioredis';
import { describe, expect, test } from 'vitest';

const url = 'redis://127.0.0.1:1';

function make(options: object): unknown {
  const all: LeasedStoreOptions = { url, gateways: 2, ...options };
  return leasedStore(all);
}

describe('the options of leasedStore', () => {
  test.each([
    ['an unknown option', { gateway: 2 }, 'ERR_UNKNOWN_OPTION', 'Did you mean `gateways`?'],
    ['no number of processes', { gateways: undefined }, 'ERR_OPTION', 'gateways: 4'],
    ['no process', { gateways: 0 }, 'ERR_OPTION', 'from 1 to 10000'],
    ['a sync time that is too short', { syncEvery: '19ms' }, 'ERR_DURATION', 'from 20ms to 1 second'],
    ['a sync time without a unit', { syncEvery: 200 }, 'ERR_DURATION', "'200ms' for milliseconds"],
    ['a wait that is too long', { maxWait: '1001ms' }, 'ERR_DURATION', 'from 1ms to 1 second'],
    ['an unknown mode', { mode: 'waits' }, 'ERR_OPTION', "Write mode: 'wait'."],
    ['no bucket', { maxKeys: 0 }, 'ERR_OPTION', 'from 1 to 10000000'],
    ['a log that is no function', { log: true }, 'ERR_OPTION', 'log: (line)'],
    ['neither a client nor a URL', { url: undefined }, 'ERR_OPTION', 'leasedStore({ url:'],
    ['a client instead of options', { duplicate: () => undefined }, 'ERR_OPTION', 'leasedStore({ client })'],
  ])('reject %s, with a remedy', (_, options, code, remedy) => {
    expect(() => make(options)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(remedy) }) as Error,
    );
  });

  test.each([undefined, 'id'])('reject the hash tag %j in a cluster, whose slots one call must not mix', (hashTag) => {
    const client = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true });
    expect(() => make({ url: undefined, client, hashTag })).toThrow(
      expect.objectContaining({
        code: 'ERR_OPTION',
        message: expect.stringContaining('For example hashTag:'),
      }) as Error,
    );
  });
});
