import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { reservedPort } from '../redis/servers/port.ts';
import { until } from '../redis/servers/until.ts';

interface Answer {
  readonly status: number;
  readonly body: { readonly left: number; readonly policy?: string | null } | null;
}

/** `next dev` or `next start` of an application, as a process group of its own. */
export class NextServer {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(url: string, process: ChildProcess) {
    this.url = url;
    this.#process = process;
  }

  /** @param args - Of the program: `['dev', '--webpack']`. */
  static async start(folder: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<NextServer> {
    const port = await reservedPort();
    const program = join(folder, '..', 'node_modules', 'next', 'dist', 'bin', 'next');
    const child = spawn(process.execPath, [program, ...args, '--port', String(port), '--hostname', '127.0.0.1'], {
      cwd: folder,
      env,
      stdio: 'ignore',
      detached: true,
    });
    const server = new NextServer(`http://127.0.0.1:${port}`, child);
    await until('Next listens', () => server.#answers(), { withinMs: 120_000, everyMs: 100 });
    return server;
  }

  /** Returns the tokens that an order or a read leaves to a key, or the status if it is denied. */
  async left(key: string, path: 'orders' | 'reads'): Promise<number> {
    const { status, body } = await this.#ask(key, path);
    return body?.left ?? status;
  }

  /** Waits until the store decides. */
  async ready(): Promise<void> {
    let asked = 0;
    const isCounted = async (): Promise<boolean> => (await this.#ask(`ready${asked++}`, 'reads')).body?.policy === null;
    await until('the store decides', isCounted, { withinMs: 120_000, everyMs: 100 });
  }

  async stop(): Promise<void> {
    const exit = once(this.#process, 'exit');
    process.kill(-this.#process.pid!, 'SIGKILL');
    await exit;
  }

  async #ask(key: string, path: 'orders' | 'reads'): Promise<Answer> {
    const headers = { 'X-Real-IP': '192.0.2.7', 'X-API-Key': `${key}-key` };
    const order = { method: 'POST', body: '{"item":7}' };
    const response = await fetch(`${this.url}/api/${path}`, { headers, ...(path === 'orders' && order) });
    const body = response.ok
      ? ((await response.json()) as Answer['body'])
      : await response.arrayBuffer().then(() => null);
    return { status: response.status, body };
  }

  async #answers(): Promise<boolean> {
    if (this.#process.exitCode !== null) throw new Error(`Next ended with ${this.#process.exitCode}.`);
    return fetch(`${this.url}/none`).then(
      (response) => response.arrayBuffer().then(() => true),
      () => false,
    );
  }
}
