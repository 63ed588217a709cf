import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { DESK, PHONE } from './browser.ts';

// In the browser, whose types the tests do not have.
const SIZES = `({
  height: document.documentElement.scrollHeight,
  tooWide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
})`;

/** The part of a page that other pages do not have. */
const CONTENT = '#VPContent';

const OF_A_WHOLE_PAGE = {
  resultTypes: ['violations'],
  // VitePress shows a key beside the label of its search.
  rules: { 'label-content-name-mismatch': { enabled: false } },
};

/** Contrast takes more time than all other rules together, and pages of one kind have the same colours. */
const OF_THE_CONTENT = { resultTypes: ['violations'], rules: { 'color-contrast': { enabled: false } }, preload: false };

/** What was found on one page. */
export interface Visit {
  /** Messages on the console, which are also about files that are not there, and errors of scripts. */
  readonly messages: readonly string[];
  /** By how many pixels the page is wider than a phone. */
  readonly tooWide: number;
  /** In pixels, on a phone. */
  readonly height: number;
  /** What axe finds in its content, except contrast; nothing if it was not asked. */
  readonly violations: readonly string[];
}

/** Opens a page on a phone, and waits until its script has taken it over. */
export async function visit(page: Page, url: string, path: string, asksAxe: boolean): Promise<Visit> {
  const messages: string[] = [];
  page.on('console', (message) => void messages.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => void messages.push(`error: ${error.message}`));
  await page.setViewportSize(PHONE);
  await open(page, url + path);
  const sizes = await page.evaluate<Pick<Visit, 'tooWide' | 'height'>>(SIZES);
  const violations = asksAxe ? await violationsIn(page, CONTENT, OF_THE_CONTENT) : [];
  page.removeAllListeners();
  return { messages, ...sizes, violations };
}

/** What axe finds on a whole page: each rule with the first element that violates it. */
export async function violationsOf(page: Page, url: string, scheme: 'light' | 'dark'): Promise<string[]> {
  await page.setViewportSize(DESK);
  await page.emulateMedia({ colorScheme: scheme });
  await open(page, url);
  return violationsIn(page, 'html', OF_A_WHOLE_PAGE);
}

async function violationsIn(page: Page, selector: string, options: object): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>(`axe.run('${selector}', ${JSON.stringify(options)})`);
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
}

async function open(page: Page, url: string): Promise<void> {
  await page.goto(url, { waitUntil: 'load' });
  await page.waitForFunction(`'__vue_app__' in (document.querySelector('#app') ?? {})`);
}
