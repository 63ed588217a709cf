import type { ExecutionContext, OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { createLimiter, SluiceError, type Awaitable, type Limiter, type LimiterOptions } from '@sluice/core';
import { flowSettings, limitUses, type FlowOptions, type SharedLimits, type SlotOptions } from '@sluice/core/http';
import { isPlainObject, limitsOf, listed } from '@sluice/core/kit';
import {
  admit,
  CONTEXT_OPTIONS,
  type Admission,
  type ContextOptions,
  type RateLimitOptions,
  type Settings,
  type SettleArgs,
} from './admission.ts';
import { checkedContexts, missingResolver } from './contexts.ts';
import { decorationsOf, limitsOfHandler, type HandlerLimit } from './decorators.ts';
import { handlersOf, isGuarded, isGuardReplaced, timesProvided, type FoundHandler } from './found-handlers.ts';
import { HANDLER_ADMISSION, type HandlerAdmission } from './rate-limit-guard.ts';

/**
 * The options of `RateLimitModule`: those of {@link rateLimit}, or limits with the options of a limiter that the module
 * makes, and closes when the application shuts down. It does not close a limiter that is given to it.
 */
export type RateLimitModuleOptions<Name extends string = string> = RateLimitOptions<Name> | ModuleLimiter<Name>;

/** The options of a module that makes its limiter. */
export type ModuleLimiter<Name extends string = string> = Omit<
  SharedLimits<ExecutionContext, SettleArgs, Name>,
  'limiter'
> &
  FlowOptions<ExecutionContext> &
  SlotOptions<SettleArgs> &
  ContextOptions & {
    /** The options of `createLimiter`. */
    readonly limiter: LimiterOptions<ExecutionContext, Name>;
  };

/** What is used of a Nest application to find its handlers. */
export interface Application {
  readonly modules: ModulesContainer;
  readonly config: ApplicationConfig;
}

/** The limits of all handlers of an application: by the options of the module, and by decorators. */
export class HandlerLimits implements HandlerAdmission, OnModuleInit, OnApplicationShutdown {
  readonly #base: Settings;
  /** The limits of the module for handlers. */
  readonly #limits: readonly HandlerLimit[];
  readonly #admission: Admission;
  readonly #application: Application;
  /** The limiter, if the module made it. */
  readonly #own: Pick<Limiter, 'close'> | undefined;
  readonly #known = new WeakMap<object, WeakMap<object, Settings | null>>();

  constructor(options: RateLimitModuleOptions, application: Application) {
    const contexts = checkedContexts((options as ContextOptions | null | undefined)?.contexts);
    const { limiter, own } = limiterOf(options);
    try {
      const { base, hasLimits } = baseSettings({ ...options, ...limiter } as RateLimitOptions);
      this.#base = base;
      this.#limits = hasLimits ? base.uses : [];
    } catch (error) {
      void own?.close();
      throw error;
    }
    // The limiter of a limit by its numbers is made by `flowSettings`, and nobody else has it.
    this.#own = own ?? ('limiter' in options ? undefined : (this.#base.limiter as unknown as Limiter));
    this.#admission = { contexts, onDenied: options.onDenied };
    this.#application = application;
  }

  admit(context: ExecutionContext): Awaitable<true> {
    const settings = this.settingsOf(context.getClass(), context.getHandler());
    return settings === null || admit(this.#admission, settings, context);
  }

  /**
   * Returns the limits of a handler; `null` when it has none.
   *
   * @throws {SluiceError} When its decorators are wrong.
   */
  settingsOf(type: object, handler: object): Settings | null {
    const known = this.#known.get(type)?.get(handler);
    if (known !== undefined) return known;
    const settings = this.#createSettings(type, handler);
    const ofType = this.#known.get(type) ?? new WeakMap<object, Settings | null>();
    this.#known.set(type, ofType.set(handler, settings));
    return settings;
  }

  #createSettings(type: object, handler: object): Settings | null {
    const targets = [type, handler];
    for (const { without = [] } of targets.map(decorationsOf)) {
      for (const name of without) this.#base.limiter.assertLimit(name);
    }
    const limits = limitsOfHandler(this.#limits, targets);
    if (limits.length === 0) return null;
    return limits === this.#limits ? this.#base : { ...this.#base, ...limitUses(this.#base.limiter, limits) };
  }

  /**
   * Checks the limits of all handlers.
   *
   * @throws {SluiceError} When a decorator is wrong, or a handler with limits is called in a context without a resolver.
   */
  async onModuleInit(): Promise<void> {
    try {
      this.#checkHandlers();
    } catch (error) {
      await this.#own?.close();
      throw error;
    }
  }

  #checkHandlers(): void {
    const { modules, config } = this.#application;
    if (timesProvided(HANDLER_ADMISSION, modules) > 1) throw importedTwice();
    const unguarded: FoundHandler[] = [];
    // Without any guard its provider was forgotten, and the limits of the module have no effect either.
    let isForgotten = true;
    for (const handler of handlersOf(modules)) {
      if (this.#checked(handler) === null) continue;
      if (isGuarded(handler, config)) {
        isForgotten = false;
        this.#checkContext(handler);
      } else unguarded.push(handler);
    }
    if (isGuardReplaced(modules)) return;
    const warned = unguarded.filter(
      (handler) => this.#expectsGuard(handler) || (isForgotten && handler.context === 'http'),
    );
    this.#warn(
      noGuard,
      warned.filter(({ callsGuards }) => callsGuards),
    );
    this.#warn(
      noGuardOfFields,
      warned.filter(({ callsGuards }) => !callsGuards),
    );
  }

  #warn(messageFor: (handlers: readonly string[]) => string, handlers: readonly FoundHandler[]): void {
    if (handlers.length === 0) return;
    this.#base.limiter.emit({ type: 'warning', message: messageFor(handlers.map(({ name }) => name)), once: true });
  }

  #checked({ name, type, handler }: FoundHandler): Settings | null {
    try {
      return this.settingsOf(type, handler);
    } catch (cause) {
      const { code, message } = cause as SluiceError;
      throw new SluiceError(code, `The limits of ${name} are wrong. ${message}`, { cause });
    }
  }

  #checkContext({ name, context }: FoundHandler): void {
    if (!Object.hasOwn(this.#admission.contexts, context)) throw missingResolver(context, name);
  }

  /** Whether a handler without a guard seems to be limited: by its decorators, or as a message of a gateway. */
  #expectsGuard({ type, handler, context, callsGuards }: FoundHandler): boolean {
    if (context === 'ws' && this.#admission.contexts['ws'] !== undefined) return true;
    // The limits of a class of resolvers are meant for its queries.
    const targets = callsGuards ? [type, handler] : [handler];
    return targets.some((target) => decorationsOf(target).limits.length > 0);
  }

  /** Closes the limiter, if the module made it. Connections are closed by then, so requests were settled. */
  async onApplicationShutdown(): Promise<void> {
    await this.#own?.close();
  }
}

function importedTwice(): SluiceError {
  return new SluiceError(
    'ERR_OPTION',
    'RateLimitModule must be imported once, but was imported several times with different options, and it would be undefined ' +
      'which of them a guard uses. Define all limits in one limiter, and name them with @Limits. For a limit of a single handler: @UseGuards(rateLimit({ … })).',
  );
}

function noGuard(handlers: readonly string[]): string {
  return (
    `The limits of ${listed(handlers)} have no effect, because no RateLimitGuard guards them. For one class or handler: ` +
    '@UseGuards(RateLimitGuard). For all but those of gateways: providers: [{ provide: APP_GUARD, useExisting: RateLimitGuard }].'
  );
}

function noGuardOfFields(handlers: readonly string[]): string {
  return (
    `The limits of ${listed(handlers)} have no effect, because Nest calls no guards for resolvers of fields. To limit them, set ` +
    "fieldResolverEnhancers: ['guards'] in the options of GraphQLModule. Each of their calls then counts."
  );
}

interface ModuleLimiterParts {
  /** Replaces the option. */
  readonly limiter: { readonly limiter: unknown } | undefined;
  readonly own: Limiter<ExecutionContext> | undefined;
}

/** Makes the limiter, if the options are those of one. A limiter has a method `spend`. */
function limiterOf(options: RateLimitModuleOptions): ModuleLimiterParts {
  const given: unknown = (options as { readonly limiter?: unknown } | null | undefined)?.limiter;
  if (!isPlainObject(given) || 'spend' in given) return { limiter: undefined, own: undefined };
  const own = createLimiter(given as unknown as LimiterOptions<ExecutionContext>);
  return { limiter: { limiter: own }, own };
}

interface BaseSettings {
  readonly base: Settings;
  readonly hasLimits: boolean;
}

/** Validates the options of the module. With `limits: []`, only handlers name limits. */
function baseSettings(options: RateLimitOptions): BaseSettings {
  const { limits, limiter } = options as Partial<SharedLimits<ExecutionContext, SettleArgs>>;
  const hasLimits = limiter === undefined || !Array.isArray(limits) || limits.length > 0;
  // The other options are validated with a limit that no handler has.
  const limit = hasLimits ? {} : { limits: [...limitsOf(limiter).keys()].slice(0, 1) };
  const validated = { ...options, ...limit } as RateLimitOptions;
  return { base: flowSettings<ExecutionContext, SettleArgs>(validated, CONTEXT_OPTIONS, CALLER), hasLimits };
}

const CALLER = 'RateLimitModule.forRoot';
