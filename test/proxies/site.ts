import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reservedPort } from '../redis/servers/port.ts';
import { Program } from './program.ts';

const PAGES = fileURLToPath(new URL('../../docs/proxies/', import.meta.url));
const BACKEND = fileURLToPath(new URL('backend.py', import.meta.url));
const SLUICE = fileURLToPath(new URL('../../tools/cli/dist/main.js', import.meta.url));

/** How a proxy is started with its configuration of the docs. */
export interface Proxy {
  readonly name: string;
  /** The files of docs/proxies that it reads. */
  readonly files: readonly string[];
  readonly command: (folder: string) => readonly [command: string, ...args: string[]];
}

/** What differs from the site of the docs. */
export interface SiteOptions {
  /** The port of a backend that runs already. Default: a backend in another language is started. */
  readonly backend?: number;
  /** The content of the files. Default: those of docs/proxies. */
  readonly limits?: string;
  readonly tables?: string;
  /** Changes of the proxy's configuration: pairs of what is there and what replaces it. */
  readonly changes?: readonly (readonly [before: string, after: string])[];
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A proxy in front of a backend in another language, and Sluice beside it: three programs, as in production. */
export class Site {
  readonly folder: string;
  readonly port: number;
  readonly #proxy: Proxy;
  readonly #ports: ReadonlyMap<string, number>;
  readonly #options: SiteOptions;
  #programs: Program[] = [];
  #service: Program | undefined;

  private constructor(proxy: Proxy, ports: ReadonlyMap<string, number>, options: SiteOptions) {
    this.#proxy = proxy;
    this.#options = options;
    this.#ports = ports;
    this.port = ports.get('8080')!;
    this.folder = mkdtempSync(join(tmpdir(), 'sluice-proxy-'));
  }

  static async start(proxy: Proxy, options: SiteOptions = {}): Promise<Site> {
    const names = ['8080', '9090', '9089', '8000'];
    const ports = await Promise.all(names.map(() => reservedPort()));
    if (options.backend !== undefined) ports[3] = options.backend;
    const site = new Site(proxy, new Map(names.map((name, i) => [name, ports[i]!])), options);
    const backend = options.backend === undefined ? site.#startBackend() : undefined;
    await Promise.all([backend, site.startService(), site.startProxy(options.changes)]);
    return site;
  }

  /** Starts the proxy, with changes of its configuration: pairs of what is there and what replaces it. */
  async startProxy(changes: readonly (readonly [before: string, after: string])[] = []): Promise<void> {
    for (const file of this.#proxy.files) {
      let text = this.#placed(readFileSync(join(PAGES, file), 'utf8'));
      for (const [before, after] of changes) text = text.replaceAll(before, after);
      writeFileSync(join(this.folder, file), text);
    }
    const [command, ...args] = this.#proxy.command(this.folder);
    this.#programs.push(await Program.start(command, args, this.port, this.folder));
  }

  async stopProxy(): Promise<void> {
    await this.#programs.pop()!.stop();
  }

  /** Writes the limits that the service follows. */
  writeLimits(text: string): void {
    writeFileSync(join(this.folder, 'limits.yaml'), text);
  }

  async startService(): Promise<void> {
    const { limits, tables } = this.#options;
    this.writeLimits(limits ?? readFileSync(join(PAGES, 'limits.yaml'), 'utf8'));
    writeFileSync(join(this.folder, 'tables.yaml'), tables ?? readFileSync(join(PAGES, 'tables.yaml')));
    const port = this.#ports.get('9090')!;
    const args = ['serve', 'limits.yaml', 'tables.yaml', '--http', `127.0.0.1:${port}`];
    this.#service = await Program.start(process.execPath, [SLUICE, ...args], port, this.folder);
  }

  /** The proxy, as the last one that was started. */
  get proxy(): Program {
    return this.#programs.at(-1)!;
  }

  get service(): Program {
    return this.#service!;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#programs, this.service].map((program) => program.stop('SIGKILL')));
    rmSync(this.folder, { recursive: true, force: true });
  }

  ask(path = '/', options: { method?: string; headers?: Record<string, string>; body?: Buffer } = {}): Promise<Answer> {
    const { method = 'GET', headers = {}, body } = options;
    return new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port: this.port, path, method, headers, agent: false }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: text }));
      });
      sent.on('error', reject).end(body);
    });
  }

  async #startBackend(): Promise<void> {
    const port = this.#ports.get('8000')!;
    this.#programs.unshift(await Program.start('python3', [BACKEND, String(port)], port));
  }

  /**
   * A text of the docs with the ports of this site, and as much time for Sluice as a busy machine needs: half a second later
   * the proxies of the docs let a request pass.
   */
  #placed(text: string): string {
    return text
      .replaceAll(/\b(?:8080|9090|9089|8000)\b/g, (port) => String(this.#ports.get(port)))
      .replaceAll(/\b[15]00ms\b/g, '30s');
  }
}
