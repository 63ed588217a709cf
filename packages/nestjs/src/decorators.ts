import type { ExecutionContext } from '@nestjs/common';
import type { LimitUse } from '@sluice/core/http';
import { complaint } from '@sluice/core/kit';
import type { SettleArgs } from './admission.ts';

/** A limit of a handler: its name, or its name with a cost, a mode, a share or `settle`. */
export type HandlerLimit<Name extends string = string> = Name | LimitUse<ExecutionContext, SettleArgs, Name>;

/** A decorator of a class, and of a method. */
export type HandlerDecorator = (target: object, name?: string | symbol, descriptor?: PropertyDescriptor) => void;

/** What a class or a method is decorated with. */
interface Decorations {
  readonly limits: readonly HandlerLimit[];
  /** The names of limits that do not apply; empty for all; undefined without `@Unlimited`. */
  readonly without: readonly string[] | undefined;
}

const NONE: Decorations = { limits: [], without: undefined };
const KEY = '@sluice/nestjs:limits';

/**
 * Limits the handlers of a class, or one handler, in addition to the limits of the module, and for a handler to those of
 * its class: all of them are decided together. A limit that is named again is used as it is named last.
 *
 *     @Limits('RequestsPerClient')
 *     @Controller('orders')
 *     class OrdersController {
 *       @Limits({ limit: 'OrdersPerAccount', cost: 10 })
 *       @Post()
 *       create() {}
 *     }
 *
 * The names are checked when the application starts.
 *
 * @throws {SluiceError} `ERR_OPTION` without a limit.
 */
export function Limits<Name extends string = string>(...limits: readonly HandlerLimit<Name>[]): HandlerDecorator {
  if (limits.length === 0) {
    const remedy = "For example @Limits('RequestsPerClient'). For a handler without limits: @Unlimited().";
    throw complaint('ERR_OPTION', { option: '@Limits', demand: 'given at least one limit', value: undefined, remedy });
  }
  // The decorators of a target are called from the last to the first.
  return decorator((own) => ({ ...own, limits: [...limits, ...own.limits] }));
}

/**
 * Exempts the handlers of a class, or one handler, from the limits of the module, and for a handler from those of its class:
 * from those that are named, or from all. `@Limits` on the same class or handler still applies.
 *
 *     @Unlimited()
 *     @Get('health')
 *     health() {}
 *
 * @param names - The names of limits. Default: all of them.
 */
export function Unlimited(...names: readonly string[]): HandlerDecorator {
  return decorator(({ limits, without }) => ({
    limits,
    without: names.length === 0 || without?.length === 0 ? [] : [...names, ...(without ?? [])],
  }));
}

function decorator(change: (own: Decorations) => Decorations): HandlerDecorator {
  return (target, _name, descriptor) => {
    const decorated = (descriptor?.value ?? target) as object;
    const own = (Reflect.getOwnMetadata(KEY, decorated) ?? NONE) as Decorations;
    Reflect.defineMetadata(KEY, change(own), decorated);
  };
}

/** Returns what a class or a method is decorated with. A class without decorators has those of the class that it extends. */
export function decorationsOf(target: object): Decorations {
  return (Reflect.getMetadata(KEY, target) ?? NONE) as Decorations;
}

/**
 * Returns the limits of a handler.
 *
 * @param base - The options of the module.
 * @param targets - The class and the handler.
 */
export function limitsOfHandler(base: readonly HandlerLimit[], targets: readonly object[]): readonly HandlerLimit[] {
  return targets.map(decorationsOf).reduce(limitsWith, base);
}

/** Returns inherited limits, changed by the decorators of a class or a method. */
function limitsWith(inherited: readonly HandlerLimit[], { limits, without }: Decorations): readonly HandlerLimit[] {
  const kept =
    without === undefined ? inherited : inherited.filter((use) => without.length > 0 && !without.includes(nameOf(use)));
  return limits.reduce(withUse, kept);
}

/** A limit that is named again keeps its place. */
function withUse(uses: readonly HandlerLimit[], use: HandlerLimit): readonly HandlerLimit[] {
  const isKnown = uses.some((known) => nameOf(known) === nameOf(use));
  return isKnown ? uses.map((known) => (nameOf(known) === nameOf(use) ? use : known)) : [...uses, use];
}

function nameOf(use: HandlerLimit): string {
  return typeof use === 'string' ? use : use.limit;
}
