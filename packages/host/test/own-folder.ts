import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';

/** Where the sockets of a test are, and what it has opened. */
export interface OwnFolder {
  path: string;
  /** For `hostStore({ socket })`. */
  socket: string;
  /** Closed after the test, in no order. */
  opened: { close(): unknown }[];
}

/** Gives each test of a file a new folder, which is deleted after the test. */
export function ownFolder(): OwnFolder {
  const own: OwnFolder = { path: '', socket: '', opened: [] };
  beforeEach(() => {
    own.path = mkdtempSync(join(tmpdir(), 'sluice-host-'));
    own.socket = join(own.path, 'limits.sock');
    own.opened = [];
  });
  afterEach(async () => {
    await Promise.all(own.opened.map((each) => each.close()));
    rmSync(own.path, { recursive: true, force: true });
  });
  return own;
}
