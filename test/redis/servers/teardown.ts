// Imported by a test file, or named in a project's `setupFiles`: ends what each test started, and shows what the
// servers printed when it failed.
import { afterAll, afterEach, beforeEach } from 'vitest';
import { running, type Running } from './running.ts';

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
