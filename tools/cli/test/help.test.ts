import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { table } from '../src/commands/table.ts';
import { run } from './run.ts';

const names = [...table.keys()];

describe('sluice', () => {
  it('lists all commands with their summaries', async () => {
    const { code, out, err } = await run(['--help']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    for (const [name, { summary }] of table)
      expect(out).toMatch(new RegExp(`^  ${name} +${summary.slice(0, 20)}`, 'm'));
  });

  it('prints its help to stderr and exits with 2 without a command', async () => {
    const { code, out, err } = await run([]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('Usage: sluice');
  });

  it('prints its version', async () => {
    expect(await run(['--version'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
    });
  });

  it('names the right command for a wrong one', async () => {
    const { code, err } = await run(['chek']);
    expect({ code, err }).toEqual({
      code: 2,
      err: "error: unknown command 'chek'\n(Did you mean check?)\nHelp: sluice --help\n",
    });
  });

  it.each(names)('names the right option for a wrong one of %s', async (name) => {
    const { code, err } = await run([name, '--jsn']);
    const expected = `error: unknown option '--jsn'\n(Did you mean --json?)\nHelp: sluice ${name} --help\n`;
    expect({ code, err }).toEqual({ code: 2, err: expected });
  });

  it.each(names)('%s has a help with an example, and the help is written to stdout', async (name) => {
    const { code, out, err } = await run([name, '--help']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(`Usage: sluice ${name} `);
    expect(out).toMatch(/\nExample:\n {2}\S/);
    expect(out).toContain('--json');
  });

  it.each(names)('the help of %s loads no other package', (name) => {
    expect(packagesOf(new URL(`../src/commands/${name}.ts`, import.meta.url))).toEqual([]);
  });

  it.each(names)('help %s prints the same as %s --help', async (name) => {
    expect(await run(['help', name])).toEqual(await run([name, '--help']));
  });

  it.each(names)('%s rejects a missing argument', async (name) => {
    const { code, out, err } = await run([name]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    // A server is all that one of them needs.
    expect(err).toMatch(/^error: (?:missing required argument|`--redis` must be the URL of a server)/);
  });
});

/** Returns the packages, but those of Node, that a file and the files that it imports load at once. */
function packagesOf(file: URL, seen = new Set<string>()): string[] {
  if (seen.has(file.href)) return [];
  seen.add(file.href);
  const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type )[^;]*?from '([^']+)';/gm);
  return [...imports].flatMap(([, name = '']) => {
    if (name.startsWith('.')) return packagesOf(new URL(name, file), seen);
    return name.startsWith('node:') ? [] : [name];
  });
}
