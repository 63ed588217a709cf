import { messageOf, reasonOf } from '@sluice/core/kit';

/**
 * What a process does for the buckets of a socket.
 *
 * - `joining`: it connects to the process that serves, or becomes it. Calls wait, until their deadline.
 * - `serving`: it has the buckets.
 * - `asking`: another process has them.
 * - `down`: neither is possible, for example because the folder does not exist. It tries again every 100 ms.
 * - `closed`: the store was closed.
 */
export type HostRole = 'joining' | 'serving' | 'asking' | 'down' | 'closed';

/** An event of a host store, emitted to `onEvent`. `message` describes what happened and what to do. */
export type HostStoreEvent =
  /** The role of this process has changed. This event is not logged. */
  | {
      readonly type: 'role';
      readonly role: HostRole;
      /** The process that serves, `undefined` if none is known. Another container may have another number for it. */
      readonly serverPid: number | undefined;
      /** With `down`: the reason. */
      readonly cause: unknown;
      readonly message: string;
    }
  /** The process that served has ended without handing its buckets over: all are full again, and all slots are free. */
  | { readonly type: 'state-lost'; readonly serverPid: number; readonly message: string }
  /**
   * The buckets could not be handed to the next process, or not be taken over from the last one. All are then full again, and
   * all slots free.
   */
  | { readonly type: 'handover-failed'; readonly cause: unknown; readonly message: string }
  /** Another process has connected to the socket and sent something else than operations, or has a version before the last two. */
  | { readonly type: 'client-rejected'; readonly cause: unknown; readonly message: string };

type RoleEvent = Extract<HostStoreEvent, { readonly type: 'role' }>;

/** Creates the event for a new role. */
export function roleChanged(
  socket: string,
  { role, serverPid, cause }: Omit<RoleEvent, 'type' | 'message'>,
): RoleEvent {
  const reason = cause === undefined ? '' : ` (${reasonOf(cause)})`;
  return { type: 'role', role, serverPid, cause, message: `The host store at ${socket} ${MEANING[role]}${reason}.` };
}

const MEANING: Readonly<Record<HostRole, string>> = {
  joining: 'looks for the process that serves',
  serving: 'is served by this process',
  asking: 'is served by another process',
  down: 'can neither be reached nor served, and tries again',
  closed: 'is closed',
};

/** Creates the event for the end of a serving process. */
export function stateLost(socket: string, serverPid: number): HostStoreEvent {
  const message =
    `Process ${serverPid}, which served the buckets of ${socket}, has ended. All buckets are full again, and all slots ` +
    'are free. Use @sluice/redis if limits must survive a process.';
  return { type: 'state-lost', serverPid, message };
}

/** Creates the event for buckets that are not passed on. */
export function handoverFailed(socket: string, cause: unknown): HostStoreEvent {
  const message =
    `The buckets of ${socket} could not be handed from one process to the next: ${reasonOf(cause)}. All buckets are full ` +
    'again, and all slots are free.';
  return { type: 'handover-failed', cause, message };
}

/** Creates the event for a client that is not one of this version. */
export function clientRejected(socket: string, cause: unknown): HostStoreEvent {
  const message = `A client of ${socket} was disconnected: it ${messageOf(cause)}.`;
  return { type: 'client-rejected', cause, message };
}
