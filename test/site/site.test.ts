import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { pages as documented } from '../docs/blocks.ts';
import { browser, PHONE } from './browser.ts';
import { sized } from '../sized.ts';
import { builtSite } from './built-site.ts';
import { builtSearch, questions } from './search.ts';
import { violationsOf, visit, type Visit } from './visit.ts';

/** Pages that are open at the same time: one for each core of a small machine. */
const AT_ONCE = 2;

// In the browser, whose types the tests do not have.
const SEARCH_RESULTS = `Array.from(document.querySelectorAll('[role=option] a'), ({ pathname, hash }) => pathname + hash)`;

const TABLES = `Array.from(document.querySelectorAll('.vp-doc table'), (table) => ({
  isWide: table.scrollWidth > table.clientWidth,
  hasShadow: getComputedStyle(table).backgroundAttachment === 'local, local, scroll, scroll',
  isSeenThrough: Array.from(table.querySelectorAll('tr, th, td')).every((each) => {
    const [, , , alpha = '1'] = getComputedStyle(each).backgroundColor.match(/[\\d.]+/g);
    return Number(alpha) < 0.2;
  }),
}))`;

const site = await builtSite();
const { context, ...chromium } = await browser();
afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});
/** Every third page, because pages have much in common, and in `npm run test:all` each. */
const visited = site.pages.filter((_, i) => i % sized(3, 1) === 0);
const visits = await visitAll(visited);
const anchors = new Map(site.pages.map((path) => [path, site.anchorsOf(path)]));

it.each(documented())('%s is a page of the site', (file) => {
  const path = `/${file
    .replace(/^README\.md$/, 'readme.md')
    .replace(/README\.md$/, 'index.md')
    .replace(/md$/, 'html')}`;
  expect(site.pages).toContain(path);
});

it.each(site.pages)('%s has no link that leads nowhere', (path) => {
  const { links } = anchors.get(path)!;
  expect(links).not.toEqual([]);
  expect(links.filter((link) => !leadsSomewhere(link))).toEqual([]);
});

describe.each(visited)('%s', (path) => {
  const seen = visits.get(path)!;

  it('writes nothing to the console, and everything that it asks for is there', () => {
    expect(seen.messages).toEqual([]);
  });

  it.runIf(asksAxe(path))('has no violation that axe finds in its content, apart from contrast', () => {
    expect(seen.violations).toEqual([]);
  });

  it('is not wider than a phone', () => {
    expect(seen.tooWide).toBe(0);
  });
});

/** One whole page of each kind: all others have the same bars and the same colours. The last are long ones of the docs. */
const OF_EACH_KIND = [
  '/index.html',
  '/docs/index.html',
  '/playground.html',
  '/api/@sluice/express.html',
  '/an-address/that-does-not-exist.html',
  '/docs/proxies.html',
  '/readme.html',
];

describe.each(OF_EACH_KIND.slice(0, sized(6, OF_EACH_KIND.length)))('%s', (path) => {
  it.each(['light', 'dark'] as const)('has no violation that axe finds, when it is %s', async (scheme) => {
    const page = await context.newPage();
    expect(await violationsOf(page, site.url + path, scheme)).toEqual([]);
    await page.close();
  });
});

describe('the search', async () => {
  const search = await builtSearch();
  const isFound = ([question, right]: [string, readonly string[]]): boolean =>
    search(question)
      .slice(0, 3)
      .some((id) => right.includes(id));

  it.each([
    ['new', 5],
    ['old', 0],
  ] as const)('answers the %s questions in its first three results, all but at most %i', (kind, most) => {
    const missed = Object.entries(questions[kind]).filter((each) => !isFound(each));
    expect(missed.slice(most)).toEqual([]);
  });

  it.each(['new', 'old'] as const)('has the sections that answer the %s questions', (kind) => {
    const sections = Object.values(questions[kind]).flat();
    expect(sections.filter((section) => !leadsSomewhere(section))).toEqual([]);
  });

  it('shows on a page what was found in this order, and leads there', async () => {
    const page = await context.newPage();
    await page.goto(`${site.url}/docs/`);
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.getByRole('searchbox').fill('redis outage');
    const found = page.getByRole('listbox').getByRole('option');
    await found.nth(2).waitFor();
    const shown = await page.evaluate<string[]>(SEARCH_RESULTS);
    expect(shown.slice(0, 3)).toEqual(search('redis outage').slice(0, 3));
    await found.first().click();
    await expect.poll(() => page.url()).toContain('/docs/failure-policy.html');
    await page.close();
  });
});

it.each(['/readme.html', '/docs/frameworks.html'])('%s shows where a table goes on beside the page', async (path) => {
  const page = await context.newPage();
  await page.setViewportSize(PHONE);
  await page.goto(site.url + path);
  const tables = await page.evaluate<{ isWide: boolean; hasShadow: boolean; isSeenThrough: boolean }[]>(TABLES);
  expect(tables.some(({ isWide }) => isWide)).toBe(true);
  for (const table of tables) expect(table).toMatchObject({ hasShadow: true, isSeenThrough: true });
  await page.close();
});

describe('the API reference', () => {
  const pages = visited.filter((path) => path.startsWith('/api/'));

  it('has no page that is longer than 100,000 pixels on a phone', () => {
    expect(pages.filter((path) => visits.get(path)!.height > 100_000)).toEqual([]);
  });

  it('begins with what is called first', async () => {
    const html = await (await fetch(`${site.url}/api/@sluice/core/limiters.html`)).text();
    expect(/<h2 id="([^"]+)"/.exec(html)?.[1]).toBe('createlimiter');
    const entry = await (await fetch(`${site.url}/api/@sluice/core.html`)).text();
    expect(/<h2 id="([^"]+)"/.exec(entry)?.[1]).toBe('limiters');
  });
});

it('the landing page has at most 60 kB of script of its own, which has of the core the rule alone', async () => {
  const scriptsOf = async (path: string): Promise<readonly string[]> => {
    const html = await (await fetch(site.url + path)).text();
    return [...new Set([...html.matchAll(/(?:src|href)="(\/[^"]+\.js)"/g)].map(([, file]) => file!))];
  };
  const shared = await scriptsOf('/docs/index.html');
  const own = (await scriptsOf('/index.html')).filter((file) => !shared.includes(file));
  const texts = await Promise.all(own.map(async (file) => (await fetch(site.url + file)).text()));
  expect(own).not.toEqual([]);
  expect(gzipSync(texts.join('')).length).toBeLessThanOrEqual(60_000);
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL('../../site/landing/index.ts', import.meta.url))],
    bundle: true,
    metafile: true,
    write: false,
    format: 'esm',
  });
  const ofCore = Object.keys(metafile.inputs).filter((file) => /(packages|tools)\//.test(file));
  expect(ofCore.filter((file) => !file.includes('packages/core/src/rule/'))).toEqual([]);
});

it('on the landing page, a click takes a token, and the sixth gets the 429 of a real server', async () => {
  const page = await context.newPage();
  await page.clock.install();
  await page.goto(`${site.url}/`);
  await page.waitForFunction(`'__vue_app__' in (document.querySelector('#app') ?? {})`);
  await page.clock.pauseAt(Date.now() + 60_000);
  const answer = page.locator('.landing .answer');
  const send = page.getByRole('button', { name: 'Send a request' });
  for (const left of [4, 3, 2, 1, 0]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await send.click();
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await answer.textContent()).toMatch(new RegExp(`200 OK[^]*RateLimit: "default";r=${left};t=1`));
  }
  await send.click();
  expect(await answer.textContent()).toMatch(
    /429 Too Many Requests\nRetry-After: 1[^]*problem\+json[^]*quota-exceeded/,
  );
  await page.clock.runFor(1100);
  expect(await page.locator('.landing .tokens').textContent()).toBe('1 of 5 tokens');
  await send.click();
  expect(await answer.textContent()).toContain('200 OK');
  await page.close();
});

it('on a phone, the menu of all pages opens and leads to another page', async () => {
  const page = await context.newPage();
  await page.setViewportSize(PHONE);
  await page.goto(`${site.url}/docs/`);
  await page.getByRole('button', { name: 'Menu', exact: true }).click();
  await page.getByRole('link', { name: 'Quotas', exact: true }).first().click();
  await expect.poll(() => page.url()).toContain('/docs/limits/quotas.html');
  await page.close();
});

it('the switch makes a light page dark, also after a reload', async () => {
  const page = await context.newPage();
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto(`${site.url}/docs/`);
  const isDark = (): Promise<boolean> => page.evaluate<boolean>(`document.documentElement.classList.contains('dark')`);
  expect(await isDark()).toBe(false);
  await page.getByRole('switch').first().click();
  expect(await isDark()).toBe(true);
  await page.reload();
  expect(await isDark()).toBe(true);
  await page.close();
});

async function visitAll(paths: readonly string[]): Promise<ReadonlyMap<string, Visit>> {
  const seen = new Map<string, Visit>();
  const waiting = paths.values();
  const visitWaiting = async (): Promise<void> => {
    const page = await context.newPage();
    for (const path of waiting) seen.set(path, await visit(page, site.url, path, asksAxe(path)));
    await page.close();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, visitWaiting));
  return seen;
}

/** Every twelfth page, because most of the time is spent in axe, and in `npm run test:all` each. */
function asksAxe(path: string): boolean {
  return visited.indexOf(path) % sized(4, 1) === 0;
}

function leadsSomewhere(link: string): boolean {
  const { pathname, hash } = new URL(link, site.url);
  if (!site.pages.includes(pathname) && site.has(pathname)) return true;
  const target = anchors.get(decodeURI(pathname).replace(/\/$/, '/index.html'));
  return target !== undefined && (hash === '' || target.ids.has(decodeURIComponent(hash.slice(1))));
}
