import type { Log, MemoryStoreOptions, Time } from '@sluice/core';
import { checkOptions, checkTime, complaint, eventSink, systemTime, type Hints } from '@sluice/core/kit';
import { isAbsolute } from 'node:path';
import { BlocksFiles } from './election/blocks-files.ts';
import { SocketFiles } from './election/socket-files.ts';
import type { HostStoreEvent } from './events.ts';
import { JoinedStore } from './joined-store.ts';
import type { HostStore } from './store.ts';
import { SharedBuckets } from './serving/shared-buckets.ts';

/** The options of {@link hostStore}. */
export interface HostStoreOptions {
  /**
   * An absolute path of at most 85 bytes. All processes with the same path share their buckets. The sockets are the files
   * `<socket>.1`, `<socket>.2` and so on, with the permissions 0600. The folder must exist, and belong to the user or to root.
   * All processes must run as one user with the permission to create files in it. Choose a folder that other users can't write
   * to.
   */
  readonly socket: string;
  /** The largest number of buckets in the process that serves, as of a memory store. Default: 1,000,000. */
  readonly maxKeys?: number | undefined;
  /** Called for each event. Its result is not awaited, and its errors are ignored. */
  readonly onEvent?: ((event: HostStoreEvent) => void) | undefined;
  /**
   * Called with log lines; `false` disables logging. The events `state-lost`, `handover-failed` and `client-rejected` are
   * logged, each at most once in ten seconds. Its errors are ignored. Default: `console.warn`.
   */
  readonly log?: Log | false | undefined;
  /**
   * The source of time of deadlines, log lines, and of the buckets while this process serves. Default: the process's own
   * time; for tests a `FakeTime` of `@sluice/core/testing`. Sockets follow the time of the process.
   */
  readonly time?: Time | undefined;
}

const NAMES = ['socket', 'maxKeys', 'onEvent', 'log', 'time'] as const;

const FAILURE = 'is an option of the limiter: createLimiter({ failure: { deadlineMs, onFailure } }).';
const HINTS: Hints = {
  path: '`path` is `socket` here.',
  deadlineMs: `\`deadlineMs\` ${FAILURE}`,
  timeoutMs: `\`timeoutMs\` ${FAILURE}`,
  onFailure: `\`onFailure\` ${FAILURE}`,
};

/** The address of a socket has 104 bytes on some systems. The files of the store need some of them. */
const MAX_PATH_BYTES = 85;

/**
 * Creates a store that the processes of one host share, without a server: workers of `node:cluster` or PM2, units of
 * systemd, containers with a common volume. The first process keeps the buckets in its memory and serves them on a unix
 * socket; the others ask it. When it ends, another one takes over, usually within some milliseconds.
 *
 * A serving process that is closed hands its buckets to the next one. If it is killed, they are lost: all are full again.
 * Windows has no unix sockets.
 *
 * The store does not keep a process alive, except while a call waits for its answer.
 *
 * @example
 * const store = hostStore({ socket: '/run/shop/limits.sock' });
 * const limiter = createLimiter({ limits, store });
 *
 * @throws {SluiceError} `ERR_UNKNOWN_OPTION` for an unknown option, `ERR_OPTION` for a wrong value.
 */
export function hostStore(options: HostStoreOptions): HostStore {
  checkOptions('hostStore', options, NAMES, HINTS, "hostStore({ socket: '/run/shop/limits.sock' })");
  const { socket, maxKeys, onEvent, log, time = systemTime } = options;
  checkSocket(socket);
  checkTime(time);
  const memory: MemoryStoreOptions = maxKeys === undefined ? { time } : { time, maxKeys };
  // Validates `maxKeys`: this process may serve at any time.
  new SharedBuckets(memory).close();
  return new JoinedStore({
    socket,
    files: new SocketFiles(socket),
    blocksText: new BlocksFiles(socket),
    time,
    createBuckets: (handed) => new SharedBuckets(memory, handed),
    emit: eventSink<HostStoreEvent>({ onEvent, log, time }),
    emitUnlogged: eventSink<HostStoreEvent>({ onEvent, log: false }),
  });
}

function checkSocket(socket: unknown): void {
  const isPath = typeof socket === 'string' && isAbsolute(socket) && !socket.includes('\0') && !socket.endsWith('/');
  if (isPath && Buffer.byteLength(socket) <= MAX_PATH_BYTES) return;
  throw complaint('ERR_OPTION', {
    option: 'socket',
    demand: `an absolute path of at most ${MAX_PATH_BYTES} bytes`,
    value: socket,
    remedy: "For example socket: '/run/shop/limits.sock'.",
  });
}
