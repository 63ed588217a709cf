import { reasonOf, shownName } from '@sluice/core/kit';
import type { LineChange, LineState } from './line/line-status.ts';

/** Something that an operator may want to know of a Redis store. `message` says what happened, and what to do. */
export type RedisStoreEvent =
  /**
   * The way to the servers has changed. Told, and not logged: the limiter logs when decisions begin to fail, and when
   * they are made by the store again.
   */
  | {
      readonly type: 'connection';
      readonly state: LineState;
      /** `host:port` or socket path. */
      readonly server: string | undefined;
      readonly cause: unknown;
      readonly message: string;
    }
  /**
   * In a cluster: a batch over several slots was denied at one of them, and what the others had granted could not be
   * given back. The tokens stay taken, and come back by themselves.
   */
  | {
      readonly type: 'refund-lost';
      /** How many buckets. */
      readonly count: number;
      readonly cause: unknown;
      readonly message: string;
    };

/** The event of a change of the line. */
export function connectionChanged({ state, server, cause }: LineChange): RedisStoreEvent {
  const reason = cause === undefined ? '' : ` (${reasonOf(cause)})`;
  const message = `Redis${server === undefined ? '' : ` at ${shownName(server)}`}: ${MEANING[state]}${state === 'up' ? '' : reason}.`;
  return { type: 'connection', state, server, cause, message };
}

const MEANING: Readonly<Record<LineState, string>> = {
  connecting: 'not connected yet',
  up: 'connected',
  degraded: 'some primaries of the cluster are not connected',
  down: 'not connected, reconnecting',
  closed: 'closed',
};

/** The event of a refund between slots that failed. */
export function refundLost(count: number, cause: unknown): RedisStoreEvent {
  const message =
    `A batch over several cluster slots was denied, and the tokens that it had taken from ${count} ` +
    `${count === 1 ? 'bucket' : 'buckets'} could not be given back (${reasonOf(cause)}). They come back with time. ` +
    `To avoid this, use the option \`hashTag\` to keep these buckets in one slot.`;
  return { type: 'refund-lost', count, cause, message };
}
