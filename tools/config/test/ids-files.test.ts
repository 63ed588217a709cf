import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkLimits, loadLimits } from '@sluice/config';
import { describe, expect, it } from 'vitest';
import { rejected } from '../../../packages/core/test/support/thrown.ts';
import { KEYS, written } from './written-files.ts';

const LIMIT = 'NewOrdersPerAccount';
const naming = (file: string): string => `- ${LIMIT}:\n    blocked: true\n    ids: ${file}\n`;

/** Writes overrides, and files beside them by their names. */
function beside(files: Readonly<Record<string, string | Uint8Array>>, overrides = naming('ids.txt')) {
  const paths = written({ overrides });
  mkdirSync(join(paths.dir, 'lists'));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(paths.dir, name), content);
  return paths;
}

async function problemsOf(
  files: Readonly<Record<string, string | Uint8Array>>,
  overrides?: string,
): Promise<readonly string[]> {
  return problemsIn(beside(files, overrides));
}

async function problemsIn({ dir, defaults, overrides }: ReturnType<typeof written>): Promise<readonly string[]> {
  const { message } = await rejected(() => loadLimits({ defaults, overrides, keys: KEYS }));
  return message.replaceAll(`${dir}/`, '').split('\n').slice(1);
}

describe('an override may name a file with one id a line', () => {
  it.each<[what: string, content: string | Uint8Array]>([
    ['as it is', '7\n8\n9\n'],
    ['without a line end at its end', '7\n8\n9'],
    ['with line ends of Windows', '7\r\n8\r\n9\r\n'],
    ['with a byte order mark', '\uFEFF7\n8\n9\n'],
    ['with blank lines, comments and spaces', '# spam wave of May\n\n 7\t\n  # more\n8\n   \n9 \n'],
  ])('%s', async (_, content) => {
    const { defaults, overrides } = beside({ 'ids.txt': content });
    const { overrides: list } = await loadLimits({ defaults, overrides, keys: KEYS });
    expect(['6', '7', '8', '9', '10'].map((id) => list.rateOf(LIMIT, id))).toEqual([
      undefined,
      'blocked',
      'blocked',
      'blocked',
      undefined,
    ]);
  });

  it('in JSON, in a folder beside it, through a link within the folder, and for several limits', async () => {
    const { dir, defaults, overrides } = beside(
      { 'lists/real.txt': '203.0.113.7\n' },
      JSON.stringify([
        { NewRegistrationsPerIPAddress: { blocked: true, ids: 'lists/link.txt' } },
        { [LIMIT]: { unlimited: true, ids: './lists/real.txt' } },
      ]),
    );
    symlinkSync('real.txt', join(dir, 'lists/link.txt'));
    const loaded = await loadLimits({ defaults, overrides, keys: KEYS });
    expect(loaded.overrides.rateOf('NewRegistrationsPerIPAddress', '203.0.113.7')).toBe('blocked');
    expect(loaded.overrides.rateOf(LIMIT, '203.0.113.7')).toBe('unlimited');
  });

  it('that is another version when an id moves from one file to the next', async () => {
    const overrides = `- ${LIMIT}: { blocked: true, ids: a.txt }\n- ${LIMIT}: { unlimited: true, ids: b.txt }\n`;
    const versionOf = async (files: Readonly<Record<string, string>>): Promise<string> => {
      const paths = beside(files, overrides);
      return (await loadLimits({ defaults: paths.defaults, overrides: paths.overrides, keys: KEYS })).version;
    };
    const before = await versionOf({ 'a.txt': '7\n8\n', 'b.txt': '9\n' });
    expect(await versionOf({ 'a.txt': '7\n', 'b.txt': '8\n9\n' })).not.toBe(before);
  });

  it('that has a comment alone, for none', async () => {
    const { defaults, overrides } = beside({ 'ids.txt': '# none\n' });
    await expect(loadLimits({ defaults, overrides, keys: KEYS })).resolves.toBeDefined();
  });

  it('of many parts, whose lines are counted on', async () => {
    const ids = Array.from({ length: 60_000 }, (_, i) => `account-${i}`);
    const content = `${ids.join('\n')}\n\n${'x'.repeat(70_000)}\naccount-59999\n`;
    expect(await problemsOf({ 'ids.txt': content })).toEqual([
      'ids.txt:60002:1: This line is too long: at most 65536 characters are allowed. Write one id a line.',
      `ids.txt:60003:1: \`${LIMIT}\` lists the id 'account-59999' twice, first at 60000:1. Keep one of the two.`,
    ]);
  });

  it('whose content is a part of the version', async () => {
    const { dir, defaults, overrides } = beside({ 'ids.txt': '7\n' });
    const versionOf = async () => (await loadLimits({ defaults, overrides, keys: KEYS })).version;
    const version = await versionOf();
    expect(await versionOf()).toBe(version);
    writeFileSync(join(dir, 'ids.txt'), '8\n');
    expect(await versionOf()).not.toBe(version);
  });
});

describe('a mistake in a file of ids is reported with its file, line and column:', () => {
  it.each<[what: string, content: string | Uint8Array, problem: string]>([
    [
      'an id that is listed twice in it',
      '7\n# 8\n 7\n',
      `ids.txt:3:2: \`${LIMIT}\` lists the id '7' twice, first at 1:1. Keep one of the two.`,
    ],
    [
      'an id that the overrides list too',
      '7\n1\n',
      `ids.txt:2:1: \`${LIMIT}\` lists the id '1' twice, first at overrides.yaml:1:49. Keep one of the two.`,
    ],
    [
      'a comment behind an id',
      '7 # spam\n',
      "ids.txt:1:1: A comment follows the id '7'. Write it on a line of its own.",
    ],
    ['a NUL character', '7\n8\0\n', "ids.txt:2:1: The id '8\\x00' has a NUL character. Save the file as UTF-8."],
    [
      'bytes that are not UTF-8',
      Uint8Array.of(0x37, 0x0a, 0xff),
      'ids.txt:2:1: The text is not valid UTF-8 here. Save the file as UTF-8.',
    ],
    ['no line', '\n', 'ids.txt:1:1: The file is empty. Write one id a line, or a comment such as `# none`.'],
  ])('%s', async (_, content, problem) => {
    const overrides = `- ${LIMIT}: { unlimited: true, ids: [1] }\n${naming('ids.txt')}`;
    expect(await problemsOf({ 'ids.txt': content }, overrides)).toEqual([problem]);
  });

  it('an id of another format', async () => {
    const overrides = '- NewRegistrationsPerIPAddress: { blocked: true, ids: ids.txt }\n';
    expect(await problemsOf({ 'ids.txt': '203.0.113.7\n203.0.113\n' }, overrides)).toEqual([
      expect.stringMatching(
        /^ids\.txt:2:1: `overrides\.NewRegistrationsPerIPAddress` lists the id '203\.0\.113': `id` must be an IPv4 or IPv6 address/,
      ),
    ]);
  });

  it('an id that the overrides list after the file', async () => {
    const overrides = `${naming('ids.txt')}- ${LIMIT}: { unlimited: true, ids: [7] }\n`;
    expect(await problemsOf({ 'ids.txt': '7\n' }, overrides)).toEqual([
      `overrides.yaml:4:49: \`${LIMIT}\` lists the id '7' twice, first at ids.txt:1:1. Keep one of the two.`,
    ]);
  });

  it('without code too, with its fields', async () => {
    const { dir, defaults, overrides } = beside({ 'lists/ids.txt': '7\n7\n' }, naming('lists/ids.txt'));
    const [problem] = await checkLimits({ defaults, overrides, keys: KEYS });
    expect(problem).toMatchObject({ file: join(dir, 'lists/ids.txt'), line: 2, column: 1, limit: LIMIT });
  });
});

describe('a file of ids is rejected where it is named, if', () => {
  const at = `overrides.yaml:3:10: \`${LIMIT}.ids\` names a file that `;

  it.each([
    [
      'it is missing',
      'ids.tx',
      'does not exist: ids.tx. Write one id a line into it, or list the ids, for example [12345678].',
    ],
    [
      'it is in a folder above',
      '../ids.txt',
      'must be in the folder of overrides.yaml. Put it there, for example ids: ids.txt.',
    ],
    [
      'it goes up and down',
      'lists/../../ids.txt',
      'must be in the folder of overrides.yaml. Put it there, for example ids: ids.txt.',
    ],
    [
      'its path is absolute',
      '/etc/passwd',
      'must be in the folder of overrides.yaml. Put it there, for example ids: ids.txt.',
    ],
    [
      'its path has a NUL character',
      '"a\\0b"',
      'must be in the folder of overrides.yaml. Put it there, for example ids: ids.txt.',
    ],
    [
      'a link leads out',
      'out.txt',
      'is a link that leads out of the folder of overrides.yaml. Put it there, for example ids: ids.txt.',
    ],
    ['it is a folder', 'lists', "can't be used. This is a directory, not a file."],
    ['it is a pipe', 'pipe', "can't be used. This is not a regular file."],
    [
      'it is too large',
      'large.txt',
      "can't be used. The text is larger than 2097152 bytes. Make it smaller, or raise maxBytes.",
    ],
  ])('%s', async (_, name, why) => {
    const paths = beside({ 'ids.txt': '7\n', 'large.txt': '#'.repeat(2_097_153) }, naming(name));
    execFileSync('mkfifo', [join(paths.dir, 'pipe')]);
    symlinkSync('/etc/passwd', join(paths.dir, 'out.txt'));
    expect(await problemsIn(paths)).toEqual([at + why]);
  });

  it('there are a hundred others', async () => {
    const names = Array.from({ length: 101 }, (_, i) => `${i}.txt`);
    const files = Object.fromEntries(names.map((name) => [name, `account-${name}\n`]));
    expect(await problemsOf(files, names.map(naming).join(''))).toEqual([
      `overrides.yaml:303:10: \`${LIMIT}.ids\` names a file that is one too many: at most 100 files may be named. Join some.`,
    ]);
  });

  it('the overrides are not a file', async () => {
    const { defaults } = written({});
    const { message } = await rejected(() => loadLimits({ defaults, overrides: () => naming('ids.txt'), keys: KEYS }));
    expect(message.split('\n')[1]).toBe(
      `overrides:3:10: \`${LIMIT}.ids\` names a file that only a file of overrides can name. List the ids, for example [12345678].`,
    );
  });
});
