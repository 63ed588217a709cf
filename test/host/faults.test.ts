import { execFileSync } from 'node:child_process';
import { rmSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../redis/servers/until.ts';
import { sized } from '../sized.ts';
import { HostProcess, type LoadResult } from './host-process.ts';
import { folder } from './socket-path.ts';

const BURST = 100;
/** Long enough for a machine that does other work. */
const DEADLINE_MS = 5000;

let paths: ReturnType<typeof folder>;
let socket: string;
let started: HostProcess[];

beforeEach(() => {
  paths = folder();
  socket = paths.newSocket();
  started = [];
});
afterEach(async () => {
  for (const each of started) each.thaw();
  await Promise.all(started.map((each) => each.kill()));
  paths.delete();
});

/** The files of sockets of processes that serve, or have served. */
function numberedSockets(): readonly string[] {
  return paths.files().filter((file) => /\.sock\.\d+$/.test(file));
}

function start(): HostProcess {
  const process = new HostProcess();
  started.push(process);
  return process;
}

/** Starts processes at once, and resolves when all of them can decide. */
async function startAll(count: number): Promise<readonly HostProcess[]> {
  const processes = Array.from({ length: count }, start);
  await Promise.all(processes.map((each) => each.open(socket)));
  return processes;
}

/** The process that serves, and the others, as soon as all of them know the same one. */
async function splitByRole(processes: readonly HostProcess[]): Promise<readonly [HostProcess, ...HostProcess[]]> {
  let serving: HostProcess[] = [];
  let asking: HostProcess[] = [];
  await until('one serves, and all others ask it', async () => {
    const all = await Promise.all(processes.map(async (each) => ({ each, status: await each.status(socket) })));
    serving = all.filter(({ status }) => status.role === 'serving').map(({ each }) => each);
    asking = all.filter(({ status }) => status.role === 'asking').map(({ each }) => each);
    const isOne = serving.length === 1 && asking.length === processes.length - 1;
    return isOne && all.every(({ status }) => status.serverPid === serving[0]!.pid);
  });
  return [serving[0]!, ...asking];
}

function spend(process: HostProcess, requests: number, deadlineMs = DEADLINE_MS): Promise<LoadResult> {
  return process.spend({ socket, burst: BURST, requests, inFlight: 10, deadlineMs });
}

function sumOf(results: readonly LoadResult[], name: keyof LoadResult): number {
  return results.reduce((sum, result) => sum + result[name], 0);
}

test('eight processes that start at once have one server, and take no more than the burst together', async () => {
  const processes = await startAll(8);
  await splitByRole(processes);
  const results = await Promise.all(processes.map((each) => spend(each, BURST)));
  expect(sumOf(results, 'allowed')).toBe(BURST);
  expect(sumOf(results, 'unavailable')).toBe(0);
});

test('processes that start at once beside the socket of one that was killed have one server', async () => {
  for (let round = 0; round < sized(3, 5); round++) {
    // oxlint-disable-next-line no-await-in-loop -- each round finds what the one before has left behind
    const processes = await startAll(4);
    // oxlint-disable-next-line no-await-in-loop
    await splitByRole(processes);
    // oxlint-disable-next-line no-await-in-loop
    // Not so after the kill: a process that sees the server end before it is killed itself begins a new socket.
    expect(numberedSockets()).toHaveLength(1);
    // oxlint-disable-next-line no-await-in-loop
    await Promise.all(processes.map((each) => each.kill()));
  }
});

test('when the serving process is killed, another one takes over, and no call is lost', async () => {
  const processes = await startAll(4);
  const [serving, ...asking] = await splitByRole(processes);
  const results = Promise.all(asking.map((each) => spend(each, 5000)));
  await serving.kill();
  const next = await results;
  expect(sumOf(next, 'unavailable')).toBe(0);
  // Those of the old buckets, and those of the new ones.
  expect(sumOf(next, 'allowed')).toBeGreaterThanOrEqual(BURST);
  expect(sumOf(next, 'allowed')).toBeLessThanOrEqual(2 * BURST);
  await splitByRole(asking);
  for (const { events } of asking) {
    expect(events.filter(({ type }) => type === 'state-lost')).toMatchObject([{ serverPid: serving.pid }]);
  }
});

test('while the serving process is stopped, calls fail in time, no other process takes over, and it keeps its buckets', async () => {
  const processes = await startAll(3);
  const [serving, asking, other] = await splitByRole(processes);
  expect(await spend(serving, 60)).toMatchObject({ allowed: 60 });
  serving.freeze();
  const stopped = await Promise.all([spend(asking!, 20, 50), spend(other!, 20, 50)]);
  expect(sumOf(stopped, 'allowed')).toBe(0);
  expect(sumOf(stopped, 'unavailable')).toBe(40);
  expect((await asking!.status(socket)).role).toBe('asking');
  serving.thaw();
  await splitByRole(processes);
  // What was sent while it was stopped is not executed: no caller waits for it any more.
  for (const each of [asking!, other!]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await until('the outage is over', async () => (await spend(each, 1)).unavailable === 0);
  }
  const rest = await Promise.all(processes.map((each) => spend(each, BURST)));
  expect(sumOf(rest, 'allowed')).toBe(40 - 2);
});

test('a deleted socket comes back with the same buckets', async () => {
  const processes = await startAll(2);
  expect(await spend(processes[0]!, BURST)).toMatchObject({ allowed: BURST });
  for (const file of paths.files()) rmSync(file);
  await until('there is a socket again', () => numberedSockets().length > 0);
  expect((await stat(numberedSockets()[0]!)).mode & 0o777).toBe(0o600);
  const [late] = await startAll(1);
  await splitByRole([...processes, late!]);
  expect(await spend(late!, BURST)).toMatchObject({ allowed: 0, denied: BURST });
});

test('if processes start just when the socket is deleted, one server remains', async () => {
  const processes = await startAll(3);
  const late = Array.from({ length: 3 }, start);
  for (const file of paths.files()) rmSync(file);
  await Promise.all(late.map((each) => each.open(socket)));
  const all = [...processes, ...late];
  const servers = async () =>
    new Set((await Promise.all(all.map((each) => each.status(socket)))).map(({ serverPid }) => serverPid));
  await expect.poll(async () => (await servers()).size).toBe(1);
  await splitByRole(all);
});

const ROLLED = sized(4, 8);

test.each(['closes its store', 'is ended by SIGTERM'])(
  `a rolling restart of ${ROLLED} processes under load admits exactly the limit: each server %s`,
  async (way) => {
    const [SIZE, LIMIT] = [ROLLED, 125 * ROLLED ** 2];
    const load = (each: HostProcess) =>
      each.spend({ socket, burst: LIMIT, requests: 160, inFlight: 10, deadlineMs: DEADLINE_MS });
    let processes = await startAll(SIZE);
    const results: LoadResult[] = [];
    /* oxlint-disable no-await-in-loop -- one after the other */
    for (let round = 0; round < SIZE; round++) {
      const [serving, ...asking] = await splitByRole(processes);
      const loads = asking.map(load);
      if (way === 'is ended by SIGTERM') {
        loads.push(load(serving));
        await serving.terminate();
      } else {
        await serving.close(socket);
        await serving.kill();
      }
      results.push(...(await Promise.all(loads)));
      processes = [...asking, ...(await startAll(1))];
    }
    while (sumOf(results, 'denied') === 0) results.push(...(await Promise.all(processes.map(load))));
    /* oxlint-enable no-await-in-loop */
    expect(sumOf(results, 'allowed')).toBe(LIMIT);
    expect(sumOf(results, 'unavailable')).toBe(0);
    expect(processes.flatMap(({ events }) => events).filter(({ type }) => type === 'state-lost')).toEqual([]);
    expect(paths.files().filter((file) => file.endsWith('.handover'))).toEqual([]);
  },
);

test('in a rolling restart every call is decided', async () => {
  const SIZE = 4;
  const processes = [...(await startAll(SIZE))];
  for (let round = 0; round < SIZE; round++) {
    const old = processes.shift()!;
    const loads = processes.map((each) => spend(each, 1000));
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const [next] = await startAll(1);
    processes.push(next!);
    // oxlint-disable-next-line no-await-in-loop
    await old.close(socket);
    // oxlint-disable-next-line no-await-in-loop
    await old.kill();
    // oxlint-disable-next-line no-await-in-loop
    expect(sumOf(await Promise.all(loads), 'unavailable')).toBe(0);
    // oxlint-disable-next-line no-await-in-loop
    await splitByRole(processes);
  }
});

test('named pipes of a neighbour in place of buckets keep no process from serving, working with files, and ending', async () => {
  // As many as the thread pool of Node has threads.
  const sockets = Array.from({ length: 4 }, paths.newSocket);
  for (const each of sockets) execFileSync('mkfifo', [`${each}.handover`]);
  const process = start();
  const all = await Promise.all(sockets.map((each) => process.open(each)));
  expect(all.map(({ role }) => role)).toEqual(['serving', 'serving', 'serving', 'serving']);
  // It writes its buckets into files before.
  await process.terminate();
  const ofBuckets = sockets.filter((each) => statSync(`${each}.handover`).isFile());
  expect(ofBuckets).toEqual(sockets);
});
