import { describe, expect, it } from 'vitest';
import { redisServer } from '../../../test/redis/servers/redis-server.ts';
import { tcpProxy } from '../../../test/redis/servers/tcp-proxy.ts';
import { written } from './files.ts';
import { run, runJson, type Ran } from './run.ts';

const LIMITS = 'Orders: { count: 300, period: 3h, idFormat: accountId }\n';

/** A command whose n-th call for a bucket reaches Redis, but whose answers are lost from then on. */
async function lost(command: string, nth: number, ...options: string[]): Promise<{ ran: Ran; args: string[] }> {
  const server = await redisServer();
  const proxy = await tcpProxy(server);
  const [limits = ''] = written(LIMITS);
  const args = [limits, 'Orders', 'ida', ...options];
  await run(['charge', '--redis', server.url, limits, 'Orders', 'ida', '--cost', '100']);
  let calls = 0;
  proxy.onRequest = (chunk) => {
    if (chunk.includes('sluice:Orders:ida') && ++calls === nth) proxy.blackhole('replies');
  };
  const ran = await run([command, '--redis', proxy.url, '--timeout', '500', ...args]);
  return { ran, args: ['--redis', server.url, ...args] };
}

describe('an answer that is lost on the way', () => {
  it('of a charge leaves open whether the tokens were taken', async () => {
    const { ran, args } = await lost('charge', 2, '--cost', '7');
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(
      'It is not known whether the change was made. Look at the bucket with sluice peek before you repeat it.',
    );
    expect(await runJson(['peek', ...args])).toMatchObject({ remaining: 193 });
  });

  it('of a refund has a remedy that gives back only what is missing', async () => {
    const { ran, args } = await lost('refund', 2, '--cost', '5');
    expect(ran.code).toBe(2);
    expect(ran.err).toContain(
      'It is not known whether the change was made. Repeat it with --up-to 205, which gives back only what is missing.',
    );
    expect(await runJson(['peek', ...args])).toMatchObject({ remaining: 205 });
    expect(await runJson(['refund', ...args, '--up-to', '205'])).toMatchObject({ refunded: 0, before: 205 });
  });

  it('of a look before a refund changes nothing', async () => {
    const { ran, args } = await lost('refund', 1, '--cost', '5');
    expect(ran.code).toBe(2);
    expect(ran.err).not.toContain('not known');
    expect(await runJson(['peek', ...args])).toMatchObject({ remaining: 200 });
  });

  it('of a reset is an error, and the reset can be repeated', async () => {
    const { ran, args } = await lost('reset', 2, '--yes');
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain('ERR_STORE_');
    expect(await runJson(['reset', ...args])).toMatchObject({ before: 300, bucket: { remaining: 300 } });
  });

  it('is reported as not known at Ctrl-C, and only for a change', async () => {
    const server = await redisServer();
    const [limits = ''] = written(LIMITS);
    const interrupted = async (command: string, nth: number) => {
      const [proxy, controller] = [await tcpProxy(server), new AbortController()];
      let calls = 0;
      proxy.onRequest = (chunk) => {
        if (!chunk.includes('sluice:Orders:ida') || ++calls !== nth) return;
        proxy.blackhole('replies');
        controller.abort();
      };
      return run([command, '--redis', proxy.url, limits, 'Orders', 'ida'], { interrupted: controller.signal });
    };
    expect(await interrupted('charge', 2)).toEqual({
      code: 130,
      out: '',
      err: 'It is not known whether the change was made. Look at the bucket with sluice peek before you repeat it.\n',
    });
    expect(await interrupted('peek', 1)).toEqual({ code: 130, out: '', err: '' });
  });
});
