// The last line of .ci/run, from what the commands before it left behind.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder = '.', testsStatus, propertiesStatus, longStatus, checksStatus] = process.argv.slice(2);

const outcomes = [
  counted(testsOf(join(folder, 'tests.json')), testsStatus),
  counted(testsOf(join(folder, 'properties.json')), propertiesStatus),
  counted(testsOf(join(folder, 'long.json')), longStatus),
  counted(checksOf(join(folder, 'checks.txt')), checksStatus),
];
const failures = sum(outcomes.map(({ failed }) => failed));
console.log(`${sum(outcomes.map(({ passed }) => passed))} passed, ${failures} failed`);
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

/** @param {number[]} numbers */
function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
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
