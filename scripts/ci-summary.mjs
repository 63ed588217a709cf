// The last line of .ci/run, from what the two commands before it left behind.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder = '.', testsStatus, checksStatus] = process.argv.slice(2);

const tests = counted(testsOf(join(folder, 'tests.json')), testsStatus);
const checks = counted(checksOf(join(folder, 'checks.txt')), checksStatus);
const failures = tests.failed + checks.failed;
console.log(`${tests.passed + checks.passed} passed, ${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;

/**
 * A command can fail without naming a test or check: its set-up broke, a test file did not load. That is one failure.
 *
 * @param {{ passed: number, failed: number }} counts
 * @param {string | undefined} status
 */
function counted(counts, status) {
  return status === '0' ? counts : { ...counts, failed: Math.max(counts.failed, 1) };
}

/** @param {string} file vitest's JSON report */
function testsOf(file) {
  if (!existsSync(file)) return { passed: 0, failed: 0 };
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(file, 'utf8'));
  return { passed: numPassedTests, failed: numFailedTests };
}

/** @param {string} file what `npm run check` printed */
function checksOf(file) {
  const [, passed, failed] = /^(\d+) checks passed, (\d+) failed$/m.exec(readFileSync(file, 'utf8')) ?? [];
  return { passed: Number(passed ?? 0), failed: Number(failed ?? 0) };
}
