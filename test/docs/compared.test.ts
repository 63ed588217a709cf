import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LOADS, rowOf } from '../../scripts/processes/gossip-table.ts';
import { tenProcesses } from '../../scripts/processes/ten-processes.ts';
import { simulationLines, simulationPicture } from '../../tools/cli/src/simulate/index.ts';
import { run } from '../../tools/cli/test/run.ts';
import { sized } from '../sized.ts';

const page = readFileSync(new URL('../../docs/coming-from-other-libraries.md', import.meta.url), 'utf8');
const record = readFileSync(new URL('../../docs/decisions/0026-a-store-not-gossip.md', import.meta.url), 'utf8');
const folder = fileURLToPath(new URL('../../docs/compared/', import.meta.url));
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => file.replace('.yaml', ''));

describe('the page that compares algorithms', () => {
  it.each(names)('shows the table and the picture that `sluice simulate` makes of %s', async (name) => {
    const copy = mkdtempSync(join(tmpdir(), 'sluice-docs-'));
    onTestFinished(() => rmSync(copy, { recursive: true }));
    copyFileSync(join(folder, `${name}.yaml`), join(copy, `${name}.yaml`));
    // In this process: test/docs/command-line.program.test.ts runs the program.
    const args = ['simulate', join(copy, `${name}.yaml`), '--svg', join(copy, `${name}.svg`)];
    const { out } = await run(args, { columns: 'unknown' });
    expect(page).toContain(`\`\`\`console\n$ sluice simulate ${name}.yaml\n${out}\`\`\`\n`);
    expect(page).toContain(`(compared/${name}.svg)`);
    expect(page).toContain(`(compared/${name}.yaml)`);
    expect(readFileSync(join(folder, `${name}.svg`), 'utf8')).toBe(readFileSync(join(copy, `${name}.svg`), 'utf8'));
  });

  it('has a section for each scenario', () => {
    const shown = [...page.matchAll(/^\$ sluice simulate (\S+)\.yaml$/gm)].map(([, name = '']) => name);
    expect(shown.toSorted()).toEqual(names.toSorted());
    expect(names.length).toBeGreaterThan(2);
  });

  it('shows the table and the picture of ten processes', async () => {
    const report = await tenProcesses();
    const lines = simulationLines(report, { styled: (_, text) => text });
    expect(page).toContain(`\`\`\`console\n$ npm run -s trial -- processes\n${lines.join('\n')}\n\`\`\`\n`);
    expect(page).toContain('(compared/processes.svg)');
    expect(readFileSync(join(folder, 'processes.svg'), 'utf8')).toBe(simulationPicture(report));
  });
});

describe('the record about gossip', () => {
  it('has a row of figures for each load', () => {
    const rows = [...record.matchAll(/^\| (\d+) +\| (even|skewed|in \d parts) +\|/gm)].map(([, n, load]) => [
      Number(n),
      load,
    ]);
    expect(rows).toEqual(LOADS.map(({ gateways, load }) => [gateways, load]));
  });

  // `npm run trial -- processes` prints all, which takes a few seconds.
  it.each([LOADS.at(-2)!, LOADS.at(0)!].slice(0, sized(1, 2)))(
    'has the figures of $gateways gateways, $load',
    async (load) => {
      const cells = (await rowOf(load)).map((cell) => `${cell} *`);
      expect(record).toMatch(new RegExp(`^\\| ${cells.join('\\| ')}\\|$`, 'm'));
    },
  );
});

describe('the three ways to handle a burst, in docs/which-limit.md', () => {
  const section = readFileSync(new URL('../../docs/which-limit.md', import.meta.url), 'utf8')
    .split('\n## ')
    .at(-1)!;
  const ways = [...section.matchAll(/^\| ([a-z ]+?) +\| `(.+?)` +\|(.*)\|$/gm)].map(
    ([, name = '', definition = '', rest = '']) => {
      return { name, definition, figures: rest.split('|').map((cell) => cell.trim()) };
    },
  );

  it('are three', () => {
    expect(ways.map(({ name }) => name)).toEqual([
      'token bucket',
      'leaky bucket as a queue',
      'leaky bucket as a meter',
    ]);
  });

  it.each(ways)(
    'have the figures that `sluice simulate` prints for the definition of a $name',
    async ({ definition, figures }) => {
      const limits = `{ Way: { ${definition}, count: 100, period: 1s } }`;
      const clients = '{ client: { arrivals: { burst: 200, at: 5s, over: 100ms } } }';
      const stdin = `{ limits: ${limits}, clients: ${clients}, within: 100ms }`;
      const { out } = await run(['simulate', '-'], { stdin, columns: 'unknown' });
      const [, printed = ''] = /^ {2}Sluice +(.*)$/m.exec(out) ?? [];
      expect(printed.split(/ {2,}/)).toEqual(figures);
    },
  );

  it('are in the picture of the page that compares algorithms', () => {
    expect(section).toContain('(compared/burst.svg)');
  });
});
