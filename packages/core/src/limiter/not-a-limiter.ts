import { complaint, shown, SluiceError } from '../checks/errors.ts';
import { HERE, ONE_VERSION } from '../runtime/copy.ts';

/** A copy of the package: an object of its own, because two bundles can load one folder twice. */
interface Copy {
  readonly place: string;
}

const THIS_COPY: Copy = Object.freeze({ place: HERE });

/** The property under which every limiter has its copy of the package, whichever copy that is. */
const COPY = Symbol.for('@sluice/core: the copy of the package that made the limiter');

/** Marks the limiters of a class as created by this copy of the package. */
export function markAsMadeHere(prototype: object): void {
  Object.defineProperty(prototype, COPY, { value: THIS_COPY });
}

/** Creates the error for a value that is not a limiter of this copy. The message names the probable mistake. */
export function notALimiter(value: unknown): SluiceError {
  const copy = read(value, COPY);
  const place = read(copy, 'place');
  if (typeof place === 'string' && copy !== THIS_COPY) return place === HERE ? ofAnotherBundle() : ofAnotherCopy(place);
  if (typeof read(value, 'spend') === 'function') return wrapped(value);
  const remedy = 'For example const limiter = createLimiter({ limits: { … } }).';
  return complaint('ERR_OPTION', { option: 'limiter', demand: 'made by createLimiter', value, remedy });
}

function ofAnotherCopy(place: string): SluiceError {
  return new SluiceError(
    'ERR_OPTION',
    `must be made by createLimiter of the same copy of @sluice/core, but two copies are loaded: it is from ${place}, this is ${HERE}. ${ONE_VERSION}`,
    { path: 'limiter' },
  );
}

function ofAnotherBundle(): SluiceError {
  return new SluiceError(
    'ERR_OPTION',
    `must be made by createLimiter of the same copy of @sluice/core, but ${HERE} is loaded twice, as by Next.js, where the proxy and each route are bundles of their own. ` +
      'Make a limiter in each bundle, and let all use one store, e.g. const store = (globalThis.limitStore ??= redisStore({ url })).',
    { path: 'limiter' },
  );
}

function wrapped(value: unknown): SluiceError {
  return new SluiceError(
    'ERR_OPTION',
    `must be what createLimiter returned, but was another object: ${shown(value)}. A wrapper around a limiter does not work, because a middleware uses more than its public methods. ` +
      'To see its decisions, give createLimiter `onDecision`; to see failures, `onEvent`. ' +
      'For tests make a limiter with `time: new FakeTime()`.',
    { path: 'limiter' },
  );
}

/** Reads a property of any value; returns `undefined` when reading it throws. */
function read(value: unknown, name: PropertyKey): unknown {
  try {
    return (value as Record<PropertyKey, unknown>)[name];
  } catch {
    return undefined;
  }
}
