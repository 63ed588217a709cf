import { SluiceError } from '@sluice/core';
import { TICKS_PER_MICRO } from '@sluice/core/kit';
import { readReply, type Script, type ScriptReply } from '../client/script-client.ts';
import type { ClientParts, ScriptRun, ServerState } from '../client/script-servers.ts';
import { ServerClock } from '../client/server-clock.ts';
import { callError, errorPrefix, isNoScript, unavailableError } from '../client/server-errors.ts';
import { addressOf, type Connection } from './connection.ts';
import { SupervisedConnection, withoutCommand } from './supervised-connection.ts';
import type { ConnectTimeout } from './watches.ts';

/** An expiry in the past of every server. A script with this expiry does nothing and replies with the server's time. */
const LONG_AGO = String(Number.MIN_SAFE_INTEGER);

export interface ScriptServerParts extends ClientParts {
  readonly connection: Connection;
  readonly connectTimeout: ConnectTimeout;
  /** Whether the user passed a `Cluster` as client, so that redirections are followed. */
  readonly isInCluster: boolean;
  /** Called when `isOpen`, `isHealthy` or `lastError` may have changed. */
  readonly onChange: () => void;
}

/** How one attempt of a run is sent. */
interface Attempt {
  readonly asking: boolean;
  readonly command: 'eval' | 'evalsha';
  readonly isSecond: boolean;
}

/**
 * Runs scripts on one server, with an expiry in the server's own time. The server is open while its connection is
 * ready, the server has loaded the client's own script, and the difference of the clocks is known.
 */
export class ScriptServer implements ServerState {
  readonly #parts: ScriptServerParts;
  readonly #supervised: SupervisedConnection;
  readonly #clock = new ServerClock();
  /** False after the server has rejected a write, until it has executed the script again. */
  #isWritable = true;
  #unavailableError: SluiceError | undefined;

  constructor(parts: ScriptServerParts) {
    this.#parts = parts;
    const { connection, connectTimeout, time, counts } = parts;
    this.#supervised = new SupervisedConnection({
      connection,
      connectTimeout,
      time,
      counts,
      prepare: () => this.#prepare(),
      onClose: () => this.#clock.forget(),
      onChange: () => this.#noteChange(),
    });
  }

  get connection(): Connection {
    return this.#parts.connection;
  }

  get server(): string {
    return addressOf(this.connection);
  }

  get isOpen(): boolean {
    return this.#supervised.isOpen;
  }

  get isHealthy(): boolean {
    return this.isOpen && this.#isWritable;
  }

  /** Whether the first attempt to connect has succeeded or failed. */
  get wasTried(): boolean {
    return this.#supervised.wasTried;
  }

  /** Whether the server is not open, and an attempt to connect has failed since it was. */
  get isDown(): boolean {
    return !this.isOpen && this.#parts.connectTimeout.hasFailed;
  }

  get lastError(): unknown {
    return this.#supervised.lastError;
  }

  get clockUncertaintyMs(): number | undefined {
    return this.#clock.uncertaintyMs;
  }

  /** The error of calls while the server is not open. Calls share one error, because a new one each is costly. */
  get unavailableError(): SluiceError {
    this.#unavailableError ??= this.#createUnavailableError();
    return this.#unavailableError;
  }

  /**
   * Runs a script on this server.
   *
   * @param asking - Whether to send ASKING before it, because the server is still importing the hash slot.
   */
  send(run: ScriptRun, asking: boolean): Promise<readonly unknown[]> {
    return this.#attempt(run, { asking, command: 'evalsha', isSecond: false });
  }

  /** Notes that a call that was sent here missed its deadline. */
  noteMiss(): void {
    this.#supervised.noteMiss();
  }

  /** Removes listeners and timers. The owner of the connection closes the connection itself. */
  close(): void {
    this.#supervised.close();
  }

  // Every decision takes this path, so it adds only one `then` to the promise of ioredis.
  #attempt(run: ScriptRun, attempt: Attempt): Promise<readonly unknown[]> {
    if (!this.isOpen) return Promise.reject(this.unavailableError);
    run.sentTo = this;
    const { script, call } = run;
    const { keys, args } = call;
    const text = attempt.command === 'eval' ? script.source : script.sha1;
    const expiry = String(this.#clock.notAfter(run.endTicks));
    try {
      // ASKING applies to the next command on this connection, which is the script. If the server rejects ASKING, the
      // script fails as well, and its error is reported.
      if (attempt.asking) this.connection.asking().catch(() => {});
      const sentTicks = this.#nowTicks();
      return this.connection[attempt.command]([text, keys.length, ...keys, expiry, ...args]).then(
        (reply) => this.#handleReply(run, attempt, this.#readReply(script, reply, sentTicks)),
        (error: unknown) => this.#handleError(run, attempt, error),
      );
    } catch (error) {
      // A tracing library that wraps ioredis may throw synchronously. Uncaught, its error would end the process.
      return Promise.reject(this.#toSluiceError(run, error));
    }
  }

  #handleReply(run: ScriptRun, attempt: Attempt, reply: ScriptReply): readonly unknown[] | Promise<readonly unknown[]> {
    if (reply.done) {
      if (!this.#isWritable) this.#noteWritable();
      return reply.rest;
    }
    this.#parts.counts.expired++;
    // The estimate of the server's clock was wrong, and the reply has corrected it. The script is sent once more if
    // less than half of its time has passed.
    if (attempt.isSecond || !run.isEarly(this.#nowTicks())) throw this.#createExpiredError(run);
    return this.#attempt(run, { ...attempt, command: 'evalsha', isSecond: true });
  }

  #handleError(run: ScriptRun, attempt: Attempt, error: unknown): Promise<readonly unknown[]> {
    if (attempt.command === 'eval' || !isNoScript(error)) throw this.#toSluiceError(run, error);
    this.#parts.counts.reloads++;
    return this.#attempt(run, { ...attempt, command: 'eval' });
  }

  #readReply(script: Script, answer: unknown, sentTicks: number): ScriptReply {
    const gotTicks = this.#nowTicks();
    const reply = readReply(script, answer);
    this.#clock.learn({ sentTicks, gotTicks, serverTicks: reply.nowTicks });
    return reply;
  }

  /** Loads the script, by a call with an expiry in the past. The reply reports the server's time. */
  async #prepare(): Promise<void> {
    await this.#selectDatabase();
    const { script } = this.#parts;
    const sentTicks = this.#nowTicks();
    this.#readReply(script, await this.connection.eval([script.source, 0, LONG_AGO]), sentTicks);
  }

  // ioredis also selects the database, but if the server rejects that, it only emits an error and stays in database 0.
  async #selectDatabase(): Promise<void> {
    const db = this.connection.options.db ?? 0;
    if (db !== 0) await this.connection.select(db);
  }

  #toSluiceError(run: ScriptRun, error: unknown): SluiceError {
    if (error instanceof SluiceError) return error;
    const prefix = errorPrefix(error);
    // An error without a prefix of Redis is one of the connection. Its message only states that a queue was flushed;
    // the cause is the last error that was emitted, if any was.
    if (prefix === undefined) return this.#createCallError(run, this.lastError ?? lostConnection(error));
    if (prefix === 'READONLY') this.#noteReadOnly(error);
    return this.#createCallError(run, withoutCommand(error));
  }

  #createCallError({ call, script }: ScriptRun, error: unknown): SluiceError {
    const { isInCluster } = this.#parts;
    return callError({ server: this.server, isInCluster, script }, call.keys, error);
  }

  #createExpiredError({ call, script }: ScriptRun): SluiceError {
    return new SluiceError(
      'ERR_STORE_DEADLINE',
      `Redis at ${this.server} got to the script ${script.name} only after its ${call.deadlineMs} ms were ` +
        'over, and did not run it.',
    );
  }

  // After a failover the server is a replica. A new connection may reach the new primary: Sentinels, DNS or the map of
  // the cluster may name another server now.
  #noteReadOnly(error: unknown): void {
    this.#isWritable = false;
    this.#supervised.cut(error);
  }

  #noteWritable(): void {
    this.#isWritable = true;
    this.#noteChange();
  }

  #noteChange(): void {
    this.#unavailableError = undefined;
    this.#parts.onChange();
  }

  #createUnavailableError(): SluiceError {
    const what = `Redis at ${this.server} is not connected`;
    if (this.lastError !== undefined) return unavailableError(what, this.lastError);
    return new SluiceError('ERR_STORE_UNAVAILABLE', `${what}${this.wasTried ? '' : ' yet'}.`);
  }

  #nowTicks(): number {
    return this.#parts.time.nowMicros() * TICKS_PER_MICRO;
  }
}

/** The message of ioredis is about an option that only this package sets. */
function lostConnection(error: unknown): unknown {
  const isFlushed = error instanceof Error && error.name === 'MaxRetriesPerRequestError';
  return isFlushed ? new Error('it was lost before the answer came', { cause: error }) : error;
}
