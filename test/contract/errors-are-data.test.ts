import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** What reads a text to learn something from it, and not to show it. */
const READS = 'match|matchAll|includes|startsWith|endsWith|slice|substring|indexOf|search';
const READ_OF_MESSAGE = new RegExp(
  String.raw`\bmessage\b\)?\??\.(?:${READS})\(|\.(?:exec|test)\([^()]*\bmessage\b\)|\bmessageOf\([^()]*\)\.(?:${READS})\(`,
);

/** The texts of Redis and its clients, one file for each. */
const OF_OTHERS = ['packages/redis/src/client/server-words.ts', 'packages/redis/src/node-redis/read-error.ts'];

test('nothing is learned from the text of an error of ours: its code, its path and its cause are data', () => {
  const listed = execFileSync('git', ['ls-files', '-z', 'packages/*/src/*.ts', 'tools/*/src/*.ts'], {
    cwd: root,
    encoding: 'utf8',
  });
  const sources = listed.split('\0').slice(0, -1);
  const reading = sources.filter((path) => READ_OF_MESSAGE.test(readFileSync(root + path, 'utf8')));
  expect(sources.length).toBeGreaterThan(500);
  expect(reading.toSorted()).toEqual(OF_OTHERS);
});
