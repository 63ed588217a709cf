import type { DurationUnit, FieldName } from './line-parser.ts';

/** A value in a line, as the text of a format names it. */
interface Variable {
  readonly field: FieldName;
  /** As it is written: `$remote_addr`, `%h`. */
  readonly source: string;
}

/** What the text of a format says: fixed text and variables by turns, with fixed text first and last. */
export interface Notated {
  /** One more than there are variables. */
  readonly texts: readonly string[];
  readonly variables: readonly Variable[];
  readonly timeIs: 'end' | 'start';
  readonly durationUnit: DurationUnit;
}

/** How one server writes its formats. */
interface Notation {
  /** Whether a text is of this server. */
  readonly is: RegExp;
  /** A variable, with its name, and in `argument` what it is called with. */
  readonly variable: RegExp;
  readonly timeIs: Notated['timeIs'];
  /** Text that stands for several variables, or for none in a line. */
  readonly rewritten?: readonly (readonly [RegExp, string])[];
  /** @returns The field, or with one the unit of durations. */
  fieldOf(name: string, argument: string): FieldName | readonly [FieldName, DurationUnit];
}

const NGINX: Readonly<Record<string, FieldName>> = {
  remote_addr: 'address',
  time_local: 'time',
  time_iso8601: 'time',
  msec: 'time',
  request_method: 'method',
  request_uri: 'path',
  uri: 'path',
  request_time: 'duration',
  // Names of AWS, whose formats are written in this notation too.
  request_creation_time: 'started',
  timestamp: 'started',
};

const APACHE: Readonly<Record<string, FieldName>> = {
  h: 'address',
  a: 'address',
  r: 'request',
  m: 'method',
  U: 'path',
  s: 'status',
};

const HAPROXY: Readonly<Record<string, FieldName>> = {
  ci: 'address',
  tr: 'time',
  trg: 'time',
  trl: 'time',
  t: 'time',
  T: 'time',
  Tl: 'time',
  r: 'request',
  HM: 'method',
  HU: 'path',
  HP: 'path',
  ST: 'status',
  Ta: 'duration',
  Tt: 'duration',
};

const ENVOY: Readonly<Record<string, FieldName>> = {
  START_TIME: 'time',
  RESPONSE_CODE: 'status',
  DURATION: 'duration',
  DOWNSTREAM_REMOTE_ADDRESS: 'address',
  DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT: 'address',
  DOWNSTREAM_DIRECT_REMOTE_ADDRESS: 'address',
  DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT: 'address',
};

/** In the order in which a text is compared with them. */
const NOTATIONS: readonly Notation[] = [
  {
    is: /\$\{?\w/,
    variable: /\$(?:\{(?<braced>[^}]*)\}|(?<name>\w+))/,
    timeIs: 'end',
    fieldOf: (name) => NGINX[name] ?? headerOf(/^http_(.*)/, name) ?? name,
  },
  {
    is: /%[A-Z_]{3,}(?:\(.*?\))?(?::\d+)?%/,
    variable: /%(?<name>[A-Z_]+)(?:\((?<argument>.*?)\))?(?::\d+)?%/,
    timeIs: 'start',
    fieldOf(name, argument) {
      if (name === 'DURATION') return ['duration', 'ms'];
      if (name !== 'REQ') return ENVOY[name] ?? name;
      const [header = ''] = argument.split('?');
      if (header === ':METHOD') return 'method';
      if (argument.endsWith(':PATH')) return 'path';
      return header === ':AUTHORITY' ? 'header:host' : `header:${header.toLowerCase()}`;
    },
  },
  {
    is: /%(?:\{[^}]*\})?(?:ci|tr[gl]?|ST|HM|HU|Ta)\b/,
    variable: /%(?:\{(?<argument>[^}]*)\})?(?:\[(?<expression>[^\]]*)\]|(?<name>[A-Za-z]+))/,
    timeIs: 'start',
    rewritten: [
      [/%\{[^}]*\}o ?/g, ''],
      // Nothing is written for captured headers of a proxy that captures none.
      [/%h[rs] /g, ''],
      [/%\{\+Q\}(\[[^\]]*\]|[A-Za-z]+)/g, '"%$1"'],
    ],
    fieldOf: (name) => (name === 'Ta' || name === 'Tt' ? ['duration', 'ms'] : (HAPROXY[name] ?? name)),
  },
  {
    is: /%/,
    variable: /%[!\d,]*[<>]?(?:\{(?<argument>[^}]*)\})?(?<name>\^t[io]|[A-Za-z])/,
    timeIs: 'start',
    rewritten: [[/%(?:\{(?:begin:)?\})?t/g, '[%{}t]']],
    fieldOf(name, argument) {
      if (name === 't') return 'time';
      if (name === 'D') return ['duration', 'us'];
      if (name === 'T') return ['duration', argument === 'ms' || argument === 'us' ? argument : 's'];
      return name === 'i' ? `header:${argument.toLowerCase()}` : (APACHE[name] ?? name);
    },
  },
];

/** Where an address is looked for if the text of a format has no other. */
const OTHER_ADDRESSES = ['proxy_protocol_addr', 'header:x-forwarded-for', 'proxy_add_x_forwarded_for'];

/**
 * Reads the text of a format as its server has it: a `log_format` of nginx, a `LogFormat` of Apache, a `log-format` of HAProxy, or a
 * format string of Envoy. It may be the whole directive.
 */
export function notated(given: string): Notated {
  const text = formatText(given);
  const notation = NOTATIONS.find(({ is }) => is.test(text)) ?? NOTATIONS[0]!;
  const { variable, timeIs, rewritten = [] } = notation;
  const plain = rewritten.reduce((sum, [pattern, other]) => sum.replace(pattern, other), text);
  const texts: string[] = [];
  const variables: Variable[] = [];
  let durationUnit: DurationUnit = 's';
  let at = 0;
  for (const match of plain.matchAll(new RegExp(variable, 'g'))) {
    const { name, braced, expression, argument = '' } = match.groups!;
    const found = notation.fieldOf(name ?? braced ?? expression!, argument);
    const [field, unit] = typeof found === 'string' ? [found] : found;
    if (unit !== undefined) durationUnit = unit;
    texts.push(plain.slice(at, match.index).replaceAll('%%', '%'));
    variables.push({ field, source: match[0].replace('{}', '') });
    at = match.index + match[0].length;
  }
  texts.push(plain.slice(at).replaceAll('%%', '%'));
  return { ...joined(texts, withAddress(variables)), timeIs, durationUnit };
}

/** A header in which proxies list addresses is the only address of some logs. */
function withAddress(variables: readonly Variable[]): readonly Variable[] {
  const has = (field: FieldName): boolean => variables.some((each) => each.field === field);
  const other = has('address') ? undefined : OTHER_ADDRESSES.find(has);
  return variables.map((each) => (each.field === other ? { ...each, field: 'address' } : each));
}

/** Joins variables without text between them, and the parts of a time: nothing shows where one ends. */
function joined(all: readonly string[], variables: readonly Variable[]): Pick<Notated, 'texts' | 'variables'> {
  const texts: string[] = [all[0]!];
  const kept: Variable[] = [];
  for (const [i, variable] of variables.entries()) {
    const [before, last] = [all[i]!, kept.at(-1)];
    const isPart = last !== undefined && (before === '' || (before === '.' && last.field === 'time'));
    if (isPart && (before === '' || variable.field === 'time')) {
      kept[kept.length - 1] = KNOWN.test(last.field) ? last : variable;
      texts[texts.length - 1] = all[i + 1]!;
    } else {
      kept.push(variable);
      texts.push(all[i + 1]!);
    }
  }
  return { texts, variables: kept };
}

/** The fields that are looked for. */
const KNOWN = /^(?:time|started|duration|address|request|method|path|status|header:.*)$/;

function headerOf(pattern: RegExp, name: string): FieldName | undefined {
  const [, header] = pattern.exec(name) ?? [];
  return header === undefined ? undefined : `header:${header.replaceAll('_', '-')}`;
}

/** The name of a directive with what comes before the text: the name of the format in nginx, `escape=json`. */
const DIRECTIVE = /^\s*(?:log_format\s+\S+\s+(?:escape=\w+\s+)?|LogFormat\s+|log-format\s+)/;
const QUOTED = /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/g;

/**
 * Returns the text of a format that is written as in a configuration: as the whole directive, in quotes, and in several parts with
 * quotes.
 */
export function formatText(text: string): string {
  const parts = text.replace(DIRECTIVE, '').replace(/;\s*$/, '').trim();
  if (!DIRECTIVE.test(text) && !/^'[^]*'$/.test(parts)) return text;
  const quoted = [...parts.matchAll(QUOTED)];
  // HAProxy takes text without quotes, in which spaces are escaped.
  if (quoted.length === 0 || !/^['"]/.test(parts)) return parts.replace(/\\(.)/g, '$1');
  // The name of a format of Apache follows its text.
  const used = /^\s*LogFormat/.test(text) ? quoted.slice(0, 1) : quoted;
  return used.map(([, single, double]) => (single ?? double)!.replace(/\\(.)/g, '$1')).join('');
}
