// `npm run check -- expressions`: every regular expression of the packages takes linear time on a text of a client. It needs
// some two seconds, so it always looks at all.
import { check } from 'recheck';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { packageFolders } from './package-folders.mjs';
import { root } from './pnpm.mjs';

const TIMEOUT_MS = 10_000;

/** Expressions that are not linear, or are made at run time, by the beginning of their file, and why they may be so. @type {readonly (readonly [string, string])[]} */
const ALLOWED = [
  ['tools/cli/src/console/', 'messages of our own'],
  ['tools/cli/src/import/names.ts', 'at most 55 characters'],
  ['tools/cli/src/replay/formats/notation.ts', 'the format of a log, as an operator writes it'],
  ['tools/cli/src/replay/formats/unusable.ts', 'at most 512 bytes of a line'],
  ['tools/cli/src/replay/formats/envelope.ts', 'sticky, on at most 512 bytes of a line'],
  ['packages/core/src/checks/options.ts', 'the path of an option'],
  ['packages/core/src/client/address-header.ts', 'at most 128 characters'],
  ['packages/core/src/http/dialects/list-members.ts', 'a field of the service itself'],
  ['packages/core/src/ids/address-text.ts', 'anchored, with bounded repetitions'],
  ['packages/core/src/limits/option.ts', 'the pattern of an option'],
  ['packages/core/src/rule/duration.ts', 'a duration that an operator writes'],
  ['packages/core/src/runtime/call-site.ts', 'a line of a stack trace'],
  ['packages/core/src/runtime/copy.ts', 'the URL of a module'],
  ['packages/postgres/src/schema/schema-text.ts', 'the text of our own schema'],
  ['tools/domains/src/domain-name.ts', 'at most 253 characters'],
  ['tools/serve/src/tables/list-field.ts', 'a table that an operator writes'],
];

const found = sources().flatMap((file) => expressionsIn(file));
const used = new Set();
const problems = [];
for (const { expression, place } of found) {
  // oxlint-disable-next-line no-await-in-loop -- one after the other, in one process
  const problem = await problemOf(expression);
  if (problem === undefined) continue;
  const allowed = ALLOWED.find(([beginning]) => place.startsWith(beginning));
  if (allowed === undefined) problems.push(`${place}: ${expression ?? 'new RegExp'} ${problem}`);
  else used.add(allowed);
}
for (const entry of ALLOWED)
  if (!used.has(entry)) problems.push(`${entry[0]} has no such expression any more: remove its line.`);
for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error('Make it linear, or bound the text before: see ALLOWED in scripts/expressions.mjs.');
  process.exitCode = 1;
}
console.log(`${found.length} regular expressions`);

/** @returns {readonly string[]} the paths of all source files */
function sources() {
  return packageFolders(root).flatMap((folder) =>
    readdirSync(join(root, folder, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => join(root, folder, 'src', path)),
  );
}

/**
 * @param {string} file
 * @returns {{ expression: string | undefined, place: string }[]} undefined for one that is made at run time
 */
function expressionsIn(file) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  /** @type {{ expression: string | undefined, place: string }[]} */
  const all = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    const isLiteral = node.kind === ts.SyntaxKind.RegularExpressionLiteral;
    const isMade = (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp';
    if (isLiteral || isMade) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      all.push({ expression: isLiteral ? node.getText() : undefined, place: `${relative(root, file)}:${line + 1}` });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return all;
}

/**
 * @param {string | undefined} expression
 * @returns {Promise<string | undefined>} undefined if its time is linear
 */
async function problemOf(expression) {
  if (expression === undefined) return 'is made at run time';
  const end = expression.lastIndexOf('/');
  const diagnosed = await check(expression.slice(1, end), expression.slice(end + 1), {
    timeout: TIMEOUT_MS,
  });
  if (diagnosed.status === 'safe') return undefined;
  const how = diagnosed.status === 'vulnerable' ? diagnosed.complexity.summary : 'its time is not known';
  return `may take more than linear time: ${how}`;
}
