import { beforeAll, describe, expect, it } from 'vitest';
import { redisServer, type RedisServer } from '../redis/servers/redis-server.ts';
import { shell } from './sluice.ts';

describe('the program sluice', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await redisServer();
  });

  it('has examples in the help of all commands that work as pasted', async () => {
    const { out } = await shell('sluice --help');
    const [, list = ''] = out.split('\nCommands:\n');
    const commands = [...list.matchAll(/^ {2}(\w+) /gm)].map(([, name = '']) => name).filter((name) => name !== 'help');
    expect(commands.length).toBeGreaterThan(4);
    for (const command of commands) {
      const [, example = ''] = (await shell(`sluice ${command} --help`)).out.split('\nExample:\n');
      const line = example.replace('redis://127.0.0.1:6379', server.url);
      expect({ command, ...(await shell(line)) }).toMatchObject({ command, code: 0 });
    }
  });

  it('exits with the code of its command', async () => {
    const { code, out } = await shell("echo 'Orders: { count: 0, period: 3h }' | sluice check -");
    expect({ code, out }).toMatchObject({ code: 1, out: expect.stringContaining('`Orders.count` must be') as string });
  });

  it('exits with 2 and its help on stderr when it is called without a command', async () => {
    expect(await shell('sluice')).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('Usage: sluice') as string,
    });
  });

  it('ends without a message when the reader of its output leaves', async () => {
    expect(await shell('sluice --help | true; exit $PIPESTATUS')).toMatchObject({ err: '' });
  });

  it('reports output that cannot be written, as on a full disk', async () => {
    expect(await shell('sluice --help > /dev/full')).toEqual({
      code: 2,
      out: '',
      err: expect.stringContaining("error: The output can't be written: ENOSPC") as string,
    });
  });
});
