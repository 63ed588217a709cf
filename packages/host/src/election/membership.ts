import type { Time } from '@sluice/core';
import { messageOf, systemTime } from '@sluice/core/kit';
import type { Cancel } from '@sluice/core/store';
import type { Socket } from 'node:net';
import type { HostCall } from '../asking/host-call.ts';
import { ServerConnection } from '../asking/server-connection.ts';
import { serveClient } from '../serving/client-connection.ts';
import { hostMicros } from '../serving/host-clock.ts';
import type { SharedBuckets } from '../serving/shared-buckets.ts';
import { OLDEST_VERSION, PROTOCOL_VERSION, type Hello } from '../wire/hello.ts';
import { join, type Joined } from './join.ts';
import type { Published, SocketFiles } from './socket-files.ts';

/** How often a process that can neither ask nor serve tries again, in milliseconds. */
const RETRY_MS = 100;

/** The pause after a connection that ended before a server had said hello in the same version, in milliseconds. */
const RECONNECT_MS = 10;

/** How often the serving process looks whether its socket still has its name, in milliseconds. */
const CHECK_MS = 50;

/** The longest time for which a process that is closed writes down its buckets, in milliseconds. */
const HANDOVER_MS = 1000;

/** Buckets, and the process that serves them. */
export type ServedBuckets = Omit<Hello, 'hostMicros' | 'version'>;

/** Is told whether a process serves or asks. */
export interface MembershipListener {
  /** This process has the buckets. */
  onServing(served: ServedBuckets, buckets: SharedBuckets): void;
  /** Another process has the buckets, and can be asked. */
  onAsking(served: ServedBuckets): void;
  /**
   * No process can be asked for the moment.
   *
   * @param unanswered - The calls that were sent and not answered.
   */
  onJoining(unanswered: readonly HostCall[]): void;
  /** No process can be asked, and this one can't serve. It is tried again, and `onDown` called for each attempt. */
  onDown(cause: unknown, unanswered: readonly HostCall[]): void;
  /** The connection to the process that serves has room for calls again. */
  onDrain(): void;
  /** A client has sent something else than operations. */
  onRejected(cause: unknown): void;
  /** The buckets could not be handed over, or taken over. */
  onHandoverFailed(cause: unknown): void;
}

export interface MembershipParts {
  readonly files: SocketFiles;
  /** The time of deadlines. Sockets and files are those of the system, and so is the time of attempts and checks. */
  readonly time: Time;
  /** Creates new buckets, or those that a process has handed over, to which their parts are then added. */
  readonly createBuckets: (handed?: Hello) => SharedBuckets;
  readonly listener: MembershipListener;
}

/** The part of a process in the serving of buckets: it serves them, or is connected to the process that does. */
export class Membership {
  readonly #parts: MembershipParts;
  readonly #clients = new Set<Socket>();
  #isClosed = false;
  #buckets: SharedBuckets | undefined;
  #published: Published | undefined;
  #connection: ServerConnection | undefined;
  #cancelAlarm: Cancel = () => {};
  /** What it says to the next server. */
  #version = PROTOCOL_VERSION;

  constructor(parts: MembershipParts) {
    this.#parts = parts;
    void this.#join();
  }

  /** The buckets, while this process serves. */
  get buckets(): SharedBuckets | undefined {
    return this.#buckets;
  }

  /** The connection to the process that serves, while there is one. */
  get connection(): ServerConnection | undefined {
    return this.#connection;
  }

  /** How many other processes are connected to this one. */
  get clientCount(): number {
    return this.#clients.size;
  }

  /** Hands the buckets over if this process serves, and ends all connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelAlarm();
    this.#connection?.close();
    if (this.#buckets !== undefined) await this.#handOver(this.#buckets);
    this.#published?.server.close();
    this.#dropBuckets();
  }

  async #handOver(buckets: SharedBuckets): Promise<void> {
    // From now on they do not change: what clients have sent is left for the next server.
    for (const client of this.#clients) client.pause();
    const untilMicros = hostMicros() + HANDOVER_MS * 1000;
    const { files } = this.#parts;
    const isInTime = (): boolean => hostMicros() < untilMicros;
    // A process of the version before may be the next one.
    const handed = { from: { ...helloOf(buckets), version: OLDEST_VERSION }, parts: buckets.parts() };
    const written = files.handover.write(handed, () => isInTime() && files.isCurrent(this.#published!));
    try {
      await withinMs(HANDOVER_MS, written);
    } catch (cause) {
      this.#parts.listener.onHandoverFailed(cause);
    }
  }

  async #join(): Promise<void> {
    try {
      this.#begin(await join(this.#parts.files, this.#handleClient));
    } catch (cause) {
      this.#noteDown(cause, []);
    }
  }

  #begin(joined: Joined): void {
    if (this.#isClosed) discard(joined);
    else if (joined.role === 'serving') this.#serve(joined.published);
    else this.#ask(joined);
  }

  #serve(published: Published): void {
    this.#published = published;
    if (this.#buckets !== undefined) this.#setAlarm(CHECK_MS, this.#check);
    else if (this.#parts.files.handover.exists) void this.#takeOver();
    else this.#serveBuckets(this.#parts.createBuckets());
  }

  async #takeOver(): Promise<void> {
    const { files, createBuckets, listener } = this.#parts;
    let buckets: SharedBuckets | undefined;
    try {
      await files.handover.read((from) => {
        const handed = (buckets = createBuckets(from));
        return (part) => {
          if (this.#isClosed) throw new Error('is not needed any more');
          handed.add(part);
        };
      });
    } catch (cause) {
      buckets?.close();
      buckets = undefined;
      if (!this.#isClosed) listener.onHandoverFailed(cause);
    }
    // The next process takes them over.
    if (this.#isClosed) return buckets?.close();
    this.#serveBuckets(buckets ?? createBuckets());
  }

  #serveBuckets(buckets: SharedBuckets): void {
    const { files, listener } = this.#parts;
    // Before the first answer: see there.
    files.handover.delete();
    this.#buckets = buckets;
    this.#setAlarm(CHECK_MS, this.#check);
    for (const client of this.#clients) this.#serveClient(client, buckets);
    listener.onServing(helloOf(buckets), buckets);
  }

  readonly #handleClient = (socket: Socket): void => {
    // The store was closed, or another process serves by now.
    if (this.#isClosed || this.#published === undefined) return void socket.destroy();
    this.#clients.add(socket);
    socket.unref();
    socket.on('error', () => {});
    socket.on('close', () => this.#clients.delete(socket));
    // Otherwise it waits until the buckets are taken over.
    if (this.#buckets !== undefined) this.#serveClient(socket, this.#buckets);
  };

  #serveClient(socket: Socket, buckets: SharedBuckets): void {
    serveClient(socket, helloOf(buckets), buckets, (cause) => this.#parts.listener.onRejected(cause));
  }

  readonly #check = (): void => {
    if (this.#parts.files.isCurrent(this.#published!)) this.#setAlarm(CHECK_MS, this.#check);
    else void this.#rejoin();
  };

  /** Gives the buckets a new socket, unless another process serves by now. Its clients remain connected meanwhile. */
  async #rejoin(): Promise<void> {
    try {
      const joined = await join(this.#parts.files, this.#handleClient);
      this.#published?.server.close();
      if (joined.role === 'asking') this.#dropBuckets();
      this.#begin(joined);
    } catch {
      // The buckets are still there, for this process and those that are connected.
      if (!this.#isClosed) this.#setAlarm(CHECK_MS, this.#check);
    }
  }

  #ask({ socket, beforeMicros }: Joined & { readonly role: 'asking' }): void {
    const { time, listener } = this.#parts;
    let isKnown = false;
    listener.onJoining([]);
    this.#connection = new ServerConnection({
      socket,
      beforeMicros,
      time,
      version: this.#version,
      onOtherVersion: (version) => (this.#version = version),
      onHello: (hello) => {
        isKnown = true;
        this.#version = PROTOCOL_VERSION;
        listener.onAsking(hello);
      },
      onDrain: () => listener.onDrain(),
      onEnd: (unanswered, cause) => this.#handleEnd(unanswered, { isKnown, cause }),
    });
  }

  #handleEnd(
    unanswered: readonly HostCall[],
    { isKnown, cause }: { readonly isKnown: boolean; readonly cause: unknown },
  ): void {
    this.#connection = undefined;
    if (this.#isClosed) return;
    if (cause !== undefined) {
      return this.#noteDown(new Error(`the process that serves ${messageOf(cause)}`, { cause }), unanswered);
    }
    this.#parts.listener.onJoining(unanswered);
    // A server that ends connections before its hello, or answers with another version each time, must not be asked again and again
    // without a pause.
    if (isKnown) void this.#join();
    else this.#setAlarm(RECONNECT_MS, () => void this.#join());
  }

  #noteDown(cause: unknown, unanswered: readonly HostCall[]): void {
    if (this.#isClosed) return;
    this.#setAlarm(RETRY_MS, () => void this.#join());
    this.#parts.listener.onDown(cause, unanswered);
  }

  #dropBuckets(): void {
    this.#published = undefined;
    this.#buckets?.close();
    this.#buckets = undefined;
    // When the answers are sent that they have not received yet.
    for (const client of this.#clients) client.destroySoon();
  }

  #setAlarm(delayMs: number, run: () => void): void {
    const alarm = systemTime.alarm(delayMs, run);
    alarm.unref();
    this.#cancelAlarm = alarm.cancel;
  }
}

function discard(joined: Joined): void {
  if (joined.role === 'serving') joined.published.server.close();
  else joined.socket.destroy();
}

function helloOf({ id, turn }: SharedBuckets): Hello {
  return { version: PROTOCOL_VERSION, pid: process.pid, hostMicros: hostMicros(), id, turn };
}

/** Rejects if a promise takes longer. */
async function withinMs(ms: number, promise: Promise<void>): Promise<void> {
  let cancel = (): void => {};
  const late = new Promise<never>((_, reject) => {
    ({ cancel } = systemTime.alarm(ms, () => reject(new Error(`took longer than ${ms} ms`))));
  });
  try {
    await Promise.race([promise, late]);
  } finally {
    cancel();
  }
}
