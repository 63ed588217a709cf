import { execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../harness/free-port.mjs';
import { coresCanBeChosen } from '../harness/processes.mjs';
import { postgresFolder, postgresUser } from '../../scripts/postgres.mjs';

/**
 * Starts a PostgreSQL of our own on a free port, with the settings of its vendor. It ends with this process.
 *
 * @param {{ core: number }} options The processor core that it should have, where cores can be chosen.
 * @returns {Promise<string>} its URL
 */
export async function startPostgres({ core }) {
  const programs = postgresFolder();
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const user = postgresUser();
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  const init = ['-D', folder, '-U', 'postgres', '-A', 'trust', '--no-sync'];
  execFileSync(join(programs, 'initdb'), init, { ...user, stdio: 'ignore' });
  const port = await freePort();
  const program = join(programs, 'postgres');
  const args = ['-D', folder, '-p', String(port), '-h', '127.0.0.1', '-k', ''];
  const [command, ...words] = coresCanBeChosen ? ['taskset', '-c', String(core), program, ...args] : [program, ...args];
  const child = spawn(command, words, { ...user, stdio: ['ignore', 'ignore', 'pipe'] });
  process.on('exit', () => {
    child.kill('SIGQUIT');
    rmSync(folder, { recursive: true, force: true });
  });
  let log = '';
  for await (const chunk of child.stderr.iterator({ destroyOnReturn: false })) {
    log += String(chunk);
    if (log.includes('ready to accept connections')) break;
  }
  if (!log.includes('ready to accept connections')) throw new Error(`PostgreSQL did not start:\n${log}`);
  child.stderr.resume();
  return `postgres://postgres@127.0.0.1:${port}/postgres`;
}
