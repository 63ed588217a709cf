import { systemTime } from '@sluice/core/kit';
import { describe, expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { tcpProxy } from '../../../../test/redis/servers/tcp-proxy.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import { call, isUp, openScriptClient, rejection, CLIENTS } from '../ioredis/support/client.ts';
import { add } from '../ioredis/support/scripts.ts';

function isRun(reply: Promise<unknown>): Promise<boolean> {
  return reply.then(
    () => true,
    () => false,
  );
}

describe.each(CLIENTS)('clocks that differ, by a script client of $name', ({ clientTo }) => {
  /** A script client whose own clock can be set: only how far both are apart counts, so the server's might as well be. */
  async function openWithClock() {
    const server = await redisServer();
    const proxy = await tcpProxy(server);
    const time = { ...systemTime, aheadMicros: 0, nowMicros: () => systemTime.nowMicros() + time.aheadMicros };
    const scriptClient = openScriptClient({ client: clientTo(proxy.port), time });
    await isUp(scriptClient);
    return { server, proxy, scriptClient, time };
  }

  test.each([
    ['ahead of the server', 86_400],
    ['behind the server', -86_400],
  ])('have no effect: a day %s', async (_, aheadSeconds) => {
    const { scriptClient, time } = await openWithClock();
    time.aheadMicros = aheadSeconds * 1_000_000;
    await scriptClient.run(call(add));
    expect(await scriptClient.run(call(add))).toEqual([expect.any(Number), 2]);
  });

  test('cost one call a second try when the server’s goes ahead, and are known from then on', async () => {
    const { scriptClient, time } = await openWithClock();
    time.aheadMicros = -10_000_000;
    expect(await scriptClient.run(call(add, { deadlineMs: 1000 }))).toEqual([expect.any(Number), 1]);
    expect(scriptClient.status().counts.expired).toBe(1);
    expect(await scriptClient.run(call(add, { deadlineMs: 1000 }))).toEqual([expect.any(Number), 2]);
    expect(scriptClient.status().counts.expired).toBe(1);
  });

  test('cost a call its answer when half of its time is over by the first try', async () => {
    const { proxy, scriptClient, time, server } = await openWithClock();
    time.aheadMicros = -10_000_000;
    proxy.delay(300);
    const { code, message } = await rejection(scriptClient.run(call(add, { deadlineMs: 500 })));
    expect(code).toBe('ERR_STORE_DEADLINE');
    expect(message).toContain('did not run it');
    expect(await server.call('GET', 'key')).toBe(null);
    expect(scriptClient.status().counts).toMatchObject({ expired: 1, missed: 0 });
    // The clock is known now: the next call needs one try, however long a busy machine takes for it.
    expect(await scriptClient.run(call(add, { deadlineMs: 5000 }))).toEqual([expect.any(Number), 1]);
    expect(scriptClient.status().counts).toMatchObject({ expired: 1, missed: 0 });
  });

  test('never let a script write after its deadline, when the server’s clock was set back and is known again', async () => {
    const { server, proxy, scriptClient, time } = await openWithClock();
    time.aheadMicros = 10_000_000;
    await scriptClient.run(call(add));
    proxy.stall();
    expect(await rejection(scriptClient.run(call(add, { deadlineMs: 30 })))).toMatchObject({
      code: 'ERR_STORE_DEADLINE',
    });
    await proxy.pass();
    // On a busy machine the connection may have been replaced, with the calls on it.
    await until('a later call has run', () => isRun(scriptClient.run(call(add, { keys: ['other'] }))));
    expect(await server.call('GET', 'key')).toBe('1');
  });
});
