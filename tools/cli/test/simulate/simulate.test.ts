import { readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { SimulationReport } from '../../src/simulate/counting/report.ts';
import { PICTURE_STYLE } from '../../src/simulate/drawing/style.ts';
import { contrastOf } from '../contrast.ts';
import { dataOf } from '../replay/page-parts.ts';
import { written } from '../files.ts';
import { run, runJson } from '../run.ts';
import { scenarioOf } from './scenario.ts';

/** Allowed, denied, and when the last request continued, by client and algorithm. */
async function outcomes(
  stdin: string,
  ...options: readonly string[]
): Promise<Record<string, readonly [allowed: number, denied: number, lastMs: number | null] | undefined>> {
  const { clients } = (await runJson(['simulate', ...options, '-'], { stdin })) as SimulationReport;
  return Object.fromEntries(
    clients.flatMap(({ client, results }) =>
      results.map(({ algorithm, allowed, denied, lastMs }) => [`${client}: ${algorithm}`, [allowed, denied, lastMs]]),
    ),
  );
}

describe('sluice simulate', () => {
  it('prints a table for each client', async () => {
    const stdin = scenarioOf('{ burst: 8, over: 80ms }', 'title: Eight\ncompare: fixed\n');
    expect((await run(['simulate', '-'], { stdin })).out).toBe(
      [
        'Eight',
        '',
        'app: 8 requests at Requests',
        '  algorithm     allowed  denied  most in 1 s  last continues after',
        '  Sluice              5       3            5                 40 ms',
        '  fixed window        8       0            8                 70 ms',
        '',
      ].join('\n'),
    );
  });

  it('shows what no request gets, and a scenario without a title by its name', async () => {
    const { out } = await run(['simulate', '-'], { stdin: scenarioOf('{ rate: 0, to: 1s }') });
    expect(out).toMatch(/^standard input\n/);
    expect(out).toMatch(/Sluice +0 +0 +0 +–\n/);
  });

  it('gives each copy of a client, but not two clients of one name, buckets of its own', async () => {
    const stdin = scenarioOf('{ burst: 8 }, copies: 3');
    expect(await outcomes(stdin, '--compare', 'leaky')).toEqual({
      'app: Sluice': [15, 9, 0],
      'app: leaky bucket as a queue': [18, 6, 500],
      'app: leaky bucket as a meter': [3, 21, 0],
    });
  });

  it('lets all clients share the bucket of everyone, at Sluice and at the models', async () => {
    const limits = 'limits: { All: { burst: 5, count: 5, period: 1s, idFormat: everyone } }';
    const stdin = `${limits}\nclients: { a: { arrivals: { burst: 3 } }, b: { arrivals: { burst: 3 } } }`;
    expect(await outcomes(stdin, '--compare', 'fixed,sliding')).toEqual({
      'a: Sluice': [3, 0, 0],
      'a: fixed window': [3, 0, 0],
      'a: sliding-window counter': [3, 0, 0],
      'b: Sluice': [2, 1, 0],
      'b: fixed window': [2, 1, 0],
      'b: sliding-window counter': [2, 1, 0],
    });
  });

  it('decides requests in the order of time, not of the clients', async () => {
    const limits = 'limits: { All: { count: 1, period: 1m, idFormat: everyone } }';
    const arrivals = 'a: { arrivals: { burst: 1, at: 1ms } }, b: { arrivals: { times: 0s } }';
    const stdin = `${limits}\nclients: { ${arrivals} }`;
    expect(await outcomes(stdin)).toEqual({ 'a: Sluice': [0, 1, null], 'b: Sluice': [1, 0, 0] });
  });

  it('decides by several limits together, by costs, by queues and by quotas', async () => {
    const stdin = `
limits:
  Queue: { burst: 1, count: 10, period: 1s, maxWait: 1s }
  Daily: { count: 6, per: day }
clients:
  app: { cost: 2, limits: [Daily], arrivals: { burst: 4 } }
  job: { limits: [Queue, Daily], arrivals: { burst: 20 } }
`;
    expect(await outcomes(stdin)).toEqual({ 'app: Sluice': [3, 1, 0], 'job: Sluice': [6, 14, 500] });
  });

  it('starts a window anew, weighs the one before, and forgets those before that', async () => {
    const stdin = scenarioOf('[{ burst: 10 }, { burst: 10, at: 1.5s }, { burst: 10, at: 9s }]');
    expect(await outcomes(stdin, '--compare', 'fixed,sliding')).toMatchObject({
      'app: fixed window': [30, 0, 9000],
      'app: sliding-window counter': [25, 5, 9000],
    });
  });

  it('splits a limit among the given number of processes', async () => {
    const stdin = scenarioOf('{ rate: 10, to: 100s }', 'compare: split\n');
    expect(await outcomes(stdin, '--processes', '1')).toMatchObject({ 'app: split budgets over 1': [1000, 0, 99_900] });
    const [allowed = 0] = (await outcomes(stdin))['app: split budgets over 4'] ?? [];
    expect(allowed).toBeGreaterThan(500);
    expect(allowed).toBeLessThan(1000);
  });

  it('sends one process more requests than each other one, by `skew`', async () => {
    const even = await outcomes(scenarioOf('{ rate: 10, to: 100s }', 'compare: split\nprocesses: 2\n'));
    const skewed = await outcomes(scenarioOf('{ rate: 10, to: 100s }', 'compare: split\nprocesses: 2\nskew: 9\n'));
    // The first process gets nine tenths of the requests, and has half of the limit.
    expect(skewed['app: Sluice']).toEqual([1000, 0, 99_900]);
    const [allowed = 0] = skewed['app: split budgets over 2'] ?? [];
    expect(allowed).toBeGreaterThan(550);
    expect(allowed).toBeLessThan(650);
    expect(even['app: split budgets over 2']?.[0]).toBeGreaterThan(850);
  });

  it('lets processes with leases use the whole limit, wherever its requests arrive, and little more', async () => {
    const limit = '{ burst: 100, count: 100, period: 1s, overshoot: 0.1 }';
    const more = 'compare: leased\nprocesses: 4\nskew: 9\n';
    const within = await outcomes(scenarioOf('{ rate: 99, from: 1ms, to: 10s }', more, limit));
    expect(within['app: leases over 4']).toEqual([990, 0, expect.any(Number)]);
    const beyond = await outcomes(scenarioOf('{ rate: 500, to: 10s }', more, limit));
    const [exact = 0, leased = 0] = ['Sluice', 'leases over 4'].map((name) => beyond[`app: ${name}`]?.[0]);
    expect(exact).toBe(1099);
    expect(Math.abs(leased - exact)).toBeLessThanOrEqual(10);
  });

  it('counts requests that wait for leases when they continue, also after the last one has arrived', async () => {
    const limit = '{ burst: 100, count: 100, period: 1s, overshoot: 0.1 }';
    const { 'app: leases over 4': leased } = await outcomes(scenarioOf('{ burst: 40 }', 'compare: leased\n', limit));
    expect(leased).toEqual([40, 0, expect.any(Number)]);
    // They wait for the answer of Redis, and not for 50 ms, the longest time.
    expect(leased![2]).toBeGreaterThanOrEqual(1);
    expect(leased![2]).toBeLessThan(20);
  });

  it('lets processes with gossip use the limit once each until they know of the others, after 100 ms or `delay`', async () => {
    const withDelay = (delay: string) => {
      const more = `compare: gossip\nprocesses: 4\n${delay}`;
      return outcomes(scenarioOf('{ burst: 80, over: 80ms }', more, '{ count: 10, period: 1s }'));
    };
    const usual = await withDelay('');
    expect(usual['app: Sluice']?.[0]).toBe(10);
    expect(usual['app: gossip over 4']?.[0]).toBe(40);
    // After 25 ms a process has let 6 through itself, and has heard of 4 of the first 5 ms.
    expect((await withDelay('delay: 20ms\n'))['app: gossip over 4']?.[0]).toBe(25);
    const atOnce = await withDelay('delay: 0s\n');
    expect(atOnce['app: gossip over 4']).toEqual(atOnce['app: Sluice']);
  });

  it('parts the processes for a time, in which gossip lets the limit through in each part, and a store in one', async () => {
    const limit = '{ burst: 100, count: 100, period: 1s, overshoot: 0.1 }';
    const more = 'compare: [gossip, leased]\nprocesses: 4\npartition: { parts: 2, to: 3s }\n';
    const parted = await outcomes(scenarioOf('{ rate: 600, to: 3s }', more, limit));
    expect(parted['app: Sluice']?.[0]).toBe(399);
    expect(parted['app: gossip over 4']?.[0]).toBeGreaterThanOrEqual(2 * 399);
    expect(parted['app: leases over 4']?.[0]).toBeLessThanOrEqual(399 + 10);
    // Half of a client that keeps to the limit arrives at the part without the store.
    const modest = await outcomes(scenarioOf('{ rate: 90, to: 3s }', more, limit));
    expect(modest['app: gossip over 4']?.[1]).toBe(0);
    for (const name of ['Sluice', 'leases over 4']) {
      const [allowed = 0, denied = 0] = modest[`app: ${name}`] ?? [];
      expect(Math.abs(allowed - denied)).toBeLessThan(60);
    }
    const after = await outcomes(scenarioOf('{ rate: 90, from: 4s, to: 6s }', more, limit));
    expect(Object.values(after).map((outcome) => outcome?.[1])).toEqual([0, 0, 0]);
  });

  it('lets all clients share the leases of everyone', async () => {
    const limits = 'limits: { All: { burst: 100, count: 1, period: 1s, overshoot: 0.1, idFormat: everyone } }';
    const stdin = `${limits}\nclients: { a: { arrivals: { burst: 90, over: 1s } }, b: { arrivals: { burst: 90, at: 1s, over: 1s } } }`;
    const both = await outcomes(stdin, '--compare', 'leased');
    const [a, b] = ['a', 'b'].map((client) => both[`${client}: leases over 4`]?.[0]);
    expect(a).toBe(90);
    expect(b).toBeLessThan(25);
  });

  it('keeps curves short, and their ends exact', async () => {
    const stdin = scenarioOf('{ rate: 1000, to: 10s }');
    const { clients } = (await runJson(['simulate', '-'], { stdin })) as SimulationReport;
    const { arrivals } = clients.at(0)!;
    expect(arrivals.length).toBeLessThan(510);
    expect(arrivals.at(-1)![1]).toBe(10_000);
  });

  it('writes a picture and a page that need no script, and in which text of a scenario is no markup', async () => {
    const hostile = '</style><script>alert(1)</script><img src=x onerror=alert(1)>';
    const more = `title: '${hostile}'\ndescription: '${hostile}'\ncompare: [fixed, sliding, leaky, split]\n`;
    const [file = ''] = written(scenarioOf('{ burst: 8 }', more).replace('app:', `'${hostile}':`));
    const [svg, html] = [`${file}.svg`, `${file}.html`];
    expect(await run(['simulate', file, '--svg', svg, '--html', html])).toMatchObject({ code: 0, err: '' });
    for (const text of [svg, html].map((path) => readFileSync(path, 'utf8'))) {
      expect(text).not.toMatch(/<script>|<img|onerror=(?!alert\(1\)(&gt;|>))/);
      expect(text).toContain('&lt;/style&gt;&lt;script&gt;');
      expect(text).toContain('@media (prefers-color-scheme: dark)');
      expect(text).not.toMatch(/NaN|Infinity|undefined/);
    }
    const page = readFileSync(html, 'utf8');
    const styles = [...page.matchAll(/<style>(.*?)<\/style>/gs)].map(([, style = '']) => style);
    expect(styles).toHaveLength(1);
    const hash = createHash('sha256').update(styles.join('')).digest('base64');
    expect(page.replaceAll('&#39;', "'")).toContain(`content="default-src 'none'; style-src 'sha256-${hash}'`);
    expect(page).not.toMatch(/style="/);
    expect(page.match(/<script[^>]*>/g)).toEqual(['<script type="application/json" id="report">']);
    expect(dataOf(page)).toEqual(await runJson(['simulate', file]));
  });

  it('shows how many copies of a client there are, and as much of a long name as the picture has room for', async () => {
    const long = 'a-client-with-a-long-name'.repeat(5);
    const [file = ''] = written(scenarioOf('{ burst: 2 }, copies: 3').replace('app:', `${long}:`));
    const { out } = await run(['simulate', file, '--svg', `${file}.svg`]);
    expect(out).toContain(`3 × ${long}: 6 requests at Requests\n`);
    const [, title = ''] = /<text class="title"[^>]*>(.*)<\/text>/.exec(readFileSync(`${file}.svg`, 'utf8')) ?? [];
    expect(title).toBe(`3 × ${long.slice(0, 85)}…`);
  });

  it('draws each of the models that there are in a colour of its own', async () => {
    const limit = '{ burst: 100, count: 10, period: 1s, overshoot: 0.1 }';
    const [file = ''] = written(scenarioOf('{ burst: 8 }', '', limit));
    await run(['simulate', file, '--compare', 'fixed,sliding,leaky,split,gossip,leased', '--svg', `${file}.svg`]);
    const lines = [...readFileSync(`${file}.svg`, 'utf8').matchAll(/<path class="(line\d)"/g)].map(([, line]) => line);
    expect(lines).toHaveLength(8);
    expect(new Set(lines).size).toBe(8);
  });

  it.each(['{ rate: 1, to: 100s }', '{ rate: 1, per: 1h, to: 9h }', '{ rate: 1, per: 1m, to: 1h }', '{ burst: 1 }'])(
    'draws %s',
    async (arrivals) => {
      const [file = ''] = written(scenarioOf(arrivals));
      expect(await run(['simulate', file, '--svg', `${file}.svg`])).toMatchObject({ code: 0 });
      expect(readFileSync(`${file}.svg`, 'utf8')).not.toMatch(/NaN|Infinity|undefined/);
    },
  );
});

describe('the colours of a picture', () => {
  it.each([
    ['light', 0],
    ['dark', 1],
  ] as const)('have enough contrast in the %s scheme', (_, scheme) => {
    const part = PICTURE_STYLE.split('@media').at(scheme) ?? '';
    const [, ground = ''] = /\.ground \{ fill: (#\w{6}); \}/.exec(part) ?? [];
    const texts = [...part.matchAll(/text[.\w]* \{ fill: (#\w{6}); \}/g)].map(([, colour = '']) => colour);
    expect(texts).toHaveLength(10);
    for (const text of texts) expect(contrastOf(text, ground)).toBeGreaterThanOrEqual(4.5);
  });
});
