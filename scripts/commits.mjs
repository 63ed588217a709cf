// `npm run check -- commits`: the subject of a commit begins with the area, such as `core:` or `docs, examples:`, and
// has at most 72 characters. It looks at the last commits, of which a shallow clone may have one.
import { spawnSync } from 'node:child_process';
import { root } from './pnpm.mjs';

const LAST = 10;
const LONGEST = 72;
const AREA = '[a-z][a-z0-9/.-]*';
const SUBJECT = new RegExp(`^${AREA}(, ${AREA})*: \\S`);

const { status, stdout } = spawnSync('git', ['log', '--no-merges', `--max-count=${LAST}`, '--format=%h %s'], {
  cwd: root,
  encoding: 'utf8',
});
// A copy without .git, such as an archive, has no subjects to look at.
const commits = status === 0 ? stdout.trimEnd().split('\n') : [];
for (const commit of commits) {
  const [, hash, subject = ''] = /^(\S+) (.*)$/.exec(commit) ?? [];
  if (!SUBJECT.test(subject)) report(hash, 'must begin with its area, e.g. `core: ` or `docs, examples: `', subject);
  if (subject.length > LONGEST) report(hash, `must have at most ${LONGEST} characters, not ${subject.length}`, subject);
}

/**
 * @param {string | undefined} hash
 * @param {string} demand
 * @param {string} subject
 */
function report(hash, demand, subject) {
  console.error(`The subject of commit ${hash} ${demand}: ${subject}`);
  console.error('Before it is pushed, `git commit --amend` or `git rebase --interactive` changes it.');
  process.exitCode = 1;
}
