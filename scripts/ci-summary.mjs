// The last lines of .ci/run, from what the commands before it left behind: the tests that failed, each with the first line
// of its error, and how many tests and checks passed and failed.
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const [folder = '.', testsStatus, untimedStatus, checksStatus] = process.argv.slice(2);

const outcomes = [
  counted('the tests', testsOf(join(folder, 'tests.json')), testsStatus),
  counted('the untimed tests', testsOf(join(folder, 'untimed.json')), untimedStatus),
  counted('the checks', checksOf(join(folder, 'checks.txt')), checksStatus),
];
for (const name of ['tests', 'untimed']) failedTestsOf(join(folder, `${name}.json`)).forEach(show);
const failures = sum(outcomes.map(({ failed }) => failed));
console.log(`${sum(outcomes.map(({ passed }) => passed))} passed, ${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;

/**
 * A command can fail without a test or check that did, e.g. when its set-up broke. That is one failure.
 *
 * @param {string} command
 * @param {{ passed: number, failed: number }} counts
 * @param {string | undefined} status
 */
function counted(command, counts, status) {
  if (status === '0' || counts.failed > 0) return counts;
  console.log(`FAILED  ${command}: all passed, but the command ended with ${status}; see ERROR above`);
  return { ...counts, failed: 1 };
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

/** @typedef {{ status: string, fullName: string, failureMessages: string[] }} Outcome of a test */

/**
 * @param {string} file vitest's JSON report
 * @returns {{ file: string, test: string, error: string }[]}
 */
function failedTestsOf(file) {
  if (!existsSync(file)) return [];
  /** @type {{ testResults: { name: string, status: string, message: string, assertionResults: Outcome[] }[] }} */
  const { testResults } = JSON.parse(readFileSync(file, 'utf8'));
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (status === 'failed' && failed.length === 0) return [{ file: name, test: '(the file)', error: message }];
    return failed.map(({ fullName, failureMessages }) => ({
      file: name,
      test: fullName,
      error: failureMessages[0] ?? '',
    }));
  });
}

/** @param {{ file: string, test: string, error: string }} failure */
function show({ file, test, error }) {
  console.log(`FAILED  ${relative(process.cwd(), file)}: ${test}\n        ${error.split('\n')[0]}`);
}

/** @param {string} file what `npm run check` printed */
function checksOf(file) {
  const [, passed, failed] = /^(\d+) checks passed, (\d+) failed$/m.exec(readFileSync(file, 'utf8')) ?? [];
  return { passed: Number(passed ?? 0), failed: Number(failed ?? 0) };
}
