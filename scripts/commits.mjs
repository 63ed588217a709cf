// `npm run check -- commits`: the subject of a commit begins with the area, such as `core:` or `docs, examples:`, and
// has at most 72 characters. It looks at the last commits, of which a shallow clone may have one. With the file of a message,
// which git gives to its commit-msg hook, it looks at that message only. It needs no dependencies.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { root } from './pnpm.mjs';

const LAST = 10;
const LONGEST = 72;
const AREA = '[a-z][a-z0-9/.-]*';
/** Git puts these before a subject that it takes from another commit. */
const OF_GIT = /^(?:fixup! |squash! |amend! |Revert ")/;
const SUBJECT = new RegExp(`^${AREA}(, ${AREA})*: \\S`);

const [messageFile] = process.argv.slice(2);
const problems = messageFile === undefined ? problemsOfLast() : problemsOf('this commit', subjectIn(messageFile));
for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  if (messageFile === undefined)
    console.error('Before it is pushed, `git commit --amend` or `git rebase --interactive` changes it.');
  process.exitCode = 1;
}

function problemsOfLast() {
  const log = git(['log', '--no-merges', `--max-count=${LAST}`, '--format=%h %s']);
  // A copy without .git, such as an archive, has no subjects to look at.
  const commits = log === undefined ? [] : log.trimEnd().split('\n');
  return commits.flatMap((commit) => {
    const [, hash, subject = ''] = /^(\S+) (.*)$/.exec(commit) ?? [];
    return problemsOf(`commit ${hash}`, subject);
  });
}

/**
 * What git will take for the subject, the lines up to an empty one. It is empty for a merge, which needs no area.
 *
 * @param {string} file
 */
function subjectIn(file) {
  if (git(['rev-parse', '--quiet', '--verify', 'MERGE_HEAD']) !== undefined) return '';
  const message = git(['stripspace', '--strip-comments'], readFileSync(file, 'utf8')) ?? '';
  const [subject = ''] = message.split('\n\n');
  return subject.trimEnd().replaceAll('\n', ' ');
}

/**
 * @param {string} commit
 * @param {string} subject empty for a commit that git itself makes or refuses
 */
function problemsOf(commit, subject) {
  if (OF_GIT.test(subject)) return [];
  const demands = [];
  if (subject !== '' && !SUBJECT.test(subject))
    demands.push('must begin with its area, e.g. `core: ` or `docs, examples: `');
  if (subject.length > LONGEST) demands.push(`must have at most ${LONGEST} characters, not ${subject.length}`);
  return demands.map((demand) => `The subject of ${commit} ${demand}: ${subject}`);
}

/**
 * @param {string[]} args
 * @param {string} [input]
 * @returns {string | undefined} what git printed; undefined if it failed
 */
function git(args, input) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8', input });
  return status === 0 ? stdout : undefined;
}
