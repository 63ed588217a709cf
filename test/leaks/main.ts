// `npm run trial -- leaks` makes 200,000 requests of mixed kinds on each store, which are answered, left and cancelled in each way,
// also by errors of HTTP/2, while the store has outages. It prints what the server's process has in memory after the first
// quarter and at the end, and fails if that is more. `--store redis` does so for one store, `--requests 20000` makes
// fewer, with `--growth 1.2`, because code that is compiled on the way then counts more.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { running } from '../redis/servers/running.ts';
import type { Held } from './server.ts';
import { BASES } from './stores.ts';
import { WAYS, type Way } from './ways.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', multiple: true, default: Object.keys(BASES) },
    requests: { type: 'string', default: '200000' },
    growth: { type: 'string', default: '1.05' },
  },
});

const REQUESTS = Number(values.requests);
/** The most that the heap may be at the end, as a part of that after the first quarter. */
const MOST_GROWTH = Number(values.growth);
/** A process keeps so many objects for the next request, such as a timer for each length of deadlines, and no more. */
const KEPT_OBJECTS = 10;
const AT_A_TIME = 40;
const OUTAGES = 8;
const USERS = 2000;
const PATHS = ['/rate', '/slots', '/waiting', '/settled'];
const SERVER = fileURLToPath(new URL('server.ts', import.meta.url));
const LOADER = fileURLToPath(new URL('../redis/processes/typescript.mjs', import.meta.url));

/** The process that is measured. It runs the build of the packages. */
class Server {
  readonly #child: ChildProcess;

  constructor(args: readonly string[]) {
    const execArgv = ['--expose-gc', '--import', LOADER];
    this.#child = fork(SERVER, args, { execArgv });
    this.#child.once('exit', (code) => {
      if (code !== 0) throw new Error(`The server has ended with ${code}.`);
    });
  }

  async ports(): Promise<{ readonly 'HTTP/1.1': number; readonly 'HTTP/2': number }> {
    const [{ ports }] = (await once(this.#child, 'message')) as [{ ports: [number, number] }];
    return { 'HTTP/1.1': ports[0], 'HTTP/2': ports[1] };
  }

  async held(): Promise<Held> {
    this.#child.send('held');
    const [held] = (await once(this.#child, 'message')) as [Held];
    return held;
  }

  end(): void {
    this.#child.send('end');
  }
}

/** Makes requests until there are so many, and returns how many each way has made. */
class Clients {
  readonly #ports: Readonly<Record<Way['protocol'], number>>;
  #calls = 0;
  made = 0;

  constructor(ports: Readonly<Record<Way['protocol'], number>>) {
    this.#ports = ports;
  }

  /** The sessions of a server are looked at from its first request on, so the first ones are answered before others leave. */
  async begin(): Promise<void> {
    const answered = WAYS.filter(({ name }) => name === 'answered');
    await Promise.all(answered.map((way) => way.run(this.#ports[way.protocol], { path: '/rate', user: 'user-0' })));
  }

  async until(count: number): Promise<void> {
    await Promise.all(Array.from({ length: AT_A_TIME }, () => this.#client(count)));
  }

  async #client(count: number): Promise<void> {
    while (this.made < count) {
      const call = this.#calls++;
      const way = WAYS[call % WAYS.length]!;
      const path = PATHS[Math.floor(call / WAYS.length) % PATHS.length]!;
      this.made += way.requests;
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await way.run(this.#ports[way.protocol], { path, user: `user-${call % USERS}` });
    }
  }
}

/** What the server has at the start, after a quarter and at the end. */
async function heldOn(store: string): Promise<readonly Held[]> {
  const base = await BASES[store]!();
  const server = new Server([store, ...base.args]);
  const clients = new Clients(await server.ports());
  const found: Held[] = [];
  await clients.begin();
  // The first ones load and compile what later ones use.
  await clients.until(REQUESTS / 40);
  found.push(await server.held());
  for (let part = 1; part <= OUTAGES; part++) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await Promise.all([clients.until((REQUESTS * part) / OUTAGES), base.outage()]);
    // The store is back, and what was cut off is over.
    if (part === OUTAGES / 4 || part === OUTAGES) found.push(await server.held()); // oxlint-disable-line no-await-in-loop
  }
  server.end();
  await base.close();
  return found;
}

/** What is more at the end than before. */
function grown([start, quarter, end]: readonly Held[]): readonly string[] {
  const names = Object.keys(end!.objects).filter((name) => end!.objects[name]! > start!.objects[name]! + KEPT_OBJECTS);
  const heap = end!.heapBytes / quarter!.heapBytes;
  return [
    ...(heap > MOST_GROWTH ? [`heap × ${heap.toFixed(3)}`] : []),
    ...names.map((name) => `${name} ${start!.objects[name]} → ${end!.objects[name]}`),
    ...(end!.listeners > start!.listeners ? [`listeners ${start!.listeners} → ${end!.listeners}`] : []),
    ...(end!.connections > 0 ? [`${end!.connections} connections`] : []),
    ...(end!.slots > 0 ? [`${end!.slots} slots of a hundred users`] : []),
  ];
}

for (const store of values.store) {
  const startMs = performance.now();
  // oxlint-disable-next-line no-await-in-loop -- one after the other, so that none disturbs another
  const found = await heldOn(store);
  const kinds = found.map(({ heapBytes }) => `${(heapBytes / 1e6).toFixed(2)} MB`).join(', ');
  const more = grown(found);
  const seconds = Math.round((performance.now() - startMs) / 1000);
  console.log(
    `${store}: ${REQUESTS} requests in ${seconds} s; heap at the start, after a quarter, at the end: ${kinds}`,
  );
  console.log(`  objects at the end: ${JSON.stringify(found.at(-1)!.objects)}`);
  for (const each of more) console.log(`  MORE: ${each}`);
  if (more.length > 0) process.exitCode = 1;
}
await running.closeAllBut();
process.exit();
