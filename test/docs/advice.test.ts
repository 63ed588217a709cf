import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { expect, it } from 'vitest';
import { pages } from './blocks.ts';

const root = new URL('../../', import.meta.url);
const textOf = (file: string): string => readFileSync(new URL(file, root), 'utf8');

/** What users copy: the code and the limits of all pages and of all examples. */
const copied = [...pages(), ...filesOf('examples/'), ...filesOf('docs/proxies/')].map((file) => ({
  file,
  code: file.endsWith('.md') ? fencedCode(textOf(file)) : textOf(file),
}));

it('no code looks at a limit before the handler and settles it afterwards: many guesses at once would pass', () => {
  const uses = found(/\{[^{}]*'check-only'[^{}]*\}/g, ([use]) => /\bsettle\b/.test(use));
  expect(uses).toEqual([]);
});

it('every limit of failed logins per name has the numbers of docs/choosing-numbers.md', () => {
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(textOf('docs/choosing-numbers.md')) ?? [];
  const chosen = parse(yaml).FailedLoginsPerName;
  const definition = /\w*Login\w*(?<!Client):\s*\{?[^{}]*?\bperiod:\s*'?(\w+)/g;
  const numbers = copied.flatMap(({ file, code }) =>
    [...code.matchAll(definition)].map(([text, period]) => ({
      file,
      burst: Number(/\bburst: (\d+)/.exec(text)?.[1]),
      count: Number(/\bcount: (\d+)/.exec(text)?.[1]),
      period,
    })),
  );
  expect(numbers.length).toBeGreaterThanOrEqual(5);
  expect(numbers).toEqual(numbers.map(({ file }) => ({ file, ...chosen })));
});

it('no id of an account is read from a field or a body that the client has written', () => {
  const written =
    /\b(?:accountId|by)\(\s*\([^()]*\) =>[^,;]*?(?:(?:req|request)\.get\(|\.header\(|headers|\.body\b|\.query\b|cookies?\b)/g;
  expect(found(written, () => true)).toEqual([]);
});

function found(pattern: RegExp, isWrong: (match: RegExpMatchArray) => boolean): string[] {
  return copied.flatMap(({ file, code }) =>
    [...code.matchAll(pattern)].filter(isWrong).map(([text]) => `${file}: ${text}`),
  );
}

function fencedCode(page: string): string {
  return [...page.matchAll(/^ *```(?:ts|js|yaml)\b.*\n([\s\S]*?)^ *```/gm)].map(([, code]) => code).join('\n');
}

function filesOf(folder: string): string[] {
  return readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(m?js|ya?ml)$/.test(file) && !file.includes('node_modules'))
    .map((file) => folder + file);
}
