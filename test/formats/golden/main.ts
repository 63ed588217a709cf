// `npm run trial -- golden` writes the samples in this folder again, by the packages of the version before.
import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { postgresFolder } from '../../../scripts/postgres.mjs';
import { postgresServer } from '../../postgres/postgres-server.ts';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { oldCommand, oldPackages, oldProgram } from '../old-packages.ts';
import { eventTypesIn } from './event-types.ts';

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const SAMPLES = here('samples/');
const FILES = here('samples/files/');

const [redis, postgres] = await Promise.all([redisServer(), postgresServer()]);
const folder = oldPackages();
const env = { ...process.env, NODE_OPTIONS: '' };
copyFileSync(here('buckets.mjs'), join(folder, 'buckets.mjs'));
execFileSync('node', [oldProgram(here('make.mjs'), 'make.mjs'), SAMPLES, redis.url, postgres.url], {
  stdio: 'inherit',
});

const dump = join(postgresFolder(), 'pg_dump');
const sql = execFileSync(dump, ['--no-owner', '--no-privileges', postgres.url], { encoding: 'utf8' });
// Newer versions of pg_dump write what older versions of psql do not know.
writeFileSync(join(SAMPLES, 'postgres.sql'), sql.replaceAll(/^(\\(un)?restrict .*|SET transaction_timeout.*)\n/gm, ''));

const api = join(folder, 'api');
write(
  'events.json',
  eventTypesIn(readdirSync(api), (name) => readFileSync(join(api, name), 'utf8')),
);

const COMMANDS = [
  ['check', 'limits.yaml', 'overrides.yaml', '--tables', 'tables.yaml', '--json'],
  ['check', 'wrong.yaml', '--json'],
  ['explain', 'limits.yaml', 'overrides.yaml', 'Requests', '12345678', '--json'],
  ['explain', 'limits.yaml', 'Monthly', '--json'],
  ['explain', 'limits.yaml', '--json'],
  ['replay', 'access.log', '--limits', 'limits.yaml', '--json'],
  ['suggest', 'access.log', '--json'],
  ['simulate', 'scenario.yaml', '--compare', 'fixed', '--json'],
];
write(
  'command.json',
  COMMANDS.map((words) => ({ words, printed: JSON.parse(printedBy(words)) as unknown })),
);
process.exit(0);

function printedBy(words: readonly string[]): string {
  try {
    return execFileSync('node', [oldCommand(), ...words], { cwd: FILES, encoding: 'utf8', env });
  } catch (error) {
    // With findings, it exits with 1.
    return (error as { readonly stdout: string }).stdout;
  }
}

function write(name: string, value: unknown): void {
  writeFileSync(join(SAMPLES, name), `${JSON.stringify(value, undefined, 2)}\n`);
}
