import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reservedPort } from '../redis/servers/port.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { commandsOf, fileName, stepsOf } from './console.ts';
import { shell } from './sluice.ts';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));
const PAGE = 'docs/choosing-numbers.md';
const steps = stepsOf(PAGE);

let folder: string;
let port: number;
let redisUrl: string;
let server: ChildProcess | undefined;
/** What the servers have printed, one after the other. */
const printedBy: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'));
  // As `npm install` of the page would have it.
  symlinkSync(join(REPOSITORY, 'test/node_modules'), join(folder, 'node_modules'));
  port = await reservedPort();
  redisUrl = (await redisServer()).url;
});
afterAll(async () => {
  await stopServer();
  rmSync(folder, { recursive: true });
});

describe('a reader who follows the page about an afternoon', () => {
  it.each(
    steps.filter((step) => fileName(step) !== undefined || step.language === 'sh' || step.language === 'console'),
  )(
    'at line $line',
    async (step) => {
      const name = fileName(step);
      if (name !== undefined) return writeFileSync(join(folder, name), step.text);
      if (step.language === 'sh') return follow(step.text);
      for (const { command, output, isCut } of commandsOf(step)) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const { out } = await shell(`{\n${here(command)}\n} 2>&1`, folder);
        const printed = isCut ? out.slice(0, output.length) : out;
        expect({ command, printed: withoutTimes(printed) }).toEqual({ command, printed: withoutTimes(output) });
      }
    },
    60_000,
  );

  it('has a server that logs in shadow mode which requests it would deny', () => {
    const denied = printedBy[0]?.match(/^denied 198\.51\.100\.23$/gm)?.length;
    expect(denied).toBeGreaterThanOrEqual(51);
    expect(denied).toBeLessThanOrEqual(64);
  });

  it('has written the report as a page', () => {
    expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain('What the limits would have done');
  });
});

/** Starts the server of a block. The installation is not run here: test/packed tries it. */
async function follow(text: string): Promise<void> {
  if (!/\bnode server\.mjs$/m.test(text)) return;
  await stopServer();
  const script = here(text).replace('node server.mjs', 'exec node server.mjs');
  const child = spawn('bash', ['-c', script], {
    cwd: folder,
    env: { ...process.env, PORT: String(port), NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  server = child;
  const nth = printedBy.push('') - 1;
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the server has ended: ${printedBy[nth]}`)));
    child.stdout.on('data', (chunk) => {
      printedBy[nth] += String(chunk);
      if (printedBy[nth]?.includes(`Listening on port ${port}\n`) === true) resolve();
    });
  });
}

async function stopServer(): Promise<void> {
  if (server === undefined || server.exitCode !== null) return;
  const ended = once(server, 'exit');
  server.kill();
  await ended;
}

/** Returns a command with the addresses and the places of this test. */
function here(command: string): string {
  return command
    .replaceAll('localhost:3000', `127.0.0.1:${port}`)
    .replaceAll('redis://127.0.0.1:6379', redisUrl)
    .replaceAll('../sluice/', REPOSITORY);
}

/** Leaves out how many tokens have come back between two commands, which is a question of time. */
function withoutTimes(text: string): string {
  return text
    .replace(/: \d of 36 tokens left\n/, ': few tokens left\n')
    .replace(/ {2}full {6}in [45]\d(?:\.\d)? s if/, '  full      in about 54 s if')
    .replace(/ is (?:allowed now|denied for [\d.]+ m?s)\n/, ' is decided\n')
    .replace(/^ +(?:(?:3[6-9]|4\d) 200\n +(?:5\d|6[0-4]) 429)$/m, 'about 36 are allowed');
}
