import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from './browser.ts';
import { stepsOfCore } from './of-core.ts';
import { bundleOf, PAGE } from './pages.ts';
import { numbersFrom, randomCase } from './random-cases.ts';
import { sized } from '../sized.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** In the page: where the marks of requests are, and by how much the rightmost is outside of the picture. */
const MARKS = `(() => {
  const marks = Array.from(document.querySelectorAll('.picture .passed, .picture .denied'), (each) => each.getBoundingClientRect());
  const { right } = document.querySelector('.picture svg').getBoundingClientRect();
  return {
    marks: marks.map(({ x, y }) => Math.round(x / 2) + ' ' + Math.round(y)),
    right: Math.max(...marks.map((mark) => mark.right)) - right,
  };
})()`;

let browser: Browser;
let sizes: { readonly js: number; readonly css: number };

beforeAll(async () => {
  const { js, css } = await bundleOf('playground/index.ts');
  const steps = await bundleOf(new URL('steps.ts', import.meta.url));
  sizes = { js: gzipSync(js, { level: 9 }).length, css: gzipSync(css, { level: 9 }).length };
  browser = await Browser.start({
    '/': ['text/html', PAGE],
    '/index.js': ['text/javascript', js],
    '/index.css': ['text/css', css],
    '/steps.js': ['text/javascript', steps.js],
  });
});
afterAll(() => browser.end());
// oxlint-disable-next-line vitest/no-standalone-expect -- for each test
afterEach(() => expect(browser.problems).toEqual([]));

test('its scripts and styles have at most 60 kB, compressed', () => {
  expect(sizes.js + sizes.css).toBeLessThan(60_000);
});

const CASES = sized(2500, 10_000);

test(`its decisions and fields are those of a limiter under Node, for ${CASES} random timelines`, async () => {
  const [seed, cases] = [20_261_124, CASES];
  const page = await browser.open('/');
  const source = `import('/steps.js').then(({ stepsFrom }) => stepsFrom(${seed}, ${cases}))`;
  const inBrowser = JSON.parse(await page.evaluate<string>(source)) as unknown[];
  expect(inBrowser).toHaveLength(cases);
  const random = numbersFrom(seed);
  const statuses = new Set<number>();
  for (const steps of inBrowser) {
    // oxlint-disable-next-line no-await-in-loop -- the cases follow from each other
    const expected = await stepsOfCore(randomCase(random));
    for (const { status, delayMs } of expected) statuses.add(delayMs > 0 ? 202 : status);
    expect(steps).toEqual(JSON.parse(JSON.stringify(expected)));
  }
  // Some passed at once, some after a wait, some never can, and some were denied.
  expect([...statuses].toSorted((one, other) => one - other)).toEqual([200, 202, 400, 429]);
});

describe.each([
  { width: 1280, scheme: 'light' },
  { width: 1280, scheme: 'dark' },
  { width: 390, scheme: 'light' },
  { width: 390, scheme: 'dark' },
] as const)('at $width pixels, $scheme', (look) => {
  test.each(['', '#count=2&period=1s&burst=1&maxWait=2s&count2=9&period2=1m&t=0x6+2.5'])(
    'axe finds nothing, and nothing is wider than the page (%j)',
    async (hash) => {
      const page = await browser.open(`/${hash}`, look);
      await page.evaluate(AXE);
      const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
        'axe.run()',
      );
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(look.width);
      await pictured(page, `${look.width}-${look.scheme}${hash === '' ? '' : '-two'}`);
      await page.close();
    },
  );
});

describe('by keyboard alone', () => {
  test('a limit is changed, requests are sent, an answer is chosen, and the address shows the case', async () => {
    const page = await browser.open('/#burst=2&count=1&period=1h&cost=1&t=');
    await tabTo(page, 'Burst');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('3');
    await tabTo(page, 'Send a request');
    // On a busy machine, a key that is held for long sends more than once, and seconds pass between the keys.
    for (const key of ['Enter', 'Space', 'Enter', 'Space']) await page.keyboard.press(key);
    const [, sent] = /^Request (\d+) of \1: .* denied/.exec((await page.locator('output').textContent()) ?? '') ?? [];
    expect(Number(sent)).toBeGreaterThanOrEqual(4);
    expect(await page.locator('.response').textContent()).toMatch(
      /^HTTP\/1\.1 429 Too Many Requests\n(.*\n)*RateLimit: "PerClient";r=0;t=3(600|59\d)\n/,
    );
    await tabTo(page, 'Request');
    for (let shown = Number(sent); shown > 3; shown--) await page.keyboard.press('ArrowLeft');
    expect(await page.locator('.response').textContent()).toMatch(
      /^HTTP\/1\.1 200 OK\n(.*\n)*RateLimit: "PerClient";r=0;t=3(600|59\d)\n/,
    );
    await page.waitForFunction("location.hash.startsWith('#burst=3&count=1&period=1h&cost=1&t=')");
    await page.close();
  });

  test('Space that is held sends again and again, and stops when it is released', async () => {
    const page = await browser.open('/#burst=2&count=1&period=1h&cost=1&t=');
    await tabTo(page, 'Send a request');
    await page.keyboard.down('Space');
    await page.waitForFunction("/of [4-9]/.test(document.querySelector('output').textContent)");
    await page.keyboard.up('Space');
    const sent = await page.locator('output').textContent();
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 350))');
    expect(await page.locator('output').textContent()).toBe(sent);
    await page.close();
  });
});

test('a link shows its case: limits, requests, answer, code and YAML', async () => {
  const page = await browser.open(
    '/#burst=4&count=2&period=10s&maxWait=5s&count2=20&period2=1m&cost=2&t=0*2+0*2+0*2+0*9',
  );
  expect(await page.locator('output').textContent()).toBe(
    'Request 4 of 4: at 0 s with a cost of 9, it can never pass.',
  );
  expect(await page.locator('.response').textContent()).toContain('PerClient');
  expect(await page.locator('.picture svg').getAttribute('aria-label')).toMatch(
    /^Sluice: [23] of 4 requests pass\. Fixed window: /,
  );
  const [code, yaml] = await page.locator('.copied pre').allTextContents();
  expect(code).toContain("PerClient: { key: clientNetwork(), burst: 4, count: 2, period: '10s', maxWait: '5s' },");
  expect(code).toContain("limits: [{ limit: 'PerClient', cost: 2 }, { limit: 'Sustained', cost: 2 }]");
  expect(yaml).toBe(
    'PerClient:\n  burst: 4\n  count: 2\n  period: 10s\n  maxWait: 5s\nSustained:\n  count: 20\n  period: 1m\n',
  );
  await page.close();
});

describe('a mistake', () => {
  test.each([
    ['Burst', '0', /^`limits\.PerClient\.burst` must be .* but was 0/],
    ['Count', '', /^`limits\.PerClient\.count` must be .* but was 0/],
    ['Period', 'soon', /^`limits\.PerClient\.period` must be .*'soon'/],
    ['Queue', '9h', /^`limits\.PerClient\.maxWait` must be .*'9h'/],
    ['Cost of a request', 'two', /`cost` of .*PerClient.* must be .* but was NaN/],
    ['Timeline', '0 <b>', /^“<b>” is not a time/],
  ])('in %s is shown beside it, and nothing that other numbers have decided is seen', async (label, typed, message) => {
    const page = await browser.open('/');
    const input = page.getByLabel(label, { exact: true }).first();
    const right = await input.inputValue();
    await input.fill(typed);
    expect(await page.locator('[aria-invalid]').count()).toBe(1);
    expect(await input.getAttribute('aria-invalid')).toBe('true');
    const problem = page.locator(`#${(await input.getAttribute('aria-describedby'))!.split(' ').at(-1)}`);
    expect(await problem.textContent()).toMatch(message);
    const [of, line] = [(await input.boundingBox())!, (await problem.boundingBox())!];
    expect(line.y).toBeGreaterThan(of.y);
    expect(line.y - of.y).toBeLessThan(160);
    for (const seen of ['.picture svg', '.response', '.copied pre'])
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await page.locator(seen).first().isVisible()).toBe(false);
    expect(await page.getByRole('status').first().textContent()).toBe('Nothing is decided: correct the marked field.');
    await page.getByRole('button', { name: 'Send a request' }).click();
    expect(await page.locator('.picture svg').isVisible()).toBe(false);
    await input.fill(right);
    expect(await page.locator('[aria-invalid]').count()).toBe(0);
    expect(await page.locator('.picture svg').isVisible()).toBe(true);
    expect(await problem.textContent()).toBe('');
    await page.close();
  });

  test('in the second limit is shown beside its own input', async () => {
    const page = await browser.open('/#count=2&period=1s&count2=9&period2=later&t=0');
    expect(await page.locator('#playground-period2').getAttribute('aria-invalid')).toBe('true');
    expect(await page.locator('#playground-period2-problem').textContent()).toMatch(
      /^`limits\.Sustained\.period` must/,
    );
    expect(await page.locator('#playground-period-problem').textContent()).toBe('');
    await page.close();
  });
});

test('a timeline takes dates, ×, X, and spaces around them', async () => {
  const page = await browser.open('/');
  const timeline = page.getByLabel('Timeline');
  for (const typed of ['0 1.5x3', '0 1.5×3', '0 1.5X3', '0, 1.5 × 3', '0\n1.5 x3']) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await timeline.fill(typed);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await page.locator('output').textContent()).toMatch(/of 4: at 1\.5 s|^Request 1 of 4/);
  }
  await timeline.fill('0 2*5×2');
  expect(await page.locator('output').textContent()).toMatch(/^Request \d of 3: /);
  await timeline.fill('2026-07-01T12:00:00Z 2026-07-01T12:00:01.5Z');
  expect(await page.locator('output').textContent()).toMatch(/^Request 2 of 2: at 1\.5 s/);
  await page.close();
});

test.each([
  [
    'twelve requests of two seconds, with a limit for a minute',
    12,
    'count=100&period=1m&t=0.9 0.92 0.94 0.96 0.98 1 1.02 1.04 1.06 1.08 1.9 2.1',
  ],
  ['forty at one time', 40, 'count=5&period=1s&t=1x40'],
  ['five hundred at the end', 500, 'count=100&period=1m&t=0 10x499'],
  ['a queue', 60, 'burst=1&count=10&period=1s&maxWait=3s&t=0x30 1x30'],
  ['a day', 50, 'count=10&period=1h&t=0x20 86400x30'],
])('the picture shows each of %s', async (_, requests, hash) => {
  for (const width of [1280, 390]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const page = await browser.open(`/#${hash.replaceAll(' ', '+')}`, { width, scheme: 'light' });
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { marks, right } = await page.evaluate<{ marks: string[]; right: number }>(MARKS);
    // Each of the three algorithms has a row of them.
    expect(new Set(marks).size).toBe(3 * requests);
    expect(right).toBeLessThanOrEqual(0);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await page.close();
  }
});

test('an address with foreign bytes shows an error or the limits, and runs nothing', async () => {
  const hash = `#count=${encodeURIComponent('<img src=x onerror=alert(1)>')}&period=%00&t=${encodeURIComponent('0x999 <script>')}`;
  const page = await browser.open(`/${hash}`);
  expect(await page.locator('#playground-count-problem').textContent()).toMatch(/`limits\.PerClient\.count` must be/);
  expect(await page.locator('#place img').count()).toBe(0);
  await page.close();
});

test('nothing listens or runs after its end', async () => {
  const page = await browser.open('/#count=2&period=1s&t=0');
  await page.evaluate(
    "globalThis.end(); document.querySelector('output').textContent = 'ended'; location.hash = '#count=9&period=1s&t=0+1'",
  );
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 50))');
  expect(await page.locator('output').textContent()).toBe('ended');
  await page.close();
});

/** Moves the focus forward until it is on a control with a label or a text. */
async function tabTo(page: Page, label: string): Promise<void> {
  const focused = `(() => {
    const at = document.activeElement;
    return at?.labels?.[0]?.textContent ?? at?.textContent ?? '';
  })()`;
  for (let i = 0; i < 60; i++) {
    // oxlint-disable-next-line no-await-in-loop -- one key after the other
    await page.keyboard.press('Tab');
    // oxlint-disable-next-line no-await-in-loop -- one key after the other
    if ((await page.evaluate(focused)) === label) return;
  }
  throw new Error(`The keyboard does not reach “${label}”.`);
}

/** With SLUICE_PICTURES, a folder, the page is written there for people to look at. */
async function pictured(page: Page, name: string): Promise<void> {
  const folder = process.env['SLUICE_PICTURES'];
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
