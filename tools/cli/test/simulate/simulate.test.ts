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

  it('keeps curves short, and their ends exact', async () => {
    const stdin = scenarioOf('{ rate: 1000, to: 10s }');
    const { clients } = (await runJson(['simulate', '-'], { stdin })) as SimulationReport;
    const { arrivals } = clients.at(0)!;
    expect(arrivals.length).toBeLessThan(510);
    expect(arrivals.at(-1)![1]).toBe(10_000);
  });

  it('writes a picture and a page that need no script, and in which text of a scenario is no markup', async () => {
    const hostile = '</style><script>alert(1)</script><img src=x onerror=alert(1)>';
    const more = `title: '${hostile}'\ndescription: '${hostile}'\ncompare: [fixed, sliding, leaky]\n`;
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
    const [file = ''] = written(scenarioOf('{ burst: 8 }'));
    await run(['simulate', file, '--compare', 'fixed,sliding,leaky', '--svg', `${file}.svg`]);
    const lines = [...readFileSync(`${file}.svg`, 'utf8').matchAll(/<path class="(line\d)"/g)].map(([, line]) => line);
    expect(lines).toHaveLength(5);
    expect(new Set(lines).size).toBe(5);
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
    expect(texts).toHaveLength(7);
    for (const text of texts) expect(contrastOf(text, ground)).toBeGreaterThanOrEqual(4.5);
  });
});
