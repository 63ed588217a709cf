import '../../../../test/redis/servers/teardown.ts';
import { describe, expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { call, ended, isUp, lineTo, VERSIONS } from './support/line.ts';
import { add, echo } from './support/scripts.ts';

describe.each(VERSIONS)('a line beside a client of $version', ({ Redis }) => {
  test('runs a script on the client’s server, and gives its time and what it answered', async () => {
    const server = await redisServer();
    const line = lineTo({ client: ended(new Redis(server.port)) });
    await isUp(line);
    const before = (Date.now() - Date.UTC(2026, 0)) * 16_000;
    const [nowTicks, ...rest] = await line.run(call(echo, { args: ['a', 7, ''] }));
    expect(rest).toEqual(['a', '7', '']);
    expect(Math.abs(Number(nowTicks) - before)).toBeLessThan(1000 * 16_000);
  });

  test('writes what the script writes', async () => {
    const server = await redisServer();
    const line = lineTo({ client: ended(new Redis(server.port)) });
    await isUp(line);
    await line.run(call(add));
    expect(await line.run(call(add))).toEqual([expect.any(Number), 2]);
    expect(await server.call('GET', 'key')).toBe('2');
  });
});
