import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Project } from './project.ts';

/** Tests run at the same time, so the system chooses the port. */
const PORT = '9090';
const ANY_PORT = '0';

const deploy = new URL('../../deploy/', import.meta.url);

/** What the Dockerfile of `sluice serve` makes, in a folder in place of an image. */
export class Image {
  readonly #project = new Project({ isEmpty: true });
  readonly #tarball: string;
  readonly #lines = readFileSync(new URL('Dockerfile', deploy), 'utf8')
    .split('\n')
    .filter((line) => /^[A-Z]+ /.test(line));
  #installed: Promise<string> | undefined;

  constructor(tarball: string) {
    this.#tarball = tarball;
  }

  /**
   * Copies and runs as the lines COPY and RUN of the first stage say, once. The second stage only copies the folder that they
   * fill. Resolves to the path of the installed command.
   */
  installed(): Promise<string> {
    this.#installed ??= this.#install();
    return this.#installed;
  }

  /** The words that the image runs, with ENTRYPOINT. */
  command(): string[] {
    const [, ...words] = [...this.#words('ENTRYPOINT'), ...this.#words('CMD')];
    return words;
  }

  /** The program and words by which the image finds out whether it serves. */
  healthCheck(): string[] {
    return this.#words('HEALTHCHECK CMD');
  }

  remove(): void {
    this.#project.remove();
  }

  async #install(): Promise<string> {
    const { folder } = this.#project;
    const [from = '', to = ''] = this.#textOf('COPY', /^[^-]/).split(' ');
    if (!this.#tarball.endsWith(from)) throw new Error(`The Dockerfile copies ${from}, and not ${this.#tarball}.`);
    const [filled, place] = this.#textOf('COPY', /^--from=build /)
      .split(' ')
      .slice(1);
    if (filled === undefined || filled !== place) throw new Error('The second stage copies to another place.');
    mkdirSync(join(folder, 'tmp'));
    copyFileSync(this.#tarball, join(folder, to));
    // The caches and folders of this machine stay as they are.
    const env = { npm_config_cache: join(folder, 'cache') };
    const line = this.#textOf('RUN').replaceAll(to, join(folder, to)).replaceAll(filled, join(folder, filled));
    await this.#project.run('sh', ['-c', line], env);
    const [first = ''] = this.#textOf('ENV').split('PATH=')[1]!.split(':');
    return join(folder, first, 'sluice');
  }

  #words(instruction: string): string[] {
    return JSON.parse(this.#textOf(instruction)) as string[];
  }

  #textOf(instruction: string, form = /^/): string {
    const texts = this.#lines
      .filter((line) => line.startsWith(`${instruction} `))
      .map((line) => line.slice(instruction.length + 1))
      .filter((text) => form.test(text));
    const [text, ...others] = texts;
    if (text === undefined || others.length > 0) throw new Error(`The Dockerfile must have one line ${instruction}.`);
    return text;
  }
}

/** The words after `sluice` of the unit file, as systemd makes them of ExecStart and Environment, with files of this folder. */
export function unitCommand(): string[] {
  const unit = readFileSync(new URL('../tools/cli/deploy/sluice.service', deploy), 'utf8');
  const [, line = ''] = /^ExecStart=sluice (.*)$/m.exec(unit) ?? [];
  const [, options = ''] = /^Environment="SLUICE_OPTIONS=(.*)"$/m.exec(unit) ?? [];
  return line.replace('$SLUICE_OPTIONS', options).replaceAll('/etc/sluice/', '').split(' ');
}

/** An installed command that serves in a folder. */
export class Served {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #port: string;

  private constructor(child: ChildProcess, folder: string, port: string) {
    this.#child = child;
    this.#folder = folder;
    this.#port = port;
  }

  static async start(sluice: string, folder: string, words: readonly string[]): Promise<Served> {
    writeFileSync(join(folder, 'limits.yaml'), 'PerClient: { count: 5, period: 10s, idFormat: clientNetwork }\n');
    writeFileSync(join(folder, 'tables.yaml'), 'http: { api: { limits: [{ limit: PerClient, id: address }] } }\n');
    const child = spawn(
      sluice,
      words.map((word) => withPort(word, ANY_PORT)),
      { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    for await (const line of createInterface(child.stdout)) {
      const [, port] = /^http listens on .*:(\d+)$/.exec(line) ?? [];
      if (port !== undefined) return new Served(child, folder, port);
    }
    throw new Error(`sluice ${words.join(' ')} ended with ${child.exitCode}`);
  }

  /** Runs a program beside it. @returns Its exit code. */
  status([program = '', ...words]: readonly string[]): number | null {
    const own = words.map((word) => withPort(word, this.#port));
    return spawnSync(program, own, { cwd: this.#folder, stdio: 'inherit' }).status;
  }

  /** @returns Its exit code; null if a signal ended it. */
  async stop(): Promise<number | null> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
    return this.#child.exitCode;
  }
}

function withPort(word: string, port: string): string {
  return word.replace(`:${PORT}`, `:${port}`);
}
