import { describe, expect, test } from 'vitest';
import { sentinelSet } from '../../../../test/redis/servers/sentinel-set.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import { call, ended, isUp, openScriptClient, rejection, VERSIONS } from './support/client.ts';
import { load, Record } from './support/load.ts';
import { add } from './support/scripts.ts';

describe.each(VERSIONS)('a script client of $version to the primary that Sentinels name', ({ Redis }) => {
  test.each(['killed', 'frozen'])('continues with its successor when it is %s', async (fate) => {
    const set = await sentinelSet();
    const [primary] = set.servers;
    const client = new Redis({ sentinels: [...set.addresses], name: set.name, lazyConnect: true, role: 'slave' });
    const scriptClient = openScriptClient({ client: ended(client) });
    await isUp(scriptClient);
    expect(scriptClient.status().servers[0]?.server).toBe(`127.0.0.1:${primary?.port}`);
    const calls = load(scriptClient);
    await until('calls are done', () => calls.done > 10);
    if (fate === 'killed') await primary?.kill();
    else primary?.freeze();
    const { done } = calls;
    await until('calls are done again', () => calls.done > done + 50, { withinMs: 20_000 });
    await calls.stop();
    const successor = await set.primary();
    expect(successor).not.toBe(primary);
    const record = new Record(await successor.call('LRANGE', 'key', 0, -1));
    expect(record.length).toBeGreaterThan(50);
    expect(record.lateMs).toEqual([]);
    expect(scriptClient.status().servers[0]?.server).toBe(`127.0.0.1:${successor.port}`);
    primary?.thaw();
  });

  test('is rejected at once while no Sentinel can be reached, and can be closed then too', async () => {
    const client = new Redis({ sentinels: [{ host: '127.0.0.1', port: 1 }], name: 'none', lazyConnect: true });
    const scriptClient = openScriptClient({ client: ended(client) });
    await until('the cause is known', () => String(scriptClient.status().lastError?.cause).includes('sentinels'));
    const { code, message } = await rejection(scriptClient.run(call(add)));
    expect(code).toBe('ERR_STORE_UNAVAILABLE');
    expect(message).toContain('All sentinels are unreachable');
    await scriptClient.close();
    expect(scriptClient.status().state).toBe('closed');
  });
});
