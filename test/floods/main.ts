// `npm run trial -- flood` floods a server of HTTP/2 with HEADERS and RST_STREAM while other clients make each error of the protocol,
// ten times with the limits of `limitNode` and ten times without, and fails if a process of a server ends.
// `--runs 20 --seconds 30` floods more, `--kind limited` only that. For another Node: `npx -y -p node@24 -c 'npm run trial -- flood'`.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { realDelay } from '../real-delay.ts';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { END_HEADERS, END_STREAM, fieldBlock, frame, preface, TYPE, uint32 } from '../contract/http/http2-frames.ts';
import { CODES, PROTOCOL_ERRORS, REPORTED_ERRORS } from '../contract/http/protocol-errors.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '10' },
    kind: { type: 'string', multiple: true, default: ['limited', 'plain'] },
  },
});
const RUNS = Number(values.runs);
const SECONDS = Number(values.seconds);
const FLOODING = 4;
const ERRING = 12;
/** Node ends a session after a thousand resets at once, and 33 a second. */
const MOST_STREAMS = 1200;
const SERVER = fileURLToPath(new URL('server.ts', import.meta.url));
const LOADER = fileURLToPath(new URL('../redis/processes/typescript.mjs', import.meta.url));
const ERRORS = Object.values({ ...PROTOCOL_ERRORS, ...REPORTED_ERRORS });
const PING = frame(TYPE.ping, 0, 0, 'flooded!');
const PING_ACK = frame(TYPE.ping, 1, 0, 'flooded!');
const PATHS = ['/', '/later', '/parts', '/held'];

const oneOf = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)]!;
const below = (count: number): number => Math.floor(Math.random() * count);

/** A request with fields of its own, which it ends or does not. */
function request(streamId: number): Buffer {
  const fields = Array.from({ length: below(8) }, (_, i) => [`x-${i}-${below(100)}`, 'v'.repeat(below(100))] as const);
  const flags = oneOf([END_HEADERS, END_HEADERS | END_STREAM]);
  return frame(TYPE.headers, flags, streamId, fieldBlock(oneOf(PATHS), [['x-account', `a${below(50)}`], ...fields]));
}

const reset = (streamId: number): Buffer => frame(TYPE.reset, 0, streamId, uint32(oneOf(CODES)));

/** Requests of which most are reset, from a stream on. */
function requests(count: number, from: number, hasBodies = true): Buffer {
  const frames: Buffer[] = [];
  for (let i = 0; i < count; i++) {
    const streamId = from + 2 * i;
    frames.push(request(streamId));
    if (hasBodies && below(3) === 0) frames.push(frame(TYPE.data, oneOf([0, END_STREAM]), streamId, 'body'));
    if (Math.random() < 0.9) frames.push(reset(streamId));
  }
  return Buffer.concat(frames);
}

class Flood {
  readonly #port: number;
  streams = 0;
  errors = 0;
  isOver = false;

  constructor(port: number) {
    this.#port = port;
  }

  async run(): Promise<void> {
    const clients = [
      ...Array.from({ length: FLOODING }, () => this.#flood()),
      ...Array.from({ length: ERRING }, () => this.#err()),
    ];
    await Promise.all(clients);
  }

  async #flood(): Promise<void> {
    while (!this.isOver) {
      const socket = await this.#connected();
      if (socket === undefined) return;
      let next = 1;
      while (!socket.destroyed && next < 2 * MOST_STREAMS && !this.isOver) {
        const count = 1 + below(100);
        await this.#write(socket, requests(count, next));
        // What a server has not read when its client leaves is lost.
        if (below(4) > 0) await this.#read(socket);
        next += 2 * count;
        this.streams += count;
      }
      oneOf(LEAVE)(socket);
    }
  }

  async #err(): Promise<void> {
    while (!this.isOver) {
      const socket = await this.#connected();
      if (socket === undefined) return;
      const count = 1 + below(30);
      // Node 22.23.3 aborts at a body behind GOAWAY, whatever the server does: see SECURITY.md.
      const parts = [requests(count, 1), oneOf(ERRORS), requests(below(20), 1001, false)];
      this.streams += count;
      this.errors++;
      if (below(2) === 0) await this.#write(socket, Buffer.concat(parts));
      else for (const part of parts) await this.#write(socket, part);
      if (below(2) === 0) await this.#read(socket);
      oneOf(LEAVE)(socket);
    }
  }

  async #write(socket: Socket, bytes: Buffer): Promise<void> {
    if (socket.destroyed) return;
    await new Promise<void>((resolve) => {
      socket.write(bytes, () => resolve());
      socket.once('close', () => resolve());
    });
  }

  /** Waits until the server has read what was sent, if it still reads. */
  async #read(socket: Socket): Promise<void> {
    if (socket.destroyed || socket.isPaused()) return;
    const answered = new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
      socket.on('data', function look(chunk: Buffer) {
        if (!chunk.includes(PING_ACK)) return;
        socket.off('data', look);
        resolve();
      });
    });
    socket.write(PING);
    await Promise.race([answered, realDelay(200)]);
  }

  /** Undefined when the server is gone. */
  async #connected(): Promise<Socket | undefined> {
    const socket = connect(this.#port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    if (!isOpen) return undefined;
    socket.on('error', () => undefined).setMaxListeners(0);
    if (below(4) > 0) socket.resume();
    else socket.pause();
    socket.write(preface());
    return socket;
  }
}

const LEAVE: readonly ((socket: Socket) => unknown)[] = [
  (socket) => socket.destroy(),
  (socket) => socket.resetAndDestroy(),
  (socket) => void socket.end(() => socket.destroy()),
  (socket) => void realDelay(below(1000)).then(() => socket.destroy()),
];

/** Returns how the process of the server has ended, or undefined if it still runs at the end of the flood. */
async function flooded(kind: string, run: number): Promise<string | undefined> {
  const execArgv = ['--expose-gc', '--conditions=@sluice/source', '--import', LOADER];
  const server = fork(SERVER, [kind, run % 2 === 0 ? 'no' : 'yes'], {
    execArgv,
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  let output = '';
  server.stderr!.on('data', (chunk) => (output += String(chunk)));
  const exited = once(server, 'exit').then(([code, signal]) => `${signal ?? code}: ${output.slice(0, 2000)}`);
  const [port] = (await once(server, 'message')) as [number];
  const flood = new Flood(port);
  void Promise.race([exited, realDelay(SECONDS * 1000)]).then(() => (flood.isOver = true));
  await flood.run();
  // Sessions that clients have left go in the meantime.
  const end = (await Promise.race([exited, realDelay(2000)])) as string | undefined;
  let handled: unknown;
  if (end === undefined) {
    server.send('handled');
    [handled] = await once(server, 'message');
    server.disconnect();
    await exited;
  }
  console.log(
    `${kind} ${run + 1}: ${flood.streams} streams, ${String(handled)} handled, ${flood.errors} errors, ${end === undefined ? 'runs' : `ended by ${end}`}`,
  );
  return end;
}

console.log(`Node ${process.version}`);
for (const kind of values.kind) {
  let ends = 0;
  for (let run = 0; run < RUNS; run++) if ((await flooded(kind, run)) !== undefined) ends++;
  console.log(`${kind}: ${RUNS} floods of ${SECONDS} s, ${ends} processes ended`);
  if (ends > 0) process.exitCode = 1;
}
