import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** An example, run as a user runs it: a process of its own, on a free port. */
export class ExampleServer {
  /** The address that it printed, without a slash at the end. */
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #output: () => string;

  private constructor(url: string, process: ChildProcess, output: () => string) {
    this.url = url;
    this.#process = process;
    this.#output = output;
  }

  /**
   * @param folder - Below examples/.
   * @param file - The file in it that is run.
   * @param env - What it finds in its environment beside PORT.
   * @param before - A module that is loaded before it.
   */
  static async start(
    folder: string,
    file = 'server.js',
    env: NodeJS.ProcessEnv = {},
    before?: string,
  ): Promise<ExampleServer> {
    const child = runExample(folder, { file, port: 0, env, before });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout?.on('data', () => {
        const [, address] = /^Listening on (http:\S+)$/m.exec(output) ?? [];
        if (address !== undefined) resolve(address);
      });
      child.once('exit', (code) => reject(new Error(`examples/${folder} ended with ${code}:\n${output}`)));
    });
    return new ExampleServer(url, child, () => output);
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** All that it has printed so far. */
  get output(): string {
    return this.#output();
  }

  /** Asks it to end, and gives its exit code. */
  async stop(): Promise<number | null> {
    if (this.#process.exitCode !== null) return this.#process.exitCode;
    const exit = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    const [code] = (await exit) as [number | null];
    return code;
  }
}

/** Starts the file of an example as it stands; its output comes through pipes. */
export function runExample(
  folder: string,
  {
    file = 'server.js',
    port,
    env = {},
    before,
  }: { file?: string; port: number; env?: NodeJS.ProcessEnv; before?: string | undefined },
): ChildProcess {
  const cwd = fileURLToPath(new URL(`../../examples/${folder}/`, import.meta.url));
  return spawn(process.execPath, [...(before === undefined ? [] : ['--import', before]), file], {
    cwd,
    env: { ...process.env, ...env, PORT: String(port), NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
