import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { table } from '../src/commands/table.ts';
import { run } from './run.ts';

/** Whether a shell is installed. */
function has(shell: string): boolean {
  return spawnSync(shell, ['--version']).status === 0;
}

/** Writes the script of a shell into a file that is removed after the test. */
async function scriptOf(shell: string): Promise<string> {
  const { code, out, err } = await run(['completion', shell]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const folder = mkdtempSync(join(tmpdir(), 'sluice-completion-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, `sluice.${shell}`);
  writeFileSync(path, out);
  return path;
}

/** What a shell does with the script `$1` and a command line after it, of which it prints the possible ends. */
const COMPLETING: Readonly<Record<string, readonly string[]>> = {
  bash: [
    '-c',
    'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sluice; printf "%s\\n" "${COMPREPLY[@]}"',
    'bash',
  ],
  fish: ['-c', 'source $argv[1]; complete -C (string join " " -- $argv[2..]) | string replace -r "\\t.*" ""'],
};

async function completed(shell: string, words: readonly string[]): Promise<string[]> {
  const { stdout } = spawnSync(shell, [...COMPLETING[shell]!, await scriptOf(shell), ...words], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line !== '');
}

describe('sluice completion', () => {
  for (const shell of ['bash', 'fish']) {
    describe.runIf(has(shell))(`in ${shell}`, () => {
      it.each([
        [
          ['sluice', 're'],
          ['refund', 'replay', 'reset'],
        ],
        [
          ['sluice', 'replay', '--l'],
          ['--leave-out', '--limits'],
        ],
        [['sluice', 'replay', '--format', 'en'], ['envoy']],
        [['sluice', 'import', 'e'], ['envoy']],
        [
          ['sluice', 'completion', ''],
          ['bash', 'fish', 'zsh'],
        ],
        [['sluice', 'help', 'pe'], ['peek']],
      ])('completes %j', async (words, expected) => {
        expect((await completed(shell, words)).toSorted()).toEqual(expected);
      });

      it('knows all commands', async () => {
        const found = await completed(shell, ['sluice', '']);
        expect(found).toEqual(expect.arrayContaining([...table.keys()]));
      });
    });
  }

  it('leaves files to bash', async () => {
    expect(await completed('bash', ['sluice', 'replay', '--limits', ''])).toEqual([]);
    expect(await completed('bash', ['sluice', 'replay', 'acc'])).toEqual([]);
  });

  it.runIf(has('zsh'))('completes in an interactive zsh', async () => {
    // `zpty -r` waits for the text.
    const script = [
      'zmodload zsh/zpty',
      'zpty shell zsh -f -i',
      'zpty -w shell "autoload -Uz compinit; compinit -D -u; source $1"',
      "zpty -w -n shell $'sluice repl\\t--li\\t'",
      "zpty -r shell out '*mits*'",
      'print -r -- completed',
    ].join('\n');
    const { stdout } = spawnSync('zsh', ['-f', '-c', script, 'zsh', await scriptOf('zsh')], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect(stdout).toBe('completed\n');
  });

  it('rejects another shell', async () => {
    const { code, err } = await run(['completion', 'tcsh']);
    expect({ code, err: err.split('\n')[0] }).toEqual({
      code: 2,
      err: "error: The shell must be bash, zsh, fish, but was 'tcsh'. For example sluice completion bash.",
    });
  });
});
