// Runs the tests of the stores on servers of other versions than this machine has: `npm run trial -- servers`, with names
// some of them, with `--write` into the table of the docs, with `--get FOLDER` only unpacks them.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatted } from './formatted.mjs';
import { SERVERS } from './other-servers.mjs';
import { root } from './pnpm.mjs';

/** The tests of a store: all on a server of the kind, and the faults. */
const TESTS = {
  redis: ['--project=redis', '--project=faults', 'packages/redis', 'tools/cli', 'test/contract', 'test/redis'],
  postgres: ['--project=postgres', '--project=faults', 'packages/postgres', 'test/contract', 'test/postgres'],
};
const SETTING = { redis: 'SLUICE_REDIS_SERVER', postgres: 'SLUICE_POSTGRES' };
const PAGE = join(root, 'docs/which-servers.md');
const [BEGIN, END] = ['<!-- servers: npm run trial -- servers --write -->', '<!-- end -->'];

/** @typedef {import('./other-servers.mjs').Server} Server */
/**
 * @typedef {object} Result
 * @property {string} name as in the list of servers
 * @property {string} version with the name of the product
 * @property {string} from
 * @property {number} passed
 * @property {number} failed
 */

const args = process.argv.slice(2);
const getAt = args.indexOf('--get');
const [, into] = getAt < 0 ? [] : args.splice(getAt, 2);
const names = args.filter((arg) => !arg.startsWith('--'));
const unknown = names.filter((name) => !Object.hasOwn(SERVERS, name));
/** @type {string[]} */
const skipped = [];

if (unknown.length > 0) {
  console.error(`There is no server ${unknown.join(', ')}. There are: ${Object.keys(SERVERS).join(', ')}.`);
  process.exitCode = 1;
} else if (into === undefined) await testAll();
else {
  eachServer(into, (_, server, program) => {
    console.log(`${SETTING[server.kind]}=${program}   # ${versionOf(server, program)}`);
  });
}

async function testAll() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-servers-'));
  /** @type {Result[]} */
  const results = [];
  try {
    eachServer(folder, (name, server, program) => results.push(tested(name, server, program)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  for (const { version, from, passed, failed } of results)
    console.log(`${version.padEnd(20)} ${from.padEnd(26)} ${passed} passed, ${failed} failed`);
  for (const line of skipped) console.error(line);
  if (results.length === 0 || results.some(({ failed }) => failed > 0)) process.exitCode = 1;
  if (args.includes('--write')) await write(results.filter(({ failed }) => failed === 0));
}

/**
 * Gets each server that was asked for. One that can't be had is skipped, loudly.
 *
 * @param {string} folder
 * @param {(name: string, server: Server, program: string) => void} use
 */
function eachServer(folder, use) {
  mkdirSync(folder, { recursive: true });
  // PostgreSQL runs as another user if this one is root.
  chmodSync(folder, 0o755);
  for (const name of names.length > 0 ? names : Object.keys(SERVERS)) {
    const server = /** @type {Server} */ (SERVERS[name]);
    const program = programOf(name, server, join(folder, name));
    if (program !== undefined) use(name, server, program);
  }
}

/**
 * @param {string} name
 * @param {Server} server
 * @param {string} folder
 */
function programOf(name, server, folder) {
  mkdirSync(folder, { recursive: true });
  try {
    const program = server.get(folder);
    versionOf(server, program);
    return program;
  } catch (error) {
    const line = `SKIPPED ${name} (${server.from}): ${/** @type {Error} */ (error).message}`;
    skipped.push(line);
    console.error(line);
    return undefined;
  }
}

/**
 * @param {string} name
 * @param {Server} server
 * @param {string} program
 * @returns {Result}
 */
function tested(name, server, program) {
  const version = versionOf(server, program);
  console.log(`\n== ${version}, from ${server.from}`);
  const report = join(mkdtempSync(join(tmpdir(), 'sluice-report-')), 'tests.json');
  const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...TESTS[server.kind]];
  spawnSync(process.execPath, [...vitest, '--reporter=dot', '--reporter=json', `--outputFile.json=${report}`], {
    cwd: root,
    env: { ...process.env, [SETTING[server.kind]]: program },
    stdio: 'inherit',
  });
  const { numPassedTests, numFailedTests, success } = JSON.parse(readFileSync(report, 'utf8'));
  // A file that could not be run has no tests.
  return {
    name,
    version,
    from: server.from,
    passed: numPassedTests,
    failed: success ? 0 : Math.max(1, numFailedTests),
  };
}

/**
 * @param {Server} server
 * @param {string} program
 */
function versionOf({ kind }, program) {
  const started = kind === 'redis' ? program : join(program, 'postgres');
  const { stdout, error } = spawnSync(started, ['--version'], { encoding: 'utf8' });
  if (error) throw error;
  const [, name = 'PostgreSQL', version] = /^(?:(\w+) server v=|\w+ \(PostgreSQL\) )([\d.]+)/.exec(stdout) ?? [];
  if (version === undefined) throw new Error(`${started} has no version: ${stdout}`);
  return `${name} ${version}`;
}

/**
 * Writes what passed into the table of the page, and leaves the rows of other servers there.
 *
 * @param {readonly Result[]} results
 */
async function write(results) {
  const page = readFileSync(PAGE, 'utf8');
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END, page.indexOf(BEGIN))];
  const old = Array.from(page.slice(begin, end).matchAll(/^\| `([\w.-]+)` .*\|$/gm), ([row, name = '']) => [name, row]);
  const rows = new Map(/** @type {[string, string][]} */ (old));
  for (const { name, version, passed } of results)
    rows.set(name, `| \`${name}\` | ${version} | ${passed.toLocaleString('en')} |`);
  const listed = Object.keys(SERVERS).flatMap((name) => rows.get(name) ?? []);
  const table = ['| name | server | tests passed, none failed |', '| --- | --- | --- |', ...listed].join('\n');
  writeFileSync(
    PAGE,
    await formatted('docs/which-servers.md', `${page.slice(0, begin)}${BEGIN}\n\n${table}\n\n${page.slice(end)}`),
  );
}
