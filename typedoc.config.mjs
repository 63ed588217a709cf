// The docs gate: every name that a package exports is documented. Writes nothing.
import { readFileSync } from 'node:fs';
import { packageFolders } from './scripts/package-folders.mjs';

const packages = packageFolders('.').map((folder) => {
  const manifest = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const sources = Object.values(manifest.exports).flatMap((entry) => entry['@sluice/source'] ?? []);
  return { name: manifest.name, entryPoints: sources.map((source) => `${folder}/${source}`) };
});

export default {
  entryPoints: packages.flatMap(({ entryPoints }) => entryPoints),
  tsconfig: 'tsconfig.sources.json',
  emit: 'none',
  readme: 'none',
  disableSources: true,
  // The linter checks types.
  skipErrorChecking: true,
  treatWarningsAsErrors: true,
  treatValidationWarningsAsErrors: true,
  validation: { notDocumented: true, notExported: true, invalidLink: true, invalidPath: true },
  packagesRequiringDocumentation: packages.map(({ name }) => name),
  // A property whose name and type say all needs no sentence that repeats them.
  requiredToBeDocumented: ['Variable', 'Function', 'Class', 'Interface', 'TypeAlias', 'Method'],
};
