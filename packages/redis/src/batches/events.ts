import { reasonOf, shownName } from '@sluice/core/kit';
import type { ConnectionChange, ConnectionState } from '../client/connection-status.ts';

/** An event of a Redis store, emitted to `onEvent`. `message` describes what happened and what to do. */
export type RedisStoreEvent =
  /**
   * The state of the connection has changed. This event is not logged, because the limiter logs when decisions begin to
   * fail and when the store decides again. At most four changes in ten seconds are reported, and of the others the last
   * one.
   */
  | {
      readonly type: 'connection';
      readonly state: ConnectionState;
      /**
       * The server that caused the change, as `host:port` or socket path, or words such as `the nodes of the cluster`
       * if it is not one known server. `undefined` when the store was closed.
       */
      readonly server: string | undefined;
      /** The last error of a server; `undefined` if the state is `up` or `closed`. */
      readonly cause: unknown;
      readonly message: string;
    }
  /**
   * In a cluster: a batch over several hash slots was denied or failed in one of them, and what it had taken in the
   * others could not be given back. Tokens come back over time, and slots of concurrency limits after their expiry.
   */
  | {
      readonly type: 'refund-lost';
      /** The number of buckets without their refund or release. */
      readonly count: number;
      readonly cause: unknown;
      readonly message: string;
    };

/** Creates the event for a change of the connection. */
export function connectionChanged({ state, server, cause }: ConnectionChange): RedisStoreEvent {
  const reason = cause === undefined ? '' : ` (${reasonOf(cause)})`;
  const message = `Redis${server === undefined ? '' : ` at ${shownName(server)}`}: ${MEANING[state]}${state === 'up' ? '' : reason}.`;
  return { type: 'connection', state, server, cause, message };
}

const MEANING: Readonly<Record<ConnectionState, string>> = {
  connecting: 'not connected yet',
  up: 'connected',
  degraded: 'some primaries of the cluster are not connected',
  down: 'not connected, reconnecting',
  closed: 'closed',
};

/** Creates the event for a refund between slots that failed. */
export function refundLost(count: number, cause: unknown): RedisStoreEvent {
  const message =
    `A batch over several cluster slots was denied, and what it had taken from ${count} ` +
    `${count === 1 ? 'bucket' : 'buckets'} could not be given back (${reasonOf(cause)}). It comes back with time. ` +
    `To avoid this, use the option \`hashTag\` to keep these buckets in one slot.`;
  return { type: 'refund-lost', count, cause, message };
}
