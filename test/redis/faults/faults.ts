import type { Scene } from './scene.ts';

const LASTS_MS = 1500;

/** Ends a fault. */
export type End = () => unknown;

/** Something that goes wrong with a Redis, for a while. */
export interface Fault {
  readonly name: string;
  /** Begins it; what it gives ends it. */
  begin(scene: Scene): Promise<End> | End;
  /** Whether it is there before the first connection. */
  readonly atBoot?: true;
  /** Whether buckets are lost: each client then has a whole burst once more. */
  readonly losesData?: true;
  /** Whether a store may go on deciding through it. */
  readonly mayPass?: true;
}

/** How long a fault lasts, in milliseconds. */
export const FAULT_MS: number = LASTS_MS;

/** All of them, in the order in which the matrix tries them. */
export const FAULTS: readonly Fault[] = [
  {
    name: 'absent at boot',
    atBoot: true,
    async begin({ proxy }) {
      await proxy.refuse();
      return () => proxy.pass();
    },
  },
  {
    name: 'refuses connections',
    async begin({ proxy }) {
      await proxy.refuse();
      return () => proxy.pass();
    },
  },
  {
    name: 'resets connections',
    begin({ proxy }) {
      proxy.reset();
      return () => proxy.pass();
    },
  },
  {
    name: 'SIGSTOP',
    begin({ server }) {
      server.freeze();
      return () => server.thaw();
    },
  },
  {
    name: 'SIGSTOP, then kill -9, then restart',
    losesData: true,
    begin({ server }) {
      server.freeze();
      return async () => {
        await server.kill();
        await server.start();
      };
    },
  },
  {
    name: 'CLIENT PAUSE',
    async begin({ server }) {
      await server.call('CLIENT', 'PAUSE', LASTS_MS, 'ALL');
      return () => {};
    },
  },
  {
    name: 'blackhole',
    begin({ proxy }) {
      proxy.blackhole();
      return () => proxy.pass();
    },
  },
  {
    name: 'blackhole of replies',
    begin({ proxy }) {
      proxy.blackhole('replies');
      return () => proxy.pass();
    },
  },
  {
    name: 'stall, then all at once',
    begin({ proxy }) {
      proxy.stall();
      return () => proxy.pass();
    },
  },
  {
    name: 'delay of 200 ms',
    begin({ proxy }) {
      proxy.delay(200);
      return () => proxy.pass();
    },
  },
  {
    name: 'cut between write and reply',
    mayPass: true,
    begin: ({ proxy }) => every(100, () => proxy.cutNextReply()),
  },
  {
    name: 'out of memory',
    async begin({ server }) {
      await server.config('maxmemory', '1');
      return () => server.config('maxmemory', '0');
    },
  },
  {
    name: 'read-only replica',
    async begin({ server }) {
      await server.call('REPLICAOF', '127.0.0.1', 1);
      return () => server.call('REPLICAOF', 'NO', 'ONE');
    },
  },
  {
    name: 'replica without a primary',
    async begin({ server }) {
      await server.config('replica-serve-stale-data', 'no');
      await server.call('REPLICAOF', '127.0.0.1', 1);
      return () => server.call('REPLICAOF', 'NO', 'ONE');
    },
  },
  {
    name: 'LOADING',
    losesData: true,
    async begin(scene) {
      await scene.restartLoading(LASTS_MS);
      return () => scene.loaded();
    },
  },
  {
    name: 'restart without data',
    losesData: true,
    mayPass: true,
    async begin({ server }) {
      await server.kill();
      await server.start();
      return () => {};
    },
  },
  {
    name: 'FLUSHALL',
    losesData: true,
    mayPass: true,
    async begin({ server }) {
      await server.call('FLUSHALL');
      return () => {};
    },
  },
  {
    name: 'SCRIPT FLUSH',
    mayPass: true,
    begin: ({ server }) => every(50, () => server.call('SCRIPT', 'FLUSH')),
  },
  {
    name: 'wrong type of one key',
    async begin(scene) {
      const key = await scene.keyOf(':two');
      await scene.server.call('LPUSH', 'a list', 'no TAT');
      // At once: between two commands the store would write the bucket again.
      await scene.server.call('RENAME', 'a list', key);
      return () => scene.server.call('DEL', key);
    },
    losesData: true,
  },
];

function every(ms: number, act: () => unknown): End {
  act();
  const timer = setInterval(act, ms);
  return () => clearInterval(timer);
}
