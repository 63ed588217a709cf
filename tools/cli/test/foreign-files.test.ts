import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { boulderOutcome } from './foreign/boulder.ts';
import { domainsOutcome } from './foreign/domains.ts';
import { foreignFiles, type ForeignFile } from './foreign/files.ts';

// Our own files, of the shapes that files of others have. `npm run trial -- foreign-files` tries those of clones as well.
const OWN = fileURLToPath(new URL('foreign', import.meta.url));
const CLONES = (process.env['SLUICE_CLONES'] ?? '').split(',').filter((folder) => folder !== '');

const OWN_FILES = foreignFiles(OWN);

const SAID: Readonly<Record<string, readonly [outcome: string, said: string]>> = {
  'boulder/account-overrides.yml': ['whole', ''],
  'boulder/address-overrides.yml': ['whole', ''],
  'boulder/limit-defaults.yml': ['whole', ''],
  'boulder/limit-overrides.yml': ['whole', ''],
  'boulder/set-overrides.yml': ['whole', ''],
  'boulder/subdomain-override.yml': ['refused', "Write 'example.com', the registered domain that it belongs to."],
  'boulder/wrong-override.yml': ['refused', '`NewRegistrationsPerIPAddress.burst` must be a whole number from 1'],
  'gateway/config-map.yaml': ['whole', ''],
  'gateway/listeners.yaml': ['whole', ''],
  'ratelimit/lost.yaml': ['with notes', 'lost.metric: it has windows of 30 days since 1970'],
  'ratelimit/replaces.yaml': ['whole', ''],
  'ratelimit/shared-counters.yaml': ['whole', ''],
  'ratelimit/wildcards.yaml': ['whole', ''],
  'ratelimit/without-descriptors.yaml': ['refused', 'so they limit nothing'],
  'ratelimit/wrong-unit.yaml': ['refused', '.unit` must be one of second, minute'],
};

function outcomeOf(file: ForeignFile) {
  return file.kind === 'domains' ? domainsOutcome(file) : boulderOutcome(file);
}

test('each of our files in the shapes of others has an outcome', () => {
  expect(OWN_FILES.map(({ path }) => relative(OWN, path))).toEqual(Object.keys(SAID));
});

test.each(OWN_FILES.map((file) => [relative(OWN, file.path), file] as const))(
  '%s is loaded with its meaning, or refused with the reason',
  async (name, file) => {
    const [outcome, said] = SAID[name]!;
    const found = await outcomeOf(file);
    expect(found).toEqual({
      outcome,
      said: expect.stringContaining(said) as string,
      asked: found.asked,
      different: [],
    });
    expect(found.asked > 0).toBe(outcome !== 'refused');
  },
);

for (const clone of CLONES) {
  test(
    `each file of ${clone} is loaded with its meaning, or refused with the reason`,
    { timeout: 600_000 },
    async () => {
      const files = foreignFiles(clone);
      const counts: Record<string, number> = { files: files.length };
      const different: unknown[] = [];
      for (const file of files) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const found = await outcomeOf(file);
        console.log(`${found.outcome}, ${found.asked} asked: ${relative(clone, file.path)}\n${found.said}`.trimEnd());
        counts[found.outcome] = (counts[found.outcome] ?? 0) + 1;
        counts['asked'] = (counts['asked'] ?? 0) + found.asked;
        different.push(...found.different.map((each) => ({ file: file.path, each })));
      }
      console.log(clone, counts);
      expect(different).toEqual([]);
      expect(files.length).toBeGreaterThan(0);
    },
  );
}
