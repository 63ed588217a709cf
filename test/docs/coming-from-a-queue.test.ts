import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import Bottleneck from 'bottleneck';
import ts from 'typescript';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { realDelay } from '../real-delay.ts';

const page = readFileSync(new URL('../../docs/coming-from-a-queue.md', import.meta.url), 'utf8');
const [, block = ''] = /^```ts\n([\s\S]*?)^```/m.exec(page) ?? [];
const [, written = ''] = /new Bottleneck\((.*)\)/.exec(block) ?? [];

/** More than may begin. */
const CALLS = 7;
const LASTS_MS = 250;

/** Fetched first, because the first call of a process takes longer. */
const WARM = '/warm';

let arrivalsMs: number[];
let open: number;
let most: number;
const server = createServer(async (request, response) => {
  if (request.url !== WARM) {
    arrivalsMs.push(performance.now());
    most = Math.max(most, ++open);
    await realDelay(LASTS_MS);
    open--;
  }
  response.end();
});
const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeEach(async () => {
  arrivalsMs = [];
  open = most = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Waits until no more calls begin, and returns how they have come. */
async function seen() {
  while (arrivalsMs.length < 5) await realDelay(20);
  await realDelay(1000);
  const [first = 0, , , , fifth = 0] = arrivalsMs;
  // The third and the fifth begin when others have been answered, however busy the machine is.
  return { calls: arrivalsMs.length, most, isHeldBack: fifth - first >= 2 * LASTS_MS - 20 };
}

const EXPECTED = { calls: 5, most: 2, isHeldBack: true };

it('the block of the page begins as many calls, and as many at once, as its comment says', async () => {
  const { outputText } = ts.transpileModule(block, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  const calls = `await fetch('${url()}${WARM}');\nfor (let i = 0; i < ${CALLS}; i++) void get('${url()}');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', `${outputText}\n${calls}`], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    expect(await seen()).toEqual(EXPECTED);
  } finally {
    child.kill();
  }
});

it('Bottleneck with these options begins the same', async () => {
  const bottleneck = new Bottleneck(parse(written) as Bottleneck.ConstructorOptions);
  await fetch(url() + WARM);
  for (let i = 0; i < CALLS; i++) void bottleneck.schedule(() => fetch(url())).catch(() => undefined);
  expect(await seen()).toEqual(EXPECTED);
  await bottleneck.stop();
});
