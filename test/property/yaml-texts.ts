import fc from 'fast-check';

const SCALARS = ['a', 'b c', '7', '1m', 'null', '"q"', "'s'", '"x # y"', '-1', 'a#b', '', '&n v'];
const KEYS = ['A', 'count', '"id"', "'k'", 'a b'];
const BREAKS = ['', ' ', '\n', '\n ', '\n  ', '\n    ', ' # c\n  '];

const { flow } = fc.letrec<{ flow: string; entry: string }>((tie) => ({
  flow: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(...SCALARS),
    inBrackets('[', tie('flow'), ']'),
    inBrackets('{', tie('entry'), '}'),
  ),
  entry: fc
    .tuple(fc.constantFrom(...KEYS), fc.constantFrom(':', ': ', ': ', ':\n  '), tie('flow'))
    .map((parts) => parts.join('')),
}));

/** A collection in flow style. A line may end, with or without a comment, before and after each item. */
function inBrackets(open: string, item: fc.Arbitrary<string>, close: string): fc.Arbitrary<string> {
  const lineBreak = fc.constantFrom(...BREAKS);
  const items = fc.array(fc.tuple(lineBreak, item, lineBreak), { maxLength: 3 });
  return fc
    .tuple(items, fc.constantFrom('', '', ','), lineBreak)
    .map(([all, comma, end]) => `${open}${all.map((parts) => parts.join('')).join(',')}${comma}${end}${close}`);
}

const indented = (text: string): string => text.replaceAll('\n', '\n  ');

const { block } = fc.letrec<{ block: string; entry: string; item: string }>((tie) => ({
  block: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    flow,
    fc.array(tie('entry'), { minLength: 1, maxLength: 3 }).map((entries) => entries.join('\n')),
    fc.array(tie('item'), { minLength: 1, maxLength: 3 }).map((items) => items.join('\n')),
  ),
  entry: fc
    .tuple(fc.constantFrom(...KEYS), fc.constantFrom(': ', ':\n', ': # c\n', ': |\n', ': >-\n', ': &n\n'), tie('block'))
    .map(([key, colon, value]) => indented(`${key}${colon}${value}`)),
  item: fc
    .tuple(fc.constantFrom('- ', '-\n', '-   ', '- |\n', '- # c\n'), tie('block'))
    .map(([dash, value]) => indented(`${dash}${value}`)),
}));

const json = fc
  .tuple(fc.jsonValue({ maxDepth: 3, noUnicodeString: true }), fc.nat(4))
  .map(([value, indent]) => JSON.stringify(value, null, indent));

const IDLE = ['', ' ', '    ', '\t', '#', '# c', '  # c', '      # "a: [', '  #\t', '# c\r', '\r', '  \r'];
const PIECES = [
  ...',:[]{}"#-? \t\n'.split(''),
  ' ',
  '  ',
  '- ',
  ': ',
  '? ',
  '&n ',
  ' #',
  '|\n',
  '---\n',
  '...\n',
  '\r\n',
];

interface Change {
  readonly at: number;
  readonly change: (text: string, at: number) => string;
}

function changes(texts: readonly string[], change: (text: string) => Change['change']): fc.Arbitrary<Change> {
  return fc.record({ at: fc.nat(200), change: fc.constantFrom(...texts).map(change) });
}

/** Inserts a line with no value before any line, or at the end. */
const idleLine = changes(IDLE, (idle) => (text, at) => {
  const lines = text.split('\n');
  return lines.toSpliced(at % (lines.length + 1), 0, idle).join('\n');
});

/** Changes the indentation of a line. */
const indentation = changes(['', ' ', '  ', '    '], (indent) => (text, at) => {
  const lines = text.split('\n');
  return lines.with(at % lines.length, `${indent}${lines[at % lines.length]!.trimStart()}`).join('\n');
});

/** Inserts a few characters anywhere, which usually makes the text invalid. */
const piece = changes(PIECES, (inserted) => (text, at) => {
  const index = at % (text.length + 1);
  return `${text.slice(0, index)}${inserted}${text.slice(index)}`;
});

/**
 * Writes spaces around the `#` of a line with only a comment, where there is a tab or text, or an empty line before it.
 * After such lines the library forgets the indentation of the value around them, and misreads what follows.
 */
const withPlainComments = (text: string): string =>
  text
    .replaceAll(/^([ \t]*)#\S?/gm, (_, indent: string) => `${indent.replaceAll('\t', ' ')}# `)
    .replaceAll(/^( *\n)#/gm, '$1 #');

/** A short text of YAML or JSON, many of them invalid, with comments and empty lines anywhere. */
export const yamlText: fc.Arbitrary<string> = fc
  .record({
    text: fc.oneof({ weight: 3, arbitrary: block }, { weight: 1, arbitrary: json }),
    idle: fc.array(idleLine, { maxLength: 5 }),
    mistakes: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 2, arbitrary: fc.array(fc.oneof(indentation, piece), { maxLength: 3 }) },
    ),
    lineEnd: fc.constantFrom('', '\n', '\r\n'),
    windows: fc.boolean(),
  })
  .map(({ text, idle, mistakes, lineEnd, windows }) => {
    const changed = [...mistakes, ...idle].reduce((before, { at, change }) => change(before, at), `${text}${lineEnd}`);
    const written = withPlainComments(windows ? changed.replaceAll(/\r?\n/g, '\r\n') : changed);
    // The library takes a carriage return for text where no line feed follows, even at the end.
    return written.replace(/\r$/, '');
  });
