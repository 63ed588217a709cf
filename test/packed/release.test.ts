import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { inOrder } from '../../scripts/publish.mjs';
import { latestEntry, manifestOf, readClone, unmetDemands } from '../../scripts/release-demands.mjs';
import { applyChangesets, copyOfVersions, releaseNotes } from '../../scripts/release-notes.mjs';
import { writeRepository } from '../../scripts/repository.mjs';
import { writeSbom } from '../../scripts/sbom.mjs';
import { tarballProblems } from '../../scripts/tarball-checks.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const LICENCE = readFileSync(join(root, 'LICENSE'), 'utf8');

describe('a clone is released', () => {
  it('when nothing is left for a person to do', () => {
    expect(demandsOf(clone())).toEqual([]);
  });

  it.each<readonly [reason: string, change: (folder: string) => void, demand: string]>([
    ['it has changes that are not committed', (folder) => write(folder, 'new.ts', ''), 'The work tree must be clean'],
    [
      'its version is published',
      (folder) => git(folder, 'tag', 'v0.1.0'),
      'The version must be a new one, but 0.1.0 is released',
    ],
    [
      'it has changesets before the first release',
      (folder) => commit(folder, '.changeset/new.md', CHANGESET),
      'The first release must describe what it contains',
    ],
    [
      'it has changesets that are in no version',
      (folder) => {
        git(folder, 'tag', 'v0.0.9');
        commit(folder, '.changeset/new.md', CHANGESET);
      },
      'Every change must be in a version, but .changeset/new.md are in none.',
    ],
    [
      'a package has no entry for the version',
      (folder) => commit(folder, 'tools/b/CHANGELOG.md', '# b\n\n## 0.0.9\n\n- Old.\n'),
      'CHANGELOG.md of each package must begin with the entry 0.1.0, but not so in tools/b.',
    ],
    [
      'its packages name no repository',
      (folder) => commit(folder, 'packages/a/package.json', JSON.stringify({ name: 'a', version: '0.1.0' })),
      '`repository` in each package.json must be the URL of the one repository',
    ],
    [
      'a page says that the packages are not published',
      (folder) => commit(folder, 'docs/page.md', 'They are not published yet.'),
      'Pages must be true when the packages are published, but docs/page.md say',
    ],
  ])('not when %s, and is told what to do', (_reason, change, demand) => {
    const folder = clone();
    change(folder);
    expect(demandsOf(folder)).toEqual([expect.stringContaining(demand)]);
  });

  it('not when it is shallow, because its tags are missing', () => {
    const folder = `${clone()}-shallow`;
    onTestFinished(() => rmSync(folder, { recursive: true }));
    git('/', 'clone', '--quiet', '--depth=1', `file://${folder.replace(/-shallow$/, '')}`, folder);
    expect(demandsOf(folder)).toEqual([expect.stringContaining('`git fetch --unshallow --tags`')]);
  });

  it('not when npm does not know who publishes', () => {
    const unmet = unmetDemands(readClone(clone()), { mayPublish: () => false });
    expect(unmet).toEqual([expect.stringContaining('npm must know who publishes')]);
  });
});

describe('the repository', () => {
  it('is written into each package beside what is there', () => {
    const folder = clone();
    write(folder, 'packages/a/package.json', JSON.stringify({ name: 'a', license: 'MIT', version: '0.1.0' }));
    writeRepository(folder, 'https://example.org/o/n');
    expect(JSON.stringify(manifestOf(folder, 'packages/a'))).toBe(
      JSON.stringify({
        name: 'a',
        license: 'MIT',
        homepage: 'https://example.org/o/n#readme',
        bugs: 'https://example.org/o/n/issues',
        repository: { type: 'git', url: 'git+https://example.org/o/n.git', directory: 'packages/a' },
        version: '0.1.0',
      }),
    );
  });

  it('is refused if it is not a page that a browser shows', () => {
    expect(() => writeRepository(root, 'git@example.org:o/n.git')).toThrow(
      'must be like https://github.com/OWNER/NAME',
    );
  });
});

describe('the CHANGELOG', () => {
  it('of the first release is what is written, whatever changesets there are', () => {
    const folder = clone();
    write(folder, '.changeset/new.md', CHANGESET);
    expect(releaseNotes(readClone(folder))).toEqual([
      '# a\n\n## 0.1.0\n\nThe first release.',
      '# b\n\n## 0.1.0\n\nThe first release.',
    ]);
  });

  it('of the next release has each change in the packages that it concerns, and one version for all', () => {
    const folder = copyOfVersions(root);
    onTestFinished(() => rmSync(folder, { recursive: true }));
    write(folder, '.changeset/new.md', CHANGESET);
    applyChangesets(folder);
    const [major, minor] = String(manifestOf(root, 'packages/core').version).split('.');
    const next = `${major}.${Number(minor) + 1}.0`;
    const { packages } = readClone(folder);
    expect(new Set(packages.map((each) => manifestOf(folder, each).version))).toEqual(new Set([next]));
    expect(latestEntry(join(folder, 'packages/core'))).toBe(
      `## ${next}\n\n### Minor Changes\n\n- Limits\n  do more.\n\n`,
    );
    expect(latestEntry(join(folder, 'packages/koa'))).toBe(`## ${next}\n\n`);
  });
});

describe('a tarball is refused', () => {
  const good = { name: 'a', version: '0.1.0', license: 'MIT' };

  it.each([
    ['if it has another licence', { 'package.json': { ...good, license: 'ISC' } }, '`license` of a must be MIT'],
    ['if it has no text of the licence', { 'package.json': good, LICENSE: 'Mine.' }, 'must have the text of LICENSE'],
    [
      'if npm runs a script of it',
      { 'package.json': { ...good, scripts: { postinstall: 'node x.js' } } },
      'a must run nothing when it is installed, but has postinstall.',
    ],
    [
      'if npm compiles it',
      { 'package.json': good, 'binding.gyp': '{}' },
      'a must run nothing when it is installed, but has binding.gyp.',
    ],
  ])('%s', (_reason, files, problem) => {
    expect(tarballProblems([tarball(files)], { a: 1 })).toEqual([expect.stringContaining(problem)]);
  });

  it('if it is larger than its budget, or has none', () => {
    const path = tarball({ 'package.json': good });
    expect(tarballProblems([path], { a: 1 })).toEqual([]);
    expect(tarballProblems([path], { a: 0 })).toEqual([
      expect.stringContaining('a must have at most 0 kB when it is packed, but has 1 kB.'),
    ]);
    expect(tarballProblems([path], {})).toEqual([expect.stringContaining('a has no budget. Write "a": 1 into')]);
    expect(tarballProblems([path], { a: 1, b: 1 })).toEqual([expect.stringContaining('has b, which is not packed')]);
  });
});

it('a package is published after those that it depends on', () => {
  const named = (name: string, manifest: object) => tarball({ 'package.json': { name, ...manifest } });
  const paths = [
    named('c', { dependencies: { b: '^1.0.0', other: '1' } }),
    named('b', { peerDependencies: { a: '^1.0.0' } }),
    named('a', {}),
  ];
  expect(inOrder(paths)).toEqual([...paths].toReversed());
});

it('the bill of materials of a release has each package with its hash, what they depend on, and no path of this machine', () => {
  const paths = [
    tarball({ 'package.json': { name: 'b', version: '0.1.0', license: 'MIT', dependencies: { a: '^0.1.0' } } }),
    tarball({ 'package.json': { name: 'a', version: '0.1.0', license: 'MIT', peerDependencies: { express: '5' } } }),
  ];
  const folder = mkdtempSync(join(tmpdir(), 'sluice-release-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { file, components } = writeSbom(paths, { version: '0.1.0', folder });
  expect(basename(file)).toBe('sluice-0.1.0.cdx.json');
  expect(components).toBe(2);
  const text = readFileSync(file, 'utf8');
  expect(text).not.toContain(tmpdir());
  const hashOf = (path: string): string => createHash('sha512').update(readFileSync(path)).digest('hex');
  const [b = '', a = ''] = paths.map(hashOf);
  const found = (name: string, content: string): object =>
    expect.objectContaining({ purl: `pkg:npm/${name}@0.1.0`, hashes: [{ alg: 'SHA-512', content }] });
  expect(JSON.parse(text)).toMatchObject({
    bomFormat: 'CycloneDX',
    metadata: { component: { purl: 'pkg:npm/sluice@0.1.0', name: 'sluice' } },
    components: [found('a', a), found('b', b)],
    dependencies: expect.arrayContaining([{ ref: 'b@0.1.0', dependsOn: ['a@0.1.0'] }]),
  });
});

const CHANGESET = "---\n'@sluice/core': minor\n---\n\nLimits\ndo more.\n";

/** A clone of two packages, of which everything is ready. */
function clone(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-clone-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  git(folder, 'init', '--quiet', '--initial-branch=main');
  for (const [parent, name] of [
    ['packages', 'a'],
    ['tools', 'b'],
  ] as const) {
    write(folder, `${parent}/${name}/package.json`, JSON.stringify({ name, license: 'MIT', version: '0.1.0' }));
    write(
      folder,
      `${parent}/${name}/CHANGELOG.md`,
      `# ${name}\n\n## 0.1.0\n\nThe first release.\n\n## 0.0.9\n\nA trial.\n`,
    );
  }
  write(folder, '.changeset/README.md', '# Changesets\n');
  writeRepository(folder, 'https://example.org/o/n');
  commitAll(folder);
  return folder;
}

function demandsOf(folder: string): string[] {
  return unmetDemands(readClone(folder), { mayPublish: () => true });
}

function commit(folder: string, file: string, text: string): void {
  write(folder, file, text);
  commitAll(folder);
}

function commitAll(folder: string): void {
  git(folder, 'add', '--all');
  git(folder, '-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '--quiet', '--message=test: a commit');
}

function git(folder: string, ...args: string[]): void {
  execFileSync('git', args, { cwd: folder, stdio: 'pipe' });
}

function write(folder: string, file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

/** Packs files as npm does. LICENSE is ours unless it is given. */
function tarball(files: Record<string, string | object>): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tarball-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [file, content] of Object.entries({ LICENSE: LICENCE, ...files })) {
    write(folder, `package/${file}`, typeof content === 'string' ? content : JSON.stringify(content));
  }
  const path = join(folder, 'packed.tgz');
  execFileSync('tar', ['-czf', path, '-C', folder, 'package']);
  return path;
}
