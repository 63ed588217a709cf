import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Writes files by name into a folder that is removed after the test, and returns their paths. */
export function files<Name extends string>(
  contents: Readonly<Record<Name, string | Uint8Array>>,
): Record<Name, string> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-replay-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const written = Object.entries<string | Uint8Array>(contents).map(([name, content]) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return [name, path];
  });
  return Object.fromEntries(written) as Record<Name, string>;
}

/** A request of a log. */
export interface Logged {
  /** Milliseconds since 1970. */
  readonly ms: number;
  readonly address: string;
  readonly method?: string;
  readonly path?: string;
  readonly status?: number;
  readonly user?: string;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Writes a request as nginx' and Apache's format `combined`. */
export function combinedLine({ ms, address, method = 'GET', path = '/', status = 200 }: Logged): string {
  const [date, time] = new Date(ms).toISOString().slice(0, 19).split('T') as [string, string];
  const [year, month, day] = date.split('-');
  const shown = `${day}/${MONTHS[Number(month) - 1]}/${year}:${time} +0000`;
  return `${address} - - [${shown}] "${method} ${path} HTTP/1.1" ${status} 612 "https://example.com/" "Mozilla/5.0 (X11)"`;
}

/** Writes a request as pino-http does. */
export function pinoLine({ ms, address, method = 'GET', path = '/', status = 200, user }: Logged): string {
  const req = { id: 1, method, url: path, headers: { host: 'a' }, remoteAddress: address, remotePort: 4711 };
  return JSON.stringify({
    level: 30,
    time: ms,
    pid: 1,
    ...(user !== undefined && { user: { id: user } }),
    req,
    res: { statusCode: status, headers: { 'x-a': '"}' } },
    msg: 'request completed',
  });
}

/** Writes the lines of a log. */
export function logOf(line: (request: Logged) => string, requests: readonly Logged[]): string {
  return requests.map((request) => `${line(request)}\n`).join('');
}

/** Noon of a day. */
export const NOON: number = Date.UTC(2026, 10, 23, 12);

/** Returns a source of random numbers from 0 to below 1, always the same ones for a seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
