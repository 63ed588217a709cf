// `npm run trial -- site-paint` builds the site, and prints how long a new browser waits for the first picture of some pages.
import { browser, DESK, PHONE } from './browser.ts';
import { builtSite } from './built-site.ts';

const PAGES = ['/', '/playground.html', '/docs/', '/docs/limits/quotas.html'];
const ROUNDS = 5;

const site = await builtSite();
/* oxlint-disable no-await-in-loop -- one after the other, so that none disturbs another */
for (const path of PAGES) {
  for (const size of [PHONE, DESK]) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) times.push(await firstPaintMs(path, size));
    const [least, median, most] = [0, (ROUNDS - 1) / 2, ROUNDS - 1].map((i) =>
      Math.round(times.toSorted(byNumber)[i]!),
    );
    console.log(`${path.padEnd(26)} ${String(size.width).padStart(5)} px  ${median} ms (${least} to ${most})`);
  }
}
await site[Symbol.asyncDispose]();

/** Milliseconds from the start of the navigation until something of the page is seen, with nothing in a cache. */
async function firstPaintMs(path: string, size: { readonly width: number; readonly height: number }): Promise<number> {
  const { context, ...chromium } = await browser();
  const page = await context.newPage();
  await page.setViewportSize(size);
  await page.goto(site.url + path);
  const paint = page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
  const ms = await (await paint).jsonValue();
  await chromium[Symbol.asyncDispose]();
  return ms!;
}

function byNumber(a: number, b: number): number {
  return a - b;
}
