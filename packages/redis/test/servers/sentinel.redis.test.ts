import { describe, expect, test } from 'vitest';
import { sentinelSet } from '../../../../test/redis/servers/sentinel-set.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import { call, isUp, openScriptClient, rejection, SENTINELS } from '../ioredis/support/client.ts';
import { load, Record } from '../ioredis/support/load.ts';
import { add } from '../ioredis/support/scripts.ts';

describe('script clients of all libraries to the primary that Sentinels name', () => {
  test.each(['killed', 'frozen'])('continue with its successor when it is %s', async (fate) => {
    const set = await sentinelSet();
    const [primary] = set.servers;
    const all = await Promise.all(
      SENTINELS.map(async ({ name, sentinelsTo }) => {
        const scriptClient = openScriptClient({ client: sentinelsTo(set) });
        await isUp(scriptClient);
        return { name, scriptClient, calls: load(scriptClient, { keys: [name] }) };
      }),
    );
    const servers = () => all.map(({ scriptClient }) => scriptClient.status().servers[0]?.server);
    expect(new Set(servers())).toEqual(new Set([`127.0.0.1:${primary?.port}`]));
    await until('calls are done', () => all.every(({ calls }) => calls.done > 10));
    if (fate === 'killed') await primary?.kill();
    else primary?.freeze();
    const before = all.map(({ calls }) => calls.done);
    await until('calls are done again', () => all.every(({ calls }, index) => calls.done > before[index]! + 50));
    await Promise.all(all.map(({ calls }) => calls.stop()));
    const successor = await set.primary();
    expect(successor).not.toBe(primary);
    expect(new Set(servers())).toEqual(new Set([`127.0.0.1:${successor.port}`]));
    const records = await Promise.all(all.map(({ name }) => successor.call<string[]>('LRANGE', name, 0, -1)));
    for (const record of records.map((lines, i) => new Record(lines, all[i]!.calls))) {
      expect(record.length).toBeGreaterThan(50);
      expect([record.lateMs, record.twice]).toEqual([[], []]);
    }
    primary?.thaw();
  });

  test('continue while Sentinels are gone, and find the primary through the one that is left', async () => {
    const set = await sentinelSet();
    const [first, second] = set.sentinels;
    await Promise.all([first?.kill(), second?.kill()]);
    const all = SENTINELS.map(({ sentinelsTo }) => openScriptClient({ client: sentinelsTo(set) }));
    await Promise.all(all.map(isUp));
    await set.sentinels[2]?.kill();
    const replies = await Promise.all(all.map((scriptClient) => scriptClient.run(call(add))));
    expect(new Set(replies.map(([, count]) => count))).toEqual(new Set(all.map((_, index) => index + 1)));
  });
});

describe.each(SENTINELS)('a script client of $name to the primary that Sentinels name', ({ sentinelsTo }) => {
  test('is rejected at once while no Sentinel can be reached, and can be closed then too', async () => {
    const scriptClient = openScriptClient({ client: sentinelsTo({ addresses: [NOWHERE], name: 'none' }) });
    await until('the cause is known', () => String(scriptClient.status().lastError?.cause).includes('sentinels'));
    const { code, message } = await rejection(scriptClient.run(call(add)));
    expect(code).toBe('ERR_STORE_UNAVAILABLE');
    expect(message).toContain('All sentinels are unreachable');
    await scriptClient.close();
    expect(scriptClient.status().state).toBe('closed');
  });
});

const NOWHERE = { host: '127.0.0.1', port: 1 };
