import { systemTime } from '@sluice/core/kit';
import type { Socket } from 'node:net';
import { hostMicros } from '../serving/host-clock.ts';
import type { Published, SocketFiles } from './socket-files.ts';

/** What a process becomes: the one that serves, or one that asks it. */
export type Joined =
  | { readonly role: 'serving'; readonly published: Published }
  | {
      readonly role: 'asking';
      readonly socket: Socket;
      /** A moment before the connection was made, by the clock of the host. */
      readonly beforeMicros: number;
    };

/** How long to wait if the serving process has more new connections than the system queues. */
const BUSY_RETRY_MS = 10;

/** After so many attempts in a row something is wrong with the files. */
const MAX_ATTEMPTS = 100;

/**
 * Connects to the process that serves, or becomes it.
 *
 * @param onConnection - Called for each connection, if this process serves.
 * @throws {Error} If neither is possible.
 */
export async function join(files: SocketFiles, onConnection: (socket: Socket) => void): Promise<Joined> {
  // Each attempt waits for the one before it: it has found out what to do next.
  /* oxlint-disable no-await-in-loop */
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const beforeMicros = hostMicros();
    const newest = files.newest();
    const answer = newest === 0 ? 'ended' : await files.connect(newest);
    if (typeof answer !== 'string') return { role: 'asking', socket: answer, beforeMicros };
    if (answer === 'busy') await new Promise<void>((resolve) => systemTime.alarm(BUSY_RETRY_MS, resolve).unref());
    if (answer !== 'ended') continue;
    const published = await files.publish(newest + 1, onConnection);
    if (published === undefined) continue;
    files.removeOlder(published.generation, systemTime.wallNow());
    return { role: 'serving', published };
  }
  throw new Error(`the sockets changed ${MAX_ATTEMPTS} times while this process tried to connect to one`);
}
