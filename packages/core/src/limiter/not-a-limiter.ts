import { complaint, shown, SluiceError } from '../checks/errors.ts';

/** The folder from which this copy of the package was loaded. */
const HERE = placeOf(import.meta.url);

/** The property under which every limiter, of any copy of the package, has the folder of its copy. */
const PLACE = Symbol.for('@sluice/core: where the limiter’s copy was loaded from');

/** Marks the limiters of a class as created by this copy of the package. */
export function markAsMadeHere(prototype: object): void {
  Object.defineProperty(prototype, PLACE, { value: HERE });
}

/** Creates the error for a value that is not a limiter of this copy. The message names the probable mistake. */
export function notALimiter(value: unknown): SluiceError {
  const place = read(value, PLACE);
  if (typeof place === 'string' && place !== HERE) return ofAnotherCopy(place);
  if (place === HERE || typeof read(value, 'spend') === 'function') return wrapped(value);
  const remedy = 'For example const limiter = createLimiter({ limits: { … } }).';
  return complaint('ERR_OPTION', { option: 'limiter', demand: 'made by createLimiter', value, remedy });
}

function ofAnotherCopy(place: string): SluiceError {
  return new SluiceError(
    'ERR_OPTION',
    `\`limiter\` must be made by createLimiter of the same copy of @sluice/core, but two copies are loaded: it is from ${place}, this is ${HERE}. ` +
      'Install one version for all packages: `npm ls @sluice/core` shows who needs which, `npm dedupe` may be enough.',
  );
}

function wrapped(value: unknown): SluiceError {
  return new SluiceError(
    'ERR_OPTION',
    `\`limiter\` must be what createLimiter returned, but was another object: ${shown(value)}. A wrapper around a limiter does not work, because a middleware uses more than its public methods. ` +
      'To see its decisions, give createLimiter `onDecision`; to see failures, `onEvent`. ' +
      'For tests make a limiter with `time: new FakeTime()`.',
  );
}

/** Returns the folder of a copy of the package, from the URL of this module or of a bundle. Some bundles have no URL. */
export function placeOf(url: string | undefined): string {
  return url?.replace(/(limiter\/)?[^/]*$/, '') ?? 'a bundle';
}

/** Reads a property of any value; returns `undefined` when reading it throws. */
function read(value: unknown, name: PropertyKey): unknown {
  try {
    return (value as Record<PropertyKey, unknown>)[name];
  } catch {
    return undefined;
  }
}
