// `npm run trial -- api` writes the public types of each entry of each package into api/; `npm run check -- api` fails when
// they differ from what is there, so that a change of the public API shows in the diff of the commit that makes it.
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { declarePackages } from './build.mjs';
import { packageFolders } from './package-folders.mjs';
import { root } from './pnpm.mjs';

const folder = join(root, 'api');
const silent = { logLevel: ExtractorLogLevel.None, addToApiReportFile: false };
const updates = process.argv.includes('--update');

await declarePackages();
const temporary = mkdtempSync(join(tmpdir(), 'sluice-api-'));
const entries = packageFolders(root).flatMap(entriesOf);
if (updates) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
}
const prepared = entries.map((entry) => ({ file: entry.file, config: configOf(entry) }));
// One program for all entries: most of what they read is the same.
const compilerState = CompilerState.create(/** @type {ExtractorConfig} */ (prepared[0]?.config), {
  additionalEntryPoints: entries.map(({ types }) => types),
});
const reported = prepared.filter(differs).map(({ file }) => file);
const stale = readdirSync(folder).filter((file) => !entries.some((entry) => entry.file === file));
rmSync(temporary, { recursive: true });
if (!updates) fail([...reported, ...stale]);

/**
 * An entry that others import, e.g. `@sluice/core/http`.
 *
 * @typedef {{ project: string, types: string, file: string }} Entry
 */

/**
 * @param {string} folderOfPackage
 * @returns {Entry[]}
 */
function entriesOf(folderOfPackage) {
  const project = join(root, folderOfPackage);
  const { exports } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  return Object.entries(exports).flatMap(([path, targets]) => {
    const source = targets['@sluice/source'];
    if (source === undefined) return [];
    const types = join(project, source.replace('./src/', 'types/').replace(/\.ts$/, '.d.ts'));
    return [{ project, types, file: `${basename(project)}${path.slice(1).replaceAll('/', '-')}.api.md` }];
  });
}

/**
 * @param {Entry} entry
 * @returns {ExtractorConfig}
 */
function configOf({ project, types, file }) {
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: project,
      mainEntryPointFilePath: types,
      newlineKind: 'lf',
      compiler: { overrideTsconfig: { compilerOptions: compilerOptions(), files: [types] } },
      apiReport: { enabled: true, reportFileName: file, reportFolder: folder, reportTempFolder: temporary },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      // The compiler, typedoc and oxlint judge the code; this only reports it.
      messages: { extractorMessageReporting: { default: silent }, tsdocMessageReporting: { default: silent } },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(project, 'package.json'),
  });
}

/**
 * @param {{ config: ExtractorConfig }} prepared
 * @returns {boolean} whether its report is not that in api/; with --update it is written there
 */
function differs({ config }) {
  const { apiReportChanged } = Extractor.invoke(config, {
    compilerState,
    localBuild: updates,
    messageCallback: (message) => (message.handled = message.logLevel !== ExtractorLogLevel.Error),
  });
  return apiReportChanged;
}

function compilerOptions() {
  return {
    target: 'es2023',
    lib: ['es2023'],
    types: ['node'],
    module: 'nodenext',
    moduleResolution: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    noEmit: true,
  };
}

/** @param {string[]} files */
function fail(files) {
  if (files.length === 0) return;
  console.error(`The public API is not that of api/${files.join(', api/')}.`);
  console.error('If the change is intended, run `npm run trial -- api`, and commit api/ with a changeset.');
  process.exitCode = 1;
}
