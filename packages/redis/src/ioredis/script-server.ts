import { SluiceError } from '@sluice/core';
import { TICKS_PER_MICRO } from '@sluice/core/kit';
import { addressOf, type Connection } from './connection.ts';
import type { Script } from '../client/script-client.ts';
import type { LineParts } from '../client/line-parts.ts';
import { Link } from './supervised-connection.ts';
import type { Patience } from './connect-timeout.ts';
import { readReply, type ScriptReply } from '../client/script-reply.ts';
import { ServerClock } from '../client/server-clock.ts';
import { callError, errorWord, isNoScript, unavailable } from '../client/server-errors.ts';
import type { Trip } from '../client/script-run.ts';

/** An expiry in the past of every server. A script with this expiry does nothing and replies with the server's time. */
const LONG_AGO = String(Number.MIN_SAFE_INTEGER);

export interface ChannelParts extends LineParts {
  readonly connection: Connection;
  readonly patience: Patience;
  /** Whether the user passed a `Cluster` as client, so that redirections are followed. */
  readonly isInCluster: boolean;
  /** Called when `isOpen`, `isWell` or `lastError` may have changed. */
  readonly onChange: () => void;
}

/** How one attempt of a call is sent. */
interface Way {
  readonly asking: boolean;
  readonly command: 'eval' | 'evalsha';
  readonly isSecondTry: boolean;
}

/**
 * Runs scripts on one server, each with an expiry in the server's own time. A channel is open while its connection is
 * ready, the server has loaded the scripts, and the difference of the clocks is known.
 */
export class Channel {
  readonly #parts: ChannelParts;
  readonly #link: Link;
  readonly #clock = new ServerClock();
  /** False after the server has rejected a write, until it has executed a script again. */
  #writes = true;
  #refusal: SluiceError | undefined;

  constructor(parts: ChannelParts) {
    this.#parts = parts;
    const { connection, patience, scheduler, counts } = parts;
    this.#link = new Link({
      connection,
      patience,
      scheduler,
      counts,
      greet: () => this.#greet(),
      onClose: () => this.#clock.forget(),
      onChange: () => this.#changed(),
    });
  }

  get connection(): Connection {
    return this.#parts.connection;
  }

  get server(): string {
    return addressOf(this.connection);
  }

  /** Whether scripts can be run now. */
  get isOpen(): boolean {
    return this.#link.isOpen;
  }

  /** Whether scripts can be run now, and the server has not rejected the last write. */
  get isWell(): boolean {
    return this.isOpen && this.#writes;
  }

  /** Whether the first attempt to connect has succeeded or failed. */
  get wasTried(): boolean {
    return this.#link.wasTried;
  }

  /** The last error of the connection or the server. */
  get lastError(): unknown {
    return this.#link.lastError;
  }

  /** The maximum error of the estimate of the server's clock, in milliseconds; `undefined` before the first answer. */
  get clockUncertaintyMs(): number | undefined {
    return this.#clock.uncertaintyMs;
  }

  /**
   * Returns the error of calls while the channel is not open. Calls share one error, because a new one each is costly.
   */
  refusal(): SluiceError {
    this.#refusal ??= this.#makeRefusal();
    return this.#refusal;
  }

  /**
   * Runs a script on this server.
   *
   * @param asking - Whether to send ASKING before it, because the server is still importing the hash slot.
   */
  run(trip: Trip, asking: boolean): Promise<readonly unknown[]> {
    return this.#send(trip, { asking, command: 'evalsha', isSecondTry: false });
  }

  /** Notes that a call that was sent here missed its deadline. */
  missed(): void {
    this.#link.missed();
  }

  /** Removes listeners and timers. The owner of the connection closes the connection itself. */
  close(): void {
    this.#link.close();
  }

  // Every decision takes this path, so it adds only one `then` to the promise of ioredis.
  #send(trip: Trip, way: Way): Promise<readonly unknown[]> {
    if (!this.isOpen) return Promise.reject(this.refusal());
    trip.channel = this;
    const { script, keys, args } = trip.call;
    const text = way.command === 'eval' ? script.source : script.sha1;
    const expiry = String(this.#clock.notAfter(trip.endTicks));
    try {
      // ASKING applies to the next command on this connection, which is the script. If the server rejects ASKING, the
      // script fails as well, and its error is reported.
      if (way.asking) this.connection.asking().catch(() => {});
      const sentTicks = this.#nowTicks();
      return this.connection[way.command]([text, keys.length, ...keys, expiry, ...args]).then(
        (answer) => this.#answered(trip, way, this.#read(script, answer, sentTicks)),
        (error: unknown) => this.#failed(trip, way, error),
      );
    } catch (error) {
      // A tracing library that wraps ioredis may throw synchronously. Uncaught, its error would end the process.
      return Promise.reject(this.#classified(trip, error));
    }
  }

  #answered(trip: Trip, way: Way, reply: ScriptReply): readonly unknown[] | Promise<readonly unknown[]> {
    if (reply.done) {
      if (!this.#writes) this.#writesAgain();
      return reply.rest;
    }
    this.#parts.counts.expired++;
    // The estimate of the server's clock was wrong, and the reply has corrected it. The script is sent once more if
    // less than half of its time has passed.
    if (way.isSecondTry || !trip.isEarly(this.#nowTicks())) throw this.#expired(trip);
    return this.#send(trip, { ...way, command: 'evalsha', isSecondTry: true });
  }

  #failed(trip: Trip, way: Way, error: unknown): Promise<readonly unknown[]> {
    if (way.command === 'eval' || !isNoScript(error)) throw this.#classified(trip, error);
    this.#parts.counts.reloads++;
    return this.#send(trip, { ...way, command: 'eval' });
  }

  #read(script: Script, answer: unknown, sentTicks: number): ScriptReply {
    const gotTicks = this.#nowTicks();
    const reply = readReply(script, answer);
    this.#clock.learn({ sentTicks, gotTicks, serverTicks: reply.nowTicks });
    return reply;
  }

  /** Loads the scripts, by calls with an expiry in the past. Their replies report the server's time. */
  async #greet(): Promise<void> {
    await this.#chooseDatabase();
    await Promise.all(this.#parts.scripts.map((script) => this.#teach(script)));
  }

  // ioredis also selects the database, but if the server rejects that, it only emits an error and stays in database 0.
  async #chooseDatabase(): Promise<void> {
    const db = this.connection.options.db ?? 0;
    if (db !== 0) await this.connection.select(db);
  }

  async #teach(script: Script): Promise<void> {
    const sentTicks = this.#nowTicks();
    this.#read(script, await this.connection.eval([script.source, 0, LONG_AGO]), sentTicks);
  }

  #classified(trip: Trip, error: unknown): SluiceError {
    if (error instanceof SluiceError) return error;
    const word = errorWord(error);
    // An error without a code of Redis is one of the connection. Its message only states that a queue was flushed; the
    // cause is the last error that was emitted.
    if (word === undefined) return this.#callError(trip, this.lastError ?? error);
    if (word === 'READONLY') this.#refusedToWrite(error);
    return this.#callError(trip, error);
  }

  #callError({ call }: Trip, error: unknown): SluiceError {
    return callError({ server: this.server, isInCluster: this.#parts.isInCluster }, call, error);
  }

  #expired({ call }: Trip): SluiceError {
    return new SluiceError(
      'ERR_STORE_DEADLINE',
      `Redis at ${this.server} got to the script ${call.script.name} only after its ${call.deadlineMs} ms were over, ` +
        'and did not run it.',
    );
  }

  // After a failover the server is a replica. A new connection may reach the new primary: Sentinels, DNS or the map of
  // the cluster may name another server now.
  #refusedToWrite(error: unknown): void {
    this.#writes = false;
    this.#link.cut(error);
  }

  #writesAgain(): void {
    this.#writes = true;
    this.#changed();
  }

  #changed(): void {
    this.#refusal = undefined;
    this.#parts.onChange();
  }

  #makeRefusal(): SluiceError {
    const what = `Redis at ${this.server} is not connected`;
    if (this.lastError !== undefined) return unavailable(what, this.lastError);
    return new SluiceError('ERR_STORE_UNAVAILABLE', `${what} yet.`);
  }

  #nowTicks(): number {
    return this.#parts.clock.nowMicros() * TICKS_PER_MICRO;
  }
}
