// The API reference as pages of the site: one for each entry of a package, under the name by which it is imported.
// scripts/api-pages.mjs divides those that are too long.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Comment, CommentTag } from 'typedoc';
import gate from '../typedoc.config.mjs';

const { emit: _, entryPoints, ...options } = gate;
const root = fileURLToPath(new URL('..', import.meta.url));

/** Renames `packages/core/src/http` to `@sluice/core/http`. @param {import('typedoc').Application} app */
function publishedNames({ converter }) {
  converter.on('resolveBegin', ({ project }) => {
    for (const entry of project.children ?? [])
      entry.name = entry.name.replace(/^(?:packages|tools)\/([\w-]+)\/src/, '@sluice/$1');
  });
}

/** The subjects of core, in the order of its pages, and the rooms of its sources that they are in. */
const SUBJECTS = new Map([
  ['Limiters', ['limiter']],
  ['Limits', ['limits', 'definitions', 'kinds', 'calendar', 'rule']],
  ['Keys', ['keys', 'ids', 'client']],
  ['Decisions', ['decision', 'http']],
  ['Stores', ['store', 'time', 'async']],
  ['Failures and events', ['failure', 'events', 'checks']],
]);

/** Puts what core exports under the subject of its room. @param {import('typedoc').Application} app */
function bySubject({ converter }) {
  converter.on('resolveBegin', ({ project }) => {
    const core = project.children?.find(({ name }) => name === '@sluice/core');
    for (const each of core?.children ?? []) {
      const [, room = ''] = /src\/(\w+)\//.exec(project.getSymbolIdFromReflection(each)?.packagePath ?? '') ?? [];
      const subject = [...SUBJECTS.keys()].find((name) => SUBJECTS.get(name)?.includes(room));
      if (subject === undefined) throw new Error(`site/typedoc.config.mjs has no subject for ${each.name} in ${room}.`);
      for (const commented of each.signatures ?? [each]) {
        commented.comment ??= new Comment();
        commented.comment.blockTags.push(new CommentTag('@category', [{ kind: 'text', text: subject }]));
      }
    }
  });
}

export default {
  ...options,
  // The kits are for the packages of this family alone.
  entryPoints: entryPoints.filter((entry) => !entry.endsWith('kit.ts')).map((entry) => join(root, entry)),
  tsconfig: join(root, 'tsconfig.sources.json'),
  plugin: [fileURLToPath(import.meta.resolve('typedoc-plugin-markdown')), publishedNames, bySubject],
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
  // What a reader calls comes before what it takes and returns.
  groupOrder: ['Functions', 'Classes', 'Variables', 'Interfaces', 'Type Aliases'],
  kindSortOrder: ['Function', 'Class', 'Variable', 'Interface', 'TypeAlias'],
  sort: ['kind', 'alphabetical'],
  categorizeByGroup: false,
  categoryOrder: [...SUBJECTS.keys()],
  parametersFormat: 'table',
};
