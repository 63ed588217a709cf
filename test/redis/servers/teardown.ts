// Imported by a test file, or named in a project's `setupFiles`: ends what each test started, and shows what the
// servers printed when it failed.
import { statSync } from 'node:fs';
import { afterAll, afterEach, beforeEach } from 'vitest';
import { running, type Running } from './running.ts';

// When the last file that was looked at is a socket, Node 20 follows no links to modules (nodejs/node#51142).
statSync('.');

let before: ReadonlySet<Running> = new Set();

beforeEach(() => {
  before = running.now();
});

afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') {
    for (const started of running.now()) if (started.report) console.error(started.report());
  }
  await running.closeAllBut(before);
});

afterAll(() => running.closeAllBut());
