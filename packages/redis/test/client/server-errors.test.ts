import { describe, expect, test } from 'vitest';
import type { Script } from '../../src/client/script.ts';
import { callError, errorPrefix, isNoScript } from '../../src/client/server-errors.ts';

class ReplyError extends Error {
  override readonly name = 'ReplyError';
}

const script: Script = { name: 'decide', source: '', sha1: '' };
const NODE = { server: 'server:1', isInCluster: true, script };
const ALONE = { ...NODE, isInCluster: false };
const codeOf = (message: string) => callError(NODE, ['key'], new ReplyError(message)).code;

describe('what an error of a server concerns', () => {
  test.each([
    'OOM command not allowed when used memory > maxmemory.',
    "READONLY You can't write against a read only replica.",
    'LOADING Redis is loading the dataset in memory',
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    'CLUSTERDOWN The cluster is down',
    "NOPERM this user has no permissions to run the 'evalsha' command",
    'NOAUTH Authentication required.',
    'MISCONF Redis is configured to save RDB snapshots, but it is currently not able to persist on disk.',
    'BUSY Redis is busy running a script.',
    'NEWWORD something that nobody knows yet',
    "ERR unknown command 'evalsha'",
    'no word at all',
    "OOM command not allowed when used memory > 'maxmemory'. script: 5e2f, on @user_script:1.",
    // As Redis 6 says it:
    "ERR Error running script (call to f_5e2f): @user_script:7: -OOM command not allowed when used memory > 'maxmemory'.",
    "ERR Error running script (call to f_5e2f): @user_script: 7: -READONLY You can't write against a read only replica.",
    // As Redis 6.2, 7.0, and later ones and Valkey say it:
    "ERR Error running script (call to f_5e2f): @user_script:7: The user executing the script can't run this command or subcommand",
    "ERR The user executing the script can't run this command or subcommand script: 5e2f, on @user_script:1.",
    "ERR ACL failure in script: User limits has no permissions to run the 'set' command script: 5e2f, on @user_script:1.",
    'ERR ACL failure in script: No permissions to access a key script: 5e2f, on @user_script:1.',
    'ERR Error running script (call to f_5e2f): @user_script:7: @user_script: 7: Unknown Redis command called from Lua script',
    'ERR Unknown Redict command called from script script: 5e2f, on @user_script:1.',
    'ERR Unknown command called from script script: 5e2f, on @user_script:1.',
    'ERR Script killed by user with SCRIPT KILL... script: 5e2f, on @user_script:1.',
  ])('the server: %s', (message) => {
    expect(codeOf(message)).toBe('ERR_STORE_UNAVAILABLE');
  });

  test.each([
    'WRONGTYPE Operation against a key holding the wrong kind of value',
    'WRONGTYPE Operation against a key holding the wrong kind of value script: 5e2f, on @user_script:1.',
    '-WRONGTYPE Operation against a key holding the wrong kind of value',
    'ERR Error running script (call to f_5e2f): @user_script:7: WRONGTYPE Operation against a key …',
    'ERR Error running script (call to f_5e2f): @user_script:1: user_script:1: attempt to perform arithmetic',
    'ERR user_script:1: attempt to perform arithmetic on a nil value script: 5e2f, on @user_script:1.',
    "CROSSSLOT Keys in request don't hash to the same slot",
    'TRYAGAIN Multiple keys request during rehashing of slot',
  ])('this call: %s', (message) => {
    expect(codeOf(message)).toBe('ERR_STORE_BUCKET');
  });

  test.each([
    "CROSSSLOT Keys in request don't hash to the same slot",
    'MOVED 3999 127.0.0.1:6381',
    'ASK 3999 127.0.0.1:6381',
    'TRYAGAIN Multiple keys request during rehashing of slot',
  ])('all calls, when a client for one server leads to a node of a cluster: %s', (message) => {
    const { code, message: said } = callError(ALONE, ['key'], new ReplyError(message));
    expect(code).toBe('ERR_STORE_UNAVAILABLE');
    expect(said).toContain(
      `${message}. This is a node of a Redis Cluster. Pass a \`Cluster\` of ioredis or iovalkey, or ` +
        '`createCluster(…)` of node-redis, as `client`.',
    );
  });

  test('a slot that moves, in words of its own', () => {
    const { message } = callError(NODE, ['key'], new ReplyError('TRYAGAIN Multiple keys request'));
    expect(message).toMatch(/is being moved to another node/);
    expect(message).not.toContain('prefix');
  });

  test('the server, when it is not a reply', () => {
    expect(errorPrefix(new Error('OOM read ECONNRESET'))).toBeUndefined();
    expect(callError(NODE, ['key'], new Error('read ECONNRESET')).code).toBe('ERR_STORE_UNAVAILABLE');
    expect(callError(NODE, ['key'], 'what').message).toContain("'what'");
  });

  test('a script that was forgotten', () => {
    expect(isNoScript(new ReplyError('NOSCRIPT No matching script. Please use EVAL.'))).toBe(true);
    expect(isNoScript(new ReplyError('ERR no NOSCRIPT here'))).toBe(false);
    expect(isNoScript(undefined)).toBe(false);
  });

  test('names the server and the script, and keeps its cause', () => {
    const cause = new ReplyError('OOM command not allowed.');
    const error = callError(NODE, ['key'], cause);
    expect(error.message).toMatch(/^Redis at server:1 answered: OOM command not allowed\. It has reached/);
    expect(error.cause).toBe(cause);
    expect(callError(NODE, ['key'], new ReplyError('WRONGTYPE x')).message).toMatch(/decide.*server:1.*'key'/);
  });
});
