import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext } from 'playwright-core';
import { chromiumProgram } from '../../scripts/chromium.mjs';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const PHONE = { width: 390, height: 844 };
export const DESK = { width: 1280, height: 900 };

/** A Chromium of its own, with a new profile. */
export async function browser(): Promise<AsyncDisposable & { readonly context: BrowserContext }> {
  const profile = mkdtempSync(join(tmpdir(), 'sluice-chromium-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: chromiumProgram(),
    headless: true,
    args: FLAGS,
    // Colours that are still changing have no contrast yet.
    reducedMotion: 'reduce',
    viewport: DESK,
  });
  return {
    context,
    async [Symbol.asyncDispose]() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
