import { nodeModule } from './node-module.ts';

// `customInspect` is off, because the inspection method of a user's class may return any length, or throw.
const INSPECTION = {
  depth: 1,
  breakLength: Infinity,
  maxStringLength: 80,
  maxArrayLength: 5,
  customInspect: false,
} as const;

/** Shows a value as Node's `util.inspect` does, in part. Throws what a getter or a Proxy of the value throws. */
export function inspect(value: unknown): string {
  const inspectByNode = nodeModule('node:util')?.inspect;
  return inspectByNode === undefined ? inspectAnywhere(value) : inspectByNode(value, INSPECTION);
}

/** As {@link inspect} where there is no `util.inspect`: the usual values alike, others only by their class. */
export function inspectAnywhere(value: unknown, depth: number = INSPECTION.depth): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `[Function${value.name === '' ? ' (anonymous)' : `: ${value.name}`}]`;
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value);
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (Array.isArray(value)) return depth < 0 ? '[Array]' : listed(value, depth);
  const className = classOf(value);
  if (depth < 0) return `[${className === '' ? 'Object' : className}]`;
  const members = Object.entries(value).map(
    ([key, member]) => `${keyText(key)}: ${inspectAnywhere(member, depth - 1)}`,
  );
  const braces = members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
  return className === '' ? braces : `${className} ${braces}`;
}

function quoted(text: string): string {
  const { maxStringLength } = INSPECTION;
  const omitted = text.length - maxStringLength;
  const shown = `'${text
    .slice(0, maxStringLength)
    .replaceAll('\\', '\\\\')
    .replaceAll("'", String.raw`\'`)}'`;
  return omitted <= 0 ? shown : `${shown}... ${omitted} more character${omitted === 1 ? '' : 's'}`;
}

function listed(values: readonly unknown[], depth: number): string {
  const shown = values.slice(0, INSPECTION.maxArrayLength).map((value) => inspectAnywhere(value, depth - 1));
  const omitted = values.length - shown.length;
  if (omitted > 0) shown.push(`... ${omitted} more item${omitted === 1 ? '' : 's'}`);
  return shown.length === 0 ? '[]' : `[ ${shown.join(', ')} ]`;
}

function keyText(key: string): string {
  return /^[A-Za-z_]\w*$/.test(key) ? key : quoted(key);
}

/** The name of the class of an object, empty for a plain one. */
function classOf(value: object): string {
  const prototype = Object.getPrototypeOf(value) as { readonly constructor?: { readonly name?: unknown } } | null;
  if (prototype === null) return '[Object: null prototype]';
  const name = prototype.constructor?.name;
  return prototype === Object.prototype || typeof name !== 'string' ? '' : name;
}
