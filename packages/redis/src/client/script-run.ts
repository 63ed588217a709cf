import type { SluiceError } from '@sluice/core';
import type { Deadlines, Wait } from '@sluice/core/kit';
import { TICKS_PER_MICRO, TICKS_PER_MS } from '@sluice/core/store';
import type { Script, ScriptCall } from './script.ts';

/** The server that a call was sent to. */
interface SentTo {
  readonly server: string;
  /** Notes that the call missed its deadline. */
  noteMiss(): void;
}

/** What a run needs of its client. */
export interface RunClient {
  /** Notes that a run has missed its deadline. Returns the error. */
  noteMiss(run: ScriptRun): SluiceError;
}

/**
 * One run of a script, from its call to its end: one object for what is sent, the wait for the deadline, and what comes of
 * it. It may be sent to several servers in turn. All ticks are of the process's own clock.
 */
export abstract class ScriptRun implements Wait {
  readonly script: Script;
  /** How long the caller waits in total, in milliseconds, more than 0. The script must not write after that. */
  readonly deadlineMs: number;
  /** When the caller began to wait. */
  readonly sinceMicros: number;
  /** They are in one hash slot. */
  abstract readonly keys: readonly string[];
  /** The arguments after the expiry: ARGV[2…]. */
  abstract readonly args: readonly (string | number)[];
  /** The deadline. */
  endTicks = 0;
  /** The server to which it was last sent. */
  sentTo: SentTo | undefined = undefined;
  /** Whether ASKING is sent before it, because the server is still importing the hash slot. */
  isAsking = false;
  /** Whether a server has already found that it came too late. */
  isSecond = false;
  /** How many redirections it has followed. */
  redirects = 0;
  dueMicros = 0;
  isIn = false;
  before: Wait | undefined = undefined;
  after: Wait | undefined = undefined;
  #startTicks = 0;
  #client: RunClient | undefined = undefined;
  #deadlines: Deadlines | undefined = undefined;

  constructor(script: Script, deadlineMs: number, sinceMicros: number) {
    this.script = script;
    this.deadlineMs = deadlineMs;
    this.sinceMicros = sinceMicros;
  }

  /** Called with the reply of an executed script without its first element. */
  protected abstract answer(reply: readonly unknown[]): void;
  /** Called in place of {@link answer}. */
  protected abstract fail(error: unknown): void;

  /** The time until the deadline, in milliseconds. */
  leftMs(nowMicros: number): number {
    return this.deadlineMs - (nowMicros - this.sinceMicros) / 1000;
  }

  /** Begins to wait for its end, or for the deadline that all of a list have. */
  begin(client: RunClient, deadlines: Deadlines, nowMicros: number): void {
    this.#client = client;
    this.#deadlines = deadlines;
    this.#startTicks = nowMicros * TICKS_PER_MICRO;
    this.endTicks = this.#startTicks + Math.floor(this.leftMs(nowMicros) * TICKS_PER_MS);
    deadlines.begin(this, nowMicros);
  }

  /** Whether less than half of the time has passed. */
  isEarly(nowTicks: number): boolean {
    return nowTicks - this.#startTicks < this.endTicks - nowTicks;
  }

  /** Ends it with the reply of a server. Has no effect after its deadline. */
  answered(reply: readonly unknown[]): void {
    if (this.#deadlines?.end(this) !== false) this.answer(reply);
  }

  /** Ends it with an error. Has no effect after its deadline. One that was not sent has not begun, and waits for none. */
  failed(error: unknown): void {
    if (this.#deadlines?.end(this) !== false) this.fail(error);
  }

  miss(): void {
    this.fail(this.#client!.noteMiss(this));
  }
}

/** A run whose caller awaits a promise. */
export class AwaitedRun extends ScriptRun {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
  readonly reply: Promise<readonly unknown[]>;
  protected answer!: (reply: readonly unknown[]) => void;
  protected fail!: (error: unknown) => void;

  constructor({ keys, args, deadlineMs }: ScriptCall, script: Script, sinceMicros: number) {
    super(script, deadlineMs, sinceMicros);
    this.keys = keys;
    this.args = args;
    this.reply = new Promise((resolve, reject) => {
      this.answer = resolve;
      this.fail = reject;
    });
  }
}
