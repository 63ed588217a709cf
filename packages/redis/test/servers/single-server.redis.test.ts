import { systemTime } from '@sluice/core/kit';
import { describe, expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { AwaitedRun } from '../../src/client/script-run.ts';
import { call, isUp, openScriptClient, rejection, CLIENTS } from '../ioredis/support/client.ts';
import { add, echo, guarded, testScript } from '../ioredis/support/scripts.ts';

describe.each(CLIENTS)('a script client beside a client of $name', ({ clientTo }) => {
  async function openToServer(options = {}) {
    const server = await redisServer();
    const scriptClient = openScriptClient({ client: clientTo(server.port), ...options });
    await isUp(scriptClient);
    return { server, scriptClient };
  }

  test('runs a script on the client’s server, and gives its time and what it answered', async () => {
    const { scriptClient } = await openToServer();
    const before = (Date.now() - Date.UTC(2026, 0)) * 16_000;
    const [nowTicks, ...rest] = await scriptClient.run(call(echo, { args: ['a', 7, ''] }));
    expect(rest).toEqual(['a', '7', '']);
    expect(Math.abs(Number(nowTicks) - before)).toBeLessThan(1000 * 16_000);
  });

  test('writes what the script writes', async () => {
    const { server, scriptClient } = await openToServer();
    await scriptClient.run(call(add));
    expect(await scriptClient.run(call(add))).toEqual([expect.any(Number), 2]);
    expect(await server.call('GET', 'key')).toBe('2');
  });

  test('takes thousands of keys and arguments in one call', async () => {
    const many = Array.from({ length: 7000 }, (_, i) => `k${i}`);
    const size = guarded('size', 'return {1, now, #KEYS, #ARGV}');
    const { scriptClient } = await openToServer({ script: size });
    const reply = await scriptClient.run({ keys: many, args: [...many, ...many, ...many], deadlineMs: 1000 });
    expect(reply.slice(1)).toEqual([7000, 21_001]);
  });

  test('has loaded the script on the server before the first call, so that its text is never sent with a call', async () => {
    const { server, scriptClient } = await openToServer();
    const before = await server.commandCalls();
    await scriptClient.run(call(echo));
    await scriptClient.run(call(add));
    const after = await server.commandCalls();
    expect(after.get('eval')).toBe(before.get('eval'));
    expect(scriptClient.status().counts.reloads).toBe(0);
  });

  test('loads the script again that the server has forgotten, within the same call', async () => {
    const { server, scriptClient } = await openToServer();
    await server.call('SCRIPT', 'FLUSH');
    const replies = await Promise.all([
      scriptClient.run(call(add)),
      scriptClient.run(call(add)),
      scriptClient.run(call(add)),
    ]);
    expect(replies.map(([, value]) => value)).toEqual([1, 2, 3]);
    expect(scriptClient.status().counts.reloads).toBe(3);
    await scriptClient.run(call(add));
    expect(scriptClient.status().counts.reloads).toBe(3);
  });

  test('runs another script than its own, which the server gets with the first call of it', async () => {
    const { server, scriptClient } = await openToServer();
    const other = guarded('other', "return {1, now, 'other', KEYS[1], ARGV[2]}");
    const evals = async (): Promise<number> => (await server.commandCalls()).get('eval') ?? 0;
    const before = await evals();
    const replies = [
      await scriptClient.run({ script: other, keys: ['key'], args: ['a'], deadlineMs: 1000 }),
      await scriptClient.run(call(echo, { args: ['b'] })),
      await scriptClient.run({ script: other, keys: ['key'], args: ['c'], deadlineMs: 1000 }),
    ];
    expect(replies.map(([, ...rest]) => rest)).toEqual([['other', 'key', 'a'], ['b'], ['other', 'key', 'c']]);
    expect((await evals()) - before).toBe(1);
  });

  test('names the script that failed, if it is not its own', async () => {
    const { server, scriptClient } = await openToServer();
    const wrong = guarded('wrong', 'return {2, now}');
    const answered = await rejection(scriptClient.run({ script: wrong, keys: [], args: [], deadlineMs: 1000 }));
    expect(answered).toMatchObject({ code: 'ERR_STORE_ANSWER', message: expect.stringContaining('script wrong') });
    const broken = guarded('broken', "return redis.call('INCR', KEYS[1])");
    await server.call('LPUSH', 'list', 'x');
    const failed = await rejection(scriptClient.run({ script: broken, keys: ['list'], args: [], deadlineMs: 1000 }));
    expect(failed).toMatchObject({ code: 'ERR_STORE_BUCKET', message: expect.stringContaining('script broken') });
    await server.call('CLIENT', 'PAUSE', 100, 'ALL');
    const missed = await rejection(scriptClient.run({ script: broken, keys: ['key'], args: [], deadlineMs: 20 }));
    expect(missed).toMatchObject({ code: 'ERR_STORE_DEADLINE', message: expect.stringContaining('script broken') });
  });

  test('writes nothing when the time of a call is over before the server gets to it', async () => {
    const { server, scriptClient } = await openToServer();
    await server.call('CLIENT', 'PAUSE', 600_000, 'WRITE');
    const { code } = await rejection(scriptClient.run(call(add, { deadlineMs: 50 })));
    expect(code).toBe('ERR_STORE_DEADLINE');
    await server.call('CLIENT', 'UNPAUSE');
    // Whatever it was sent meanwhile it has met by the time that it answers this.
    expect(await server.call('GET', 'key')).toBe(null);
  });

  test('lets a caller that has waited before wait for the rest of its deadline, and reports the whole deadline', async () => {
    const { server, scriptClient } = await openToServer();
    server.freeze();
    // Many times as long as a test may take.
    const deadlineMs = 3_600_000;
    const sinceMicros = systemTime.nowMicros() - (deadlineMs - 50) * 1000 - 250;
    const run = new AwaitedRun(call(add, { deadlineMs }), testScript, sinceMicros);
    scriptClient.send(run, systemTime.nowMicros());
    const asked = await rejection(run.reply);
    server.thaw();
    expect(asked).toMatchObject({ code: 'ERR_STORE_DEADLINE', message: expect.stringMatching(/within 3600000 ms\.$/) });
    // It would write after its time.
    await isUp(scriptClient);
    expect(await server.call('GET', 'key')).toBe(null);
  });

  test.each([
    ['a number', 'return 7'],
    ['too little', 'return {1}'],
    ['no yes and no no', 'return {2, now}'],
    ['a word for the time', "return {1, 'soon'}"],
    ['nothing for the time', 'return {1, false}'],
    ['a time that is text', "return {1, '16'}"],
  ])('takes %s for no answer', async (_, body) => {
    const malformed = guarded('malformed', body);
    const { scriptClient } = await openToServer({ script: malformed });
    const { code, message } = await rejection(scriptClient.run(call(echo)));
    expect(code).toBe('ERR_STORE_ANSWER');
    expect(message).toContain('malformed');
  });

  test('takes a time beyond all whole numbers for no answer, and names the clock of the server', async () => {
    const malformed = guarded('malformed', 'return {1, 9007199254740993}');
    const { scriptClient } = await openToServer({ script: malformed });
    const { code, message } = await rejection(scriptClient.run(call(echo)));
    expect(code).toBe('ERR_STORE_ANSWER');
    expect(message).toContain('The clock of the server reads 2043-11-03');
  });
});
