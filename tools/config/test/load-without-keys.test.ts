import { writeFileSync } from 'node:fs';
import { createLimiter } from '@sluice/core';
import { loadLimits, loadWithoutKeys, watchLimits } from '@sluice/config';
import { describe, expect, it } from 'vitest';
import { rejected, thrown } from '../../../packages/core/test/support/thrown.ts';
import { KEYS, written } from './written-files.ts';

const FILE = `
PerAddress: { count: 20, period: 1s, idFormat: ipAddress }
PerColor: { count: 3, period: 1s, idFormat: color }
Unsaid: { count: 1, period: 1s }
Worker: { load: eventLoop }
PerUser: { count: 1, period: 1s, idFormat: accountId, borrow: { from: Pool, ceiling: { count: 2, period: 1s } } }
Pool: { count: 10, period: 1s }
`;
const OVERRIDES = '- PerAddress: { count: 30, period: 1s, ids: [10.0.0.0/8] }\n';
const color = { name: 'color', canonical: (text: string) => text.toLowerCase() };

describe('loadWithoutKeys', () => {
  it('loads limits with the id formats of the file, and overrides', async () => {
    const { defaults, overrides } = written({ limits: FILE, overrides: OVERRIDES });
    const limiter = createLimiter({ ...(await loadWithoutKeys({ defaults, overrides, formats: [color] })) });
    const { results } = await limiter.check([
      { limit: 'PerAddress', id: '::ffff:10.1.2.3' },
      { limit: 'PerColor', id: 'RED' },
      { limit: 'PerUser', id: 'alice' },
    ]);
    expect(results.map(({ id, count, overridden }) => ({ id, count, overridden }))).toEqual([
      { id: '10.1.2.3', count: 30, overridden: true },
      { id: 'red', count: 3, overridden: false },
      { id: 'alice', count: 1, overridden: false },
    ]);
    expect((await limiter.check([{ limit: 'Pool', id: 'everyone' }])).remaining).toBe(10);
  });

  it('rejects every id of a limit without an idFormat, and not the file', async () => {
    const { defaults } = written({ limits: FILE });
    const limiter = createLimiter({ ...(await loadWithoutKeys({ defaults, formats: [color] })) });
    expect(thrown(() => limiter.checkSync([{ limit: 'Unsaid', id: 'alice' }]))).toMatchObject({
      code: 'ERR_ID',
      message:
        'The limit `Unsaid` has no idFormat, so it is not known which bucket an id has. Add the format of its key in code to the file, for example idFormat: accountId.',
    });
  });

  it('gives the same content the same version as loadLimits', async () => {
    const { defaults } = written({});
    const { version, loadedAt } = await loadWithoutKeys({ defaults });
    expect(version).toBe((await loadLimits({ defaults, keys: KEYS })).version);
    expect(loadedAt).toBeInstanceOf(Date);
  });

  it('rejects files with problems and wrong options as loadLimits does', async () => {
    const { defaults } = written({ limits: 'Orders: { count: 0, period: 1s }\n' });
    expect(await rejected(() => loadWithoutKeys({ defaults }))).toMatchObject({
      code: 'ERR_LIMIT_FILES',
      message: expect.stringContaining('limits.yaml:1:18: `Orders.count` must be') as string,
    });
    expect((await rejected(() => loadWithoutKeys({ defaults, keys: KEYS } as never))).code).toBe('ERR_UNKNOWN_OPTION');
  });

  it('returns limits that can be watched', async () => {
    const { defaults } = written({ limits: 'Orders: { count: 1, period: 1s, idFormat: accountId }\n' });
    const loaded = await loadWithoutKeys({ defaults });
    const limiter = createLimiter({ ...loaded });
    const live = watchLimits(limiter, loaded, { everyMs: false });
    writeFileSync(defaults, 'Orders: { count: 2, period: 1s, idFormat: accountId }\n');
    await live.reload();
    expect((await limiter.check([{ limit: 'Orders', id: 'alice' }])).results[0]?.count).toBe(2);
    live.close();
  });
});
