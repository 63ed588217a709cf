import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { HoldMessage, HoldOrders, HoldReport } from '../processes/hold.mjs';
import { run } from '../processes/run.ts';
import { running } from '../servers/running.ts';

/** The time by the clock that all processes of this machine have in common. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** A process with a limiter of its own, which holds slots. */
export class HolderProcess {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Starts it, and waits until its store answers. */
  static async start(orders: HoldOrders): Promise<HolderProcess> {
    const child = run('hold.mjs', [JSON.stringify(orders)]);
    const holder = new HolderProcess(child);
    running.add({ close: () => holder.kill() });
    await once(child, 'message');
    return holder;
  }

  /** Holds as many slots as fit, up to `count`. Returns when each was taken. */
  take(count: number): Promise<readonly number[]> {
    return this.#taken({ take: count });
  }

  /** Goes on asking until `count` more slots are held. Returns when each was taken. */
  gather(count: number): Promise<readonly number[]> {
    return this.#taken({ gather: count });
  }

  /** Begins the load. */
  async load(): Promise<void> {
    await this.#ask({ load: true });
  }

  /** Ends the load, releases all slots, and returns what happened. */
  end(): Promise<HoldReport> {
    return this.#ask<HoldReport>({ end: true });
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }

  async #taken(message: HoldMessage): Promise<readonly number[]> {
    return (await this.#ask<{ takenMs: readonly number[] }>(message)).takenMs;
  }

  async #ask<Answer>(message: HoldMessage): Promise<Answer> {
    const answer = once(this.#child, 'message');
    this.#child.send(message);
    return ((await answer) as [Answer])[0];
  }
}

/** Starts several with the same orders. */
export function holders(count: number, orders: HoldOrders): Promise<readonly HolderProcess[]> {
  return Promise.all(Array.from({ length: count }, () => HolderProcess.start(orders)));
}

/** What all of them have done. */
export async function endAll(all: readonly HolderProcess[]): Promise<HoldReport> {
  const reports = await Promise.all(all.map((holder) => holder.end()));
  return {
    spans: reports.flatMap(({ spans }) => spans),
    denied: reports.reduce((sum, { denied }) => sum + denied, 0),
    failed: reports.reduce((sum, { failed }) => sum + failed, 0),
    errors: reports.flatMap(({ errors }) => errors),
  };
}
