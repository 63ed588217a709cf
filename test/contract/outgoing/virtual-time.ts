import { FakeTime } from '@sluice/core/testing';
import { Agent, get, type IncomingHttpHeaders } from 'node:http';
import { vi } from 'vitest';

/** How much the time moves at once. */
const STEP_MS = 10;

/** Real servers and real sockets, on a time that moves only here: ours, and `Date` and the timers of the other libraries. */
export class VirtualTime {
  readonly fake = new FakeTime();
  readonly #agent = new Agent({ keepAlive: true });
  readonly #real = { setImmediate };
  #open = 0;

  constructor() {
    const startMs = Date.UTC(2026, 10, 29, 12);
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'], now: startMs });
    this.fake.setWall(startMs);
  }

  /** Moves the time forward. It waits for requests that are on their way: they take no time but that of {@link delay}. */
  async pass(ms: number): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += STEP_MS) {
      // oxlint-disable-next-line no-await-in-loop -- one step after the other
      await this.fake.pass(STEP_MS);
      vi.advanceTimersByTime(STEP_MS);
      // oxlint-disable-next-line no-await-in-loop -- until nothing is on its way
      do await new Promise((resolve) => void this.#real.setImmediate(resolve));
      while (this.#open > 0);
    }
  }

  delay(ms: number): Promise<void> {
    return new Promise((resolve) => void this.fake.alarm(ms, resolve));
  }

  /** Sends a request over a real socket. */
  async ask(port: number): Promise<{ readonly status: number; readonly headers: IncomingHttpHeaders }> {
    this.#open++;
    try {
      return await new Promise((resolve, reject) => {
        get({ host: '127.0.0.1', port, agent: this.#agent }, (response) => {
          response.resume();
          response.once('end', () => resolve({ status: response.statusCode!, headers: response.headers }));
        }).once('error', reject);
      });
    } finally {
      this.#open--;
    }
  }

  end(): void {
    this.#agent.destroy();
    vi.useRealTimers();
  }
}
