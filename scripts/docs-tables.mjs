// `npm run trial -- docs-tables` writes the tables of docs/ that follow from the source: the events, the rooms, the
// commands, and the causes of errors. A test fails when they differ from what is there.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ALERTS, dashboard, prometheusRule, rules } from './alerts.mjs';
import { agentTexts } from './agent-texts.mjs';
import { formatted } from './formatted.mjs';
import { isProgram } from './is-program.mjs';
import { packageFolders } from './package-folders.mjs';
import { root } from './pnpm.mjs';

/** Where the tables are, and what makes them. A table is between two comments in its page. */
const TABLES = {
  'docs/architecture.md': { rooms },
  'docs/command-line.md': { commands },
  'docs/limits/watching.md': { instruments, alerts, events },
};
const OPERATOR_RULE = 'deploy/monitoring/prometheus-rule.yaml';
const ERRORS = 'docs/errors.md';
/**
 * The functions whose option `onEvent` gets events of a type.
 *
 * @type {Readonly<Record<string, string>>}
 */
const EMITTERS = {
  LimiterEvent: '`createLimiter`',
  RedisStoreEvent: '`redisStore`, `leasedStore`',
  LeasedStoreEvent: '`leasedStore`',
  HostStoreEvent: '`hostStore`',
  LimitFilesEvent: '`watchLimits`',
  ServiceEvent: '`openService`',
};
const FIRST = ['core', 'redis', 'host', 'postgres'].map((name) => `packages/${name}`);
const PACKAGES = [...new Set([...FIRST, ...packageFolders(root)])];

/** @typedef {import('../tools/cli/src/console/command.ts').Command} Command */

if (isProgram(import.meta.url)) {
  for (const [page, text] of await pagesWithTables()) writeFileSync(join(root, page), text);
  for (const [file, text] of await agentTexts()) writeFileSync(join(root, file), text);
}

/**
 * The pages as they should be.
 *
 * @returns {Promise<readonly (readonly [page: string, text: string])[]>}
 */
export async function pagesWithTables() {
  const pages = Object.entries(TABLES).map(async ([page, tables]) => {
    let text = textOf(page);
    // oxlint-disable-next-line no-await-in-loop -- the second one is in the text with the first
    for (const [name, table] of Object.entries(tables)) text = withTable(text, name, await table());
    return /** @type {const} */ ([page, await formatted(page, text)]);
  });
  const errors = /** @type {const} */ ([ERRORS, await formatted(ERRORS, withCauses(textOf(ERRORS)))]);
  return [...(await Promise.all(pages)), errors, ...(await metricsFiles())];
}

/**
 * @param {string} page
 * @param {string} name
 * @param {string} table
 */
function withTable(page, name, table) {
  const [begin, end] = [`<!-- ${name}: npm run trial -- docs-tables -->`, '<!-- end -->'];
  const at = page.indexOf(begin);
  if (at < 0) throw new Error(`No page has the line ${begin}.`);
  return `${page.slice(0, at)}${begin}\n\n${table}\n\n${page.slice(page.indexOf(end, at))}`;
}

/** The events of all packages: the members of their types, with the first sentence of their comments. */
function events() {
  const rows = sources().flatMap((file) => {
    const source = ts.createSourceFile(file, textOf(file), ts.ScriptTarget.Latest, true);
    return source.statements.flatMap((statement) => eventsOf(statement, source));
  });
  const emitters = [...new Set(rows.map(([, emitter]) => emitter))];
  return emitters
    .map((emitter) => {
      const own = rows.filter((row) => row[1] === emitter);
      return `Emitted by ${emitter}:\n\n${own.map(([types, , when]) => `- ${types}: ${when}`).join('\n')}`;
    })
    .join('\n\n');
}

/** What a limiter can be asked for metrics. */
async function instruments() {
  const { INSTRUMENTS } = await import('../packages/core/src/counts/instruments.ts');
  return INSTRUMENTS.map(
    ({ name, type, unit, attributes, description }) =>
      `- \`${name}\` (${[type, unit, ...attributes.map((each) => `\`${each}\``)].join(', ')}): ${description}`,
  ).join('\n');
}

function alerts() {
  return ALERTS.map(({ name, summary, advice }) => `- **${summary}** (\`${name}\`): ${advice}`).join('\n');
}

/** Alerts and a dashboard, for Prometheus and Grafana. */
async function metricsFiles() {
  const { INSTRUMENTS } = await import('../packages/core/src/counts/instruments.ts');
  const { prometheusName } = await import('../packages/core/src/counts/metrics-text.ts');
  return /** @type {const} */ ([
    ['docs/metrics/rules.yml', await formatted('docs/metrics/rules.yml', rules())],
    [OPERATOR_RULE, await formatted(OPERATOR_RULE, prometheusRule())],
    ['docs/metrics/grafana.json', await formatted('docs/metrics/grafana.json', dashboard(INSTRUMENTS, prometheusName))],
    [
      'docs/metrics/grafana-opentelemetry.json',
      await formatted(
        'docs/metrics/grafana-opentelemetry.json',
        dashboard(INSTRUMENTS, (each) => prometheusName({ ...each, unit: '' }), 'Sluice OpenTelemetry'),
      ),
    ],
  ]);
}

/**
 * @param {ts.Statement} statement
 * @param {ts.SourceFile} source
 * @returns {string[][]}
 */
function eventsOf(statement, source) {
  if (ts.isInterfaceDeclaration(statement) && statement.name.text.endsWith('Event')) {
    return rowsOf(statement.name.text, [
      { types: typesOf(statement.members, source), comment: commentBefore(source, statement) },
    ]);
  }
  if (!ts.isTypeAliasDeclaration(statement) || !statement.name.text.endsWith('Event')) return [];
  const members = ts.isUnionTypeNode(statement.type) ? [...statement.type.types] : [statement.type];
  let from = statement.type.getFullStart();
  const found = members.map((member) => {
    const comment = firstSentence(source.text.slice(from, member.getStart(source)));
    from = member.getEnd();
    return { types: ts.isTypeLiteralNode(member) ? typesOf(member.members, source) : [], comment };
  });
  return rowsOf(statement.name.text, found);
}

/**
 * One row for each comment: an event without one shares that of the event before.
 *
 * @param {string} type
 * @param {readonly { types: readonly string[], comment: string }[]} found
 */
function rowsOf(type, found) {
  /** @type {string[][]} */
  const rows = [];
  for (const { types, comment } of found.filter((each) => each.types.length > 0)) {
    const names = types.map((name) => `\`${name}\``).join(', ');
    const last = rows.at(-1);
    if (comment === '' && last !== undefined) last[0] += `, ${names}`;
    else rows.push([names, emitterOf(type), comment]);
  }
  return rows;
}

/**
 * The texts that the property `type` of an event can be. It is no event without a message.
 *
 * @param {ts.NodeArray<ts.TypeElement>} members
 * @param {ts.SourceFile} source
 */
function typesOf(members, source) {
  const properties = members.filter(ts.isPropertySignature);
  const isEvent = properties.some(({ name }) => name.getText(source) === 'message');
  const type = properties.find(({ name }) => name.getText(source) === 'type')?.type?.getText(source) ?? '';
  return isEvent ? [...type.matchAll(/'([^']+)'/g)].map(([, name]) => name ?? '') : [];
}

/** @param {string} type */
function emitterOf(type) {
  const emitter = EMITTERS[type];
  if (emitter === undefined) throw new Error(`Which functions have an option onEvent for ${type}? Add it to EMITTERS.`);
  return emitter;
}

/** The rooms of each package: the folders with a file whose first comment says what the room is. */
function rooms() {
  const heads = sources().flatMap((file) => {
    const [, name = '', about = ''] = /^\/\/ The room ([\w/-]+): ((?:.*\n\/\/ )*.*)\.\n/.exec(textOf(file)) ?? [];
    return name === '' ? [] : [{ file, name, about: about.replaceAll('\n// ', ' ') }];
  });
  const folders = new Set(
    sources()
      .filter((file) => file.split('/').length > 4)
      .map((file) => file.split('/').slice(0, 4).join('/')),
  );
  const headed = new Set(heads.map(({ file }) => file.split('/').slice(0, 4).join('/')));
  const missing = [...folders].filter((folder) => !headed.has(folder));
  if (missing.length > 0) throw new Error(`No file of ${missing.join(', ')} begins with "// The room …: …."`);
  const packages = [...new Set(heads.map(({ file }) => file.split('/').slice(0, 3).join('/')))];
  return packages
    .map((folder) => {
      const own = heads.filter(({ file }) => file.startsWith(`${folder}/`));
      const title = `**[${folder}](../${folder})**`;
      // Only the names of rooms of other packages are listed: the text is one click away.
      if (folder !== 'packages/core/src')
        return `${title}: ${own.map(({ file, name }) => `[${name}](../${file})`).join(', ')}`;
      return `${title}\n\n${own.map(({ file, name, about }) => `- [${name}](../${file}): ${about}`).join('\n')}`;
    })
    .join('\n\n');
}

/** The commands of `sluice`, from their help. */
async function commands() {
  const rows = (await allCommands()).map(({ name, summary, command }) => {
    const words = command.args.map((arg) => arg.name).join(' ');
    return [`\`${name} ${words}\``.replace(' `', '`'), summary];
  });
  return markdown(['`sluice …`', 'to'], rows);
}

/** @returns {Promise<readonly { name: string, summary: string, command: Command }[]>} */
async function allCommands() {
  const { table } = await import('../tools/cli/src/commands/table.ts');
  return Promise.all(
    [...table].map(async ([name, entry]) => ({ name, summary: entry.summary, command: await entry.load() })),
  );
}

/**
 * The page of errors, in which the first paragraph about each code is the comment of the code.
 *
 * @param {string} page
 */
function withCauses(page) {
  const source = textOf('packages/core/src/checks/errors.ts');
  const codes = [...source.matchAll(/ {2}\/\*\*((?:(?!\*\/)[^])*)\*\/\n {2}\| '(ERR_\w+)'/g)];
  return codes.reduce((text, [, comment = '', code = '']) => {
    const [before, after = ''] = text.split(new RegExp(`(?<=^## ${code}\\n\\n)[^]*?(?=\\n\\n|\\n$)`, 'm'));
    if (before === text) throw new Error(`${ERRORS} has no section ${code}.`);
    return `${before}${plain(comment)}${after}`;
  }, page);
}

/**
 * The first sentence of the comment in a text.
 *
 * @param {string} text
 */
function firstSentence(text) {
  const [, comment = ''] = /\/\*\*([^]*?)\*\//.exec(text) ?? [];
  return /^.*?\.(?= [A-Z`]|$)/.exec(plain(comment))?.[0].slice(0, -1) ?? '';
}

/**
 * @param {ts.SourceFile} source
 * @param {ts.Node} node
 */
function commentBefore(source, node) {
  return firstSentence(source.text.slice(node.getFullStart(), node.getStart(source)));
}

/** @param {string} comment */
function plain(comment) {
  return comment
    .replaceAll(/\s*\n\s*\* ?/g, ' ')
    .replaceAll(/\{@link (\w+)[^}]*\}/g, '`$1`')
    .trim();
}

/**
 * @param {readonly string[]} titles
 * @param {readonly (readonly string[])[]} rows
 */
function markdown(titles, rows) {
  const lines = [titles, titles.map(() => '---'), ...rows].map((cells) =>
    cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | '),
  );
  return lines.map((line) => `| ${line} |`).join('\n');
}

/** All sources of all packages, of core first. */
function sources() {
  return PACKAGES.flatMap((each) => {
    const folder = `${each}/src`;
    const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
    return files
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `${folder}/${file}`)
      .toSorted();
  });
}

/** @param {string} file from the root */
function textOf(file) {
  return readFileSync(join(root, file), 'utf8');
}
