import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pgBouncerProgram, postgresUser } from '../../scripts/postgres.mjs';
import { reservedPort } from '../redis/servers/port.ts';
import { running } from '../redis/servers/running.ts';
import { bury, forget, serversFolder } from '../redis/servers/undertaker.ts';
import { until } from '../redis/servers/until.ts';

/** A PgBouncer in front of a server, which pools transactions: each statement may be executed on another connection. */
export class PgBouncer {
  readonly url: string;
  readonly #child: ChildProcess;

  constructor(url: string, child: ChildProcess) {
    this.url = url;
    this.#child = child;
  }

  /** It accepts connections, and answers on none. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  async close(): Promise<void> {
    const exit = once(this.#child, 'exit');
    this.thaw();
    this.#child.kill('SIGTERM');
    await exit;
  }
}

/** Starts one with so many connections to the server, for so many clients. It ends with the test. */
export async function pgBouncer(
  server: { readonly port: number },
  poolSize: number,
  clients = 100,
): Promise<PgBouncer> {
  const port = await reservedPort();
  const user = postgresUser();
  const folder = mkdtempSync(join(serversFolder(), 'pgbouncer-'));
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  const settings = join(folder, 'pgbouncer.ini');
  writeFileSync(
    settings,
    `[databases]
* = host=127.0.0.1 port=${server.port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = ${clients}
`,
  );
  const child = spawn(pgBouncerProgram(), [settings], { ...user, stdio: ['ignore', 'ignore', 'pipe'] });
  const pid = child.pid!;
  bury(pid);
  child.once('exit', () => forget(pid));
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log += String(chunk)));
  await until('it listens', () => {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}:\n${log}`);
    return log.includes('process up');
  });
  const bouncer = new PgBouncer(`postgres://postgres@127.0.0.1:${port}/postgres`, child);
  running.add({ close: () => bouncer.close(), report: () => log });
  return bouncer;
}
