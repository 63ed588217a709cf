import { SluiceError } from '@sluice/core';
import { TICKS_PER_MICRO } from '@sluice/core/kit';
import { addressOf, type Connection } from './connection.ts';
import type { Script } from './line.ts';
import type { LineParts } from './line-parts.ts';
import { Link } from './link.ts';
import type { Patience } from './patience.ts';
import { readReply, type ScriptReply } from './script-reply.ts';
import { ServerClock } from './server-clock.ts';
import { callError, errorWord, isNoScript, unavailable } from './server-error.ts';
import type { Trip } from './trip.ts';

/** A moment that every server has behind it: a script with this expiry answers with its time and does nothing. */
const LONG_AGO = String(Number.MIN_SAFE_INTEGER);

/** What a channel is made of. */
export interface ChannelParts extends LineParts {
  readonly connection: Connection;
  readonly patience: Patience;
  /** Whether it is a node of a cluster that the user has called one. */
  readonly isInCluster: boolean;
  /** Told when it opens, closes, or fails with something new. */
  readonly onChange: () => void;
}

/** How a call is sent. */
interface Way {
  readonly asking: boolean;
  readonly command: 'eval' | 'evalsha';
  readonly isSecondTry: boolean;
}

/**
 * The way to one server: runs scripts on it, each with its expiry in the server's own time. It is open while the
 * connection is ready, the server knows the scripts, and its clock is known.
 */
export class Channel {
  readonly #parts: ChannelParts;
  readonly #link: Link;
  readonly #clock = new ServerClock();
  /** False of a server that has refused to write and has not written since. */
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

  /** Whether scripts can be run now, and nothing says that they would fail. */
  get isWell(): boolean {
    return this.isOpen && this.#writes;
  }

  /** Whether anything has come of it yet: it has opened, or something has failed. */
  get wasTried(): boolean {
    return this.#link.wasTried;
  }

  /** What the connection or the server failed with last. */
  get lastError(): unknown {
    return this.#link.lastError;
  }

  /** How far the estimate of the server's clock may be off, in milliseconds. */
  get clockUncertaintyMs(): number | undefined {
    return this.#clock.uncertaintyMs;
  }

  /** The error of calls while it is not open: one for many, so that it costs next to nothing under load. */
  refusal(): SluiceError {
    this.#refusal ??= this.#makeRefusal();
    return this.#refusal;
  }

  /**
   * Runs a script on this server.
   *
   * @param asking - Whether the server only takes the hash slot over, and wants to hear that we know.
   */
  run(trip: Trip, asking: boolean): Promise<readonly unknown[]> {
    return this.#send(trip, { asking, command: 'evalsha', isSecondTry: false });
  }

  /** Notes that a call that was sent here missed its deadline. */
  missed(): void {
    this.#link.missed();
  }

  /** Ends all that looks after the connection; the connection itself is ended by who made it. */
  close(): void {
    this.#link.close();
  }

  // No layer of promises but that of ioredis and its answer: this is the way of every request.
  #send(trip: Trip, way: Way): Promise<readonly unknown[]> {
    if (!this.isOpen) return Promise.reject(this.refusal());
    trip.channel = this;
    const { script, keys, args } = trip.call;
    const text = way.command === 'eval' ? script.source : script.sha1;
    const expiry = String(this.#clock.notAfter(trip.endTicks));
    try {
      // It holds for the next command on this connection, which is ours. Refused, the next command tells.
      if (way.asking) this.connection.asking().catch(() => {});
      const sentTicks = this.#nowTicks();
      return this.connection[way.command]([text, keys.length, ...keys, expiry, ...args]).then(
        (answer) => this.#answered(trip, way, this.#read(script, answer, sentTicks)),
        (error: unknown) => this.#failed(trip, way, error),
      );
    } catch (error) {
      // Whatever watches ioredis from outside may throw at once: that is no reason to end the process.
      return Promise.reject(this.#classified(trip, error));
    }
  }

  #answered(trip: Trip, way: Way, reply: ScriptReply): readonly unknown[] | Promise<readonly unknown[]> {
    if (reply.done) {
      if (!this.#writes) this.#writesAgain();
      return reply.rest;
    }
    this.#parts.counts.expired++;
    // Its clock was not what we took it for. Now we know better: if time is left, it is worth another try.
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

  /** Tells the server the scripts, by calls whose time is over: their answers give its clock. */
  async #greet(): Promise<void> {
    await this.#chooseDatabase();
    await Promise.all(this.#parts.scripts.map((script) => this.#teach(script)));
  }

  // ioredis chooses it too, but when that is refused it says so and goes on, in the database 0.
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
    // ioredis says only that its queue was flushed; why, it has said before.
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

  // A failover has made it a replica: whoever named this server may name another one now.
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
