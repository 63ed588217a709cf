import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { until } from '../redis/servers/until.ts';

/** How many requests are sent at once. */
export const AT_ONCE = 30;
/** When they are sent, from the first. */
export const AT_MS = [0, 1250, 2750];

/** Where requests are sent. */
export interface Target {
  readonly port: number;
  readonly path: string;
  /** At how many of the instants. */
  readonly instants: number;
  /** By how many ms a server may decide later, in which its figures remain the same. */
  readonly lateMs: number;
}

export interface Outcome {
  readonly allowed: number;
  /** How long the last that was allowed waited. */
  readonly waitMs: number;
}

interface Answer {
  readonly allowed: boolean;
  readonly atMs: number;
}

/**
 * Sends requests to each target at the instants, each time at once, as a client with an address of its own. Where this
 * machine was too busy to send and answer them in time, another client tries.
 *
 * @returns What each target let through, in the order of the instants.
 */
export async function volleys(targets: readonly Target[]): Promise<readonly (readonly Outcome[])[]> {
  const outcomes = new Map<Target, readonly Outcome[]>();
  let client = 0;
  const allInTime = async (): Promise<boolean> => {
    const left = targets.filter((target) => !outcomes.has(target));
    const tried = await sendTo(left, `127.0.1.${++client}`);
    for (const [target, outcome] of tried) outcomes.set(target, outcome);
    return outcomes.size === targets.length;
  };
  await until('all requests are sent and answered in time', allInTime);
  return targets.map((target) => outcomes.get(target)!);
}

/** Returns the outcomes of those targets that all decided in time. */
async function sendTo(targets: readonly Target[], localAddress: string): Promise<Map<Target, readonly Outcome[]>> {
  const sockets = await Promise.all(targets.map((target) => openAll(target, localAddress)));
  const firstMs = performance.now();
  const answers: Promise<readonly Answer[]>[][] = targets.map(() => []);
  for (const [i, ms] of AT_MS.entries()) {
    // oxlint-disable-next-line no-await-in-loop -- one instant after the other
    await until('it is time', () => performance.now() >= firstMs + ms, { everyMs: 2 });
    for (const [j, { path }] of targets.entries()) {
      const volley = sockets[j]![i];
      if (volley !== undefined) answers[j]!.push(Promise.all(volley.map((socket) => ask(socket, path))));
    }
  }
  const all = await Promise.all(answers.map((each) => Promise.all(each)));
  const inTime = targets
    .map((target, j) => [target, all[j]!] as const)
    .filter(([target, each]) => isInTime(target, each, firstMs));
  return new Map(
    inTime.map(([target, each]) => [target, each.map((volley, i) => outcomeOf(volley, firstMs + AT_MS[i]!))]),
  );
}

/** Denials are answered at once, so the last one shows when all were decided. */
function isInTime({ lateMs }: Target, answers: readonly (readonly Answer[])[], firstMs: number): boolean {
  return answers
    .flatMap((volley, i) => volley.map(({ allowed, atMs }) => (allowed ? 0 : atMs - firstMs - AT_MS[i]!)))
    .every((ms) => ms <= lateMs);
}

function outcomeOf(volley: readonly Answer[], dueMs: number): Outcome {
  const allowed = volley.filter((answer) => answer.allowed);
  return { allowed: allowed.length, waitMs: Math.max(0, ...allowed.map(({ atMs }) => atMs - dueMs)) };
}

function openAll({ port, instants }: Target, localAddress: string): Promise<readonly (readonly Socket[])[]> {
  const volley = () => Promise.all(Array.from({ length: AT_ONCE }, () => open(port, localAddress)));
  return Promise.all(AT_MS.slice(0, instants).map(volley));
}

async function open(port: number, localAddress: string): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, localAddress });
  await once(socket, 'connect');
  return socket;
}

async function ask(socket: Socket, path: string): Promise<Answer> {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  const answer = await text(socket);
  return { allowed: answer.startsWith('HTTP/1.1 200 '), atMs: performance.now() };
}
