import { messageOf } from '@sluice/core/kit';
import type { Redis } from 'ioredis';
import { Check, type Finding } from './finding.ts';

/** A command with arguments by which it changes nothing: it is refused after the permission was looked at, or finds no key. */
type Try = readonly [command: string, ...args: readonly string[]];

/** A key of the store's prefix that no bucket has. */
const keyOf = (prefix: string): string => `${prefix}:doctor`;

/** What each decision needs. */
const decisions = (prefix: string): readonly Try[] => [
  ['evalsha', '0'.repeat(40), '0'],
  ['eval', 'return 1', '0'],
  ['get', keyOf(prefix)],
  ['set', keyOf(prefix), '1', 'NX', 'XX'],
  ['del', keyOf(prefix)],
  ['time'],
];

/** What limits with slots need, and to find other services with a limit of the same name. */
const slots = (prefix: string): readonly Try[] => [
  ['zcard', keyOf(prefix)],
  ['zscore', keyOf(prefix), 'x'],
  ['zcount', keyOf(prefix), '0', '1'],
  ['zrange', keyOf(prefix), '0', '0'],
  ['zadd', keyOf(prefix), 'NX', 'XX', '1', 'x'],
  ['zrem', keyOf(prefix), 'x'],
  ['zremrangebyrank', keyOf(prefix), '0', '0'],
  ['pexpire', keyOf(prefix), '1'],
];

const IN_A_CLUSTER: readonly Try[] = [
  ['asking'],
  ['cluster', 'slots'],
  ['cluster', 'info'],
  ['client', 'setname', 'doctor'],
];

/** All commands that the store may use, as the documentation lists them. */
export function commandsOf(isCluster: boolean): readonly string[] {
  const all = [...decisions(''), ...slots(''), ...(isCluster ? IN_A_CLUSTER : [])];
  return [...all.map(nameOf), 'info', ...(isCluster ? [] : ['select'])];
}

/** Tries what the store needs, as its own user, without changing anything. */
export async function permissions(node: Redis, prefix: string, isCluster: boolean): Promise<Finding> {
  const check = new Check('permissions');
  const [needed, others] = [
    await lacking(node, [...decisions(prefix), ...(isCluster ? IN_A_CLUSTER : [])]),
    await lacking(node, slots(prefix)),
  ];
  if (needed.length > 0) return check.wrong(`lacks ${[...needed, ...others].join(' ')}`, REMEDY);
  if (others.length === 0) return check.ok('all');
  return check.wrong(
    `lacks ${others.join(' ')}, which concurrency limits need`,
    'Give the user these, unless you have no such limit.',
  );
}

const REMEDY =
  'Give the user these: docs/running-on-redis.md has them in one line. A server that lacks a command can not be used.';

async function lacking(node: Redis, tries: readonly Try[]): Promise<readonly string[]> {
  const answers = await Promise.all(tries.map((each) => isRefused(node, each)));
  return tries.filter((_, i) => answers[i]).map((each) => `+${nameOf(each)}`);
}

async function isRefused(node: Redis, [command, ...args]: Try): Promise<boolean> {
  try {
    await node.call(command, ...args);
    return false;
  } catch (error) {
    return /^NOPERM|unknown (?:sub)?command|not allowed/i.test(messageOf(error));
  }
}

function nameOf([command, sub]: Try): string {
  return command === 'cluster' || command === 'client' ? `${command}|${sub}` : command;
}
