// The API reference as pages of the site: one for each entry of a package, under the name by which it is imported.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import gate from '../typedoc.config.mjs';

const { emit: _, entryPoints, ...options } = gate;
const root = fileURLToPath(new URL('..', import.meta.url));

/** Renames `core/src/http` to `@sluice/core/http`. @param {import('typedoc').Application} app */
function publishedNames({ converter }) {
  converter.on('resolveBegin', ({ project }) => {
    for (const entry of project.children ?? []) entry.name = entry.name.replace(/^(\w+)\/src/, '@sluice/$1');
  });
}

export default {
  ...options,
  // The kits are for the packages of this family alone.
  entryPoints: entryPoints.filter((entry) => !entry.endsWith('kit.ts')).map((entry) => join(root, entry)),
  plugin: [fileURLToPath(import.meta.resolve('typedoc-plugin-markdown')), publishedNames],
  // `npm run check -- docs` judges the docstrings.
  treatWarningsAsErrors: false,
  treatValidationWarningsAsErrors: false,
  validation: false,
  name: 'API reference',
  out: join(root, 'site/api'),
  router: 'module',
  entryFileName: 'README',
  hidePageHeader: true,
  hideBreadcrumbs: true,
  sanitizeComments: true,
  // Links count headings of one name in another way than pages do.
  useHTMLAnchors: true,
  parametersFormat: 'table',
};
