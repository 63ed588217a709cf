import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type Page } from 'playwright-core';
import { chromiumProgram } from '../../scripts/chromium.mjs';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Chromium with an empty profile, and a server of files for it. */
export class Browser {
  /** What pages wrote to their console, and errors that they did not handle. */
  readonly problems: string[] = [];
  readonly #context: BrowserContext;
  readonly #origin: string;
  readonly #ends: (() => unknown)[];

  private constructor(context: BrowserContext, origin: string, ends: (() => unknown)[]) {
    this.#context = context;
    this.#origin = origin;
    this.#ends = ends;
  }

  /** @param files - By path: type and contents. */
  static async start(
    files: Readonly<Record<string, readonly [type: string, contents: Uint8Array | string]>>,
  ): Promise<Browser> {
    const server = createServer(({ url = '/' }, response) => {
      const [type, contents] = files[url.split('?')[0]!] ?? ['text/plain', ''];
      response.setHeader('Content-Type', type).end(contents);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const profile = mkdtempSync(join(tmpdir(), 'sluice-chromium-'));
    const executablePath = chromiumProgram();
    const context = await chromium.launchPersistentContext(profile, { executablePath, headless: true, args: FLAGS });
    const { port } = server.address() as AddressInfo;
    return new Browser(context, `http://127.0.0.1:${port}`, [
      () => context.close(),
      () => new Promise((resolve) => server.close(resolve)),
      () => rmSync(profile, { recursive: true, force: true }),
    ]);
  }

  async open(
    path: string,
    look: { width: number; scheme: 'light' | 'dark' } = { width: 1280, scheme: 'light' },
  ): Promise<Page> {
    const page = await this.#context.newPage();
    page.on('console', (message) => this.problems.push(message.text()));
    page.on('pageerror', (error) => this.problems.push(String(error)));
    await page.setViewportSize({ width: look.width, height: 900 });
    await page.emulateMedia({ colorScheme: look.scheme });
    await page.goto(`${this.#origin}${path}`);
    return page;
  }

  async end(): Promise<void> {
    // oxlint-disable-next-line no-await-in-loop -- the browser first
    for (const end of this.#ends) await end();
  }
}
