// The room servers: scripts on one server or on the primaries of a cluster, with any client library.
import { SluiceError } from '@sluice/core';
import { ServerClock } from '@sluice/core/kit';
import { TICKS_PER_MICRO } from '@sluice/core/store';
import { readReply, type Script, type ScriptReply } from '../client/script.ts';
import type { ScriptRun } from '../client/script-run.ts';
import type { ClientParts, ServerState } from '../client/script-servers.ts';
import { callError, errorPrefix, isNoScript, unavailableError } from '../client/server-errors.ts';
import type { Connection } from './connection.ts';
import { SupervisedConnection } from './supervised-connection.ts';
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
  /** Called with a run that has failed here. It ends the run, or sends it elsewhere. */
  readonly onFailure: (run: ScriptRun, error: SluiceError) => void;
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
    return this.connection.address;
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

  /** Runs a script on this server, which is open, and ends the run. */
  send(run: ScriptRun): void {
    run.isSecond = false;
    this.#evaluate(run, 'evalsha');
  }

  /** Notes that a call that was sent here missed its deadline. */
  noteMiss(): void {
    this.#supervised.noteMiss();
  }

  /** Removes listeners and timers. The owner of the connection closes the connection itself. */
  close(): void {
    this.#supervised.close();
  }

  #attempt(run: ScriptRun, command: 'eval' | 'evalsha'): void {
    if (this.isOpen) this.#evaluate(run, command);
    else this.#parts.onFailure(run, this.unavailableError);
  }

  // Every decision takes this path, so it adds only one `then` to the promise of the client.
  #evaluate(run: ScriptRun, command: 'eval' | 'evalsha'): void {
    run.sentTo = this;
    const { script, keys, args } = run;
    const text = command === 'eval' ? script.source : script.sha1;
    const expiry = String(this.#clock.notAfter(run.endTicks));
    try {
      // ASKING applies to the next command on this connection, which is the script. If the server rejects ASKING, the
      // script fails as well, and its error is reported.
      if (run.isAsking) this.connection.asking().catch(() => {});
      const sentTicks = this.#nowTicks();
      this.connection.evaluate(command, [text, keys.length, ...keys, expiry, ...args]).then(
        (reply) => this.#handleReply(run, reply, sentTicks),
        (error: unknown) => this.#handleError(run, command, error),
      );
    } catch (error) {
      // A tracing library that wraps the client may throw synchronously. Uncaught, its error would end the process.
      this.#parts.onFailure(run, this.#toSluiceError(run, error));
    }
  }

  #handleReply(run: ScriptRun, answer: unknown, sentTicks: number): void {
    let reply: ScriptReply;
    try {
      reply = this.#readReply(run.script, answer, sentTicks);
    } catch (error) {
      return this.#parts.onFailure(run, error as SluiceError);
    }
    if (!reply.done) return this.#handleExpired(run);
    if (!this.#isWritable) this.#noteWritable();
    run.answered(reply.rest);
  }

  // The estimate of the server's clock was wrong, and the reply has corrected it. The script is sent once more if less than
  // half of its time has passed.
  #handleExpired(run: ScriptRun): void {
    this.#parts.counts.expired++;
    if (run.isSecond || !run.isEarly(this.#nowTicks())) {
      return this.#parts.onFailure(run, this.#createExpiredError(run));
    }
    run.isSecond = true;
    this.#attempt(run, 'evalsha');
  }

  #handleError(run: ScriptRun, command: 'eval' | 'evalsha', error: unknown): void {
    if (command === 'eval' || !isNoScript(this.connection.readError(error))) {
      return this.#parts.onFailure(run, this.#toSluiceError(run, error));
    }
    this.#parts.counts.reloads++;
    this.#attempt(run, 'eval');
  }

  #readReply(script: Script, answer: unknown, sentTicks: number): ScriptReply {
    const gotTicks = this.#nowTicks();
    const reply = readReply(script, answer);
    this.#clock.learn({ sentTicks, gotTicks, serverTicks: reply.nowTicks });
    return reply;
  }

  /** Loads the script, by a call with an expiry in the past. The reply reports the server's time. */
  async #prepare(): Promise<void> {
    await this.connection.selectDatabase();
    const { script } = this.#parts;
    const sentTicks = this.#nowTicks();
    this.#readReply(script, await this.connection.evaluate('eval', [script.source, 0, LONG_AGO]), sentTicks);
  }

  #toSluiceError(run: ScriptRun, thrown: unknown): SluiceError {
    if (thrown instanceof SluiceError) return thrown;
    const error = this.connection.readError(thrown);
    const prefix = errorPrefix(error);
    // An error without a prefix of Redis is one of the connection. Its message only states that a queue was flushed;
    // the cause is the last error that was emitted, if any was.
    if (prefix === undefined) return this.#createCallError(run, this.lastError ?? error);
    if (prefix === 'READONLY') this.#noteReadOnly(error);
    return this.#createCallError(run, error);
  }

  #createCallError({ keys, script }: ScriptRun, error: unknown): SluiceError {
    const { isInCluster } = this.#parts;
    return callError({ server: this.server, isInCluster, script }, keys, error);
  }

  #createExpiredError({ deadlineMs, script }: ScriptRun): SluiceError {
    return new SluiceError(
      'ERR_STORE_DEADLINE',
      `Redis at ${this.server} got to the script ${script.name} only after its ${deadlineMs} ms were ` +
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
