import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { answerOf, forkedWith } from '../../redis/processes/answering-process.ts';
import type { ClosedLoad, GatewayOrders, OpenLoad, Report } from './gateway.mjs';

const FILE = fileURLToPath(new URL('gateway.mjs', import.meta.url));

/** Processes that share their limits through one Redis. */
export class GatewayProcesses {
  readonly #children: readonly ChildProcess[];

  private constructor(children: readonly ChildProcess[]) {
    this.#children = children;
  }

  /** Starts them, each with a seed of its own, and waits until they are connected. */
  static async start(orders: GatewayOrders): Promise<GatewayProcesses> {
    const children = Array.from({ length: orders.gateways }, (_, i) => {
      return forkedWith(FILE, { ...orders, seed: orders.seed + i } satisfies GatewayOrders);
    });
    const started = new GatewayProcesses(children);
    try {
      await started.#answers();
      return started;
    } catch (error) {
      await started.end();
      throw error;
    }
  }

  /** Lets each of them make its part of the requests. */
  async run(load: ClosedLoad | OpenLoad): Promise<readonly Report[]> {
    const answers = this.#answers<Report>();
    for (const child of this.#children) child.send(load);
    return answers;
  }

  async end(): Promise<void> {
    const running = this.#children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    await Promise.all(
      running.map(async (child) => {
        const exit = once(child, 'exit');
        child.kill('SIGKILL');
        await exit;
      }),
    );
  }

  #answers<T>(): Promise<readonly T[]> {
    return Promise.all(this.#children.map((child) => answerOf<T>(child)));
  }
}
