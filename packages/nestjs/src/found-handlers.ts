import { MetadataScanner, type ApplicationConfig, type ModulesContainer } from '@nestjs/core';
import { RateLimitGuard } from './rate-limit-guard.ts';

/** A handler of an application. */
export interface FoundHandler {
  /** For messages: `OrdersController.create`. */
  readonly name: string;
  readonly type: object;
  readonly handler: object;
  /** The type of the contexts in which it is called. */
  readonly context: string;
  /** Whether Nest calls guards for it. Resolvers of fields have none, unless the options of `GraphQLModule` say so. */
  readonly callsGuards: boolean;
}

const FIELD_METADATA = 'graphql:resolve_property';

/** The metadata by which Nest knows a handler of each context. */
const HANDLER_METADATA: readonly (readonly [context: string, key: string])[] = [
  ['http', 'path'],
  ['rpc', 'microservices:pattern'],
  ['ws', 'websockets:message_mapping'],
  ['graphql', 'graphql:resolver_type'],
  ['graphql', FIELD_METADATA],
];

/** Returns all handlers of an application. */
export function handlersOf(modules: ModulesContainer): readonly FoundHandler[] {
  const all = [...modules.values()].flatMap(({ controllers, providers }) => [
    ...controllers.values(),
    ...providers.values(),
  ]);
  const guardsFields = areFieldsGuarded(modules);
  return [...new Set(all.map(({ metatype }) => metatype))]
    .filter(isClass)
    .flatMap((type) => handlersOfClass(type, guardsFields));
}

/** The options of `GraphQLModule` are the value of this provider. */
const GRAPHQL_OPTIONS = 'GqlModuleOptions';

function areFieldsGuarded(modules: ModulesContainer): boolean {
  return [...modules.values()].some(({ providers }) => {
    const options: unknown = providers.get(GRAPHQL_OPTIONS)?.instance;
    const { fieldResolverEnhancers } = (options ?? {}) as { readonly fieldResolverEnhancers?: readonly string[] };
    return fieldResolverEnhancers?.includes('guards') === true;
  });
}

type Class = new (...args: never[]) => object;

function isClass(value: unknown): value is Class {
  return typeof value === 'function' && typeof value.prototype === 'object';
}

function handlersOfClass(type: Class, guardsFields: boolean): readonly FoundHandler[] {
  const methods = new MetadataScanner().getAllMethodNames(type.prototype as object);
  return methods.flatMap((method) => {
    const handler = (type.prototype as Record<string, object>)[method]!;
    return HANDLER_METADATA.filter(([, key]) => Reflect.hasMetadata(key, handler)).map(([context, key]) => ({
      name: `${type.name}.${method}`,
      type,
      handler,
      context,
      callsGuards: key !== FIELD_METADATA || guardsFields,
    }));
  });
}

const GUARDS = '__guards__';

/**
 * Whether a {@link RateLimitGuard} guards a handler.
 *
 * @param config - Has the guards of the whole application.
 */
export function isGuarded({ type, handler, context, callsGuards }: FoundHandler, config: ApplicationConfig): boolean {
  if (!callsGuards) return false;
  const guards: readonly unknown[] = [type, handler].flatMap(
    (target) => (Reflect.getMetadata(GUARDS, target) ?? []) as unknown[],
  );
  // Nest calls no guards of the application for messages of gateways.
  if (context === 'ws') return guards.some(isRateLimitGuard);
  const global: readonly unknown[] = [
    ...config.getGlobalGuards(),
    ...config.getGlobalRequestGuards().map(({ metatype }) => metatype),
  ];
  return [...guards, ...global].some(isRateLimitGuard);
}

/** Guards are given as objects and as classes. */
function isRateLimitGuard(guard: unknown): boolean {
  if (guard instanceof RateLimitGuard || guard === RateLimitGuard) return true;
  return typeof guard === 'function' && guard.prototype instanceof RateLimitGuard;
}

/** How many modules have a provider of their own for a token. */
export function timesProvided(token: symbol, modules: ModulesContainer): number {
  return [...modules.values()].filter(({ providers }) => providers.has(token)).length;
}

/** Whether a test has replaced the guard: nothing is known of what guards handlers then. */
export function isGuardReplaced(modules: ModulesContainer): boolean {
  return [...modules.values()].some(({ providers }) => {
    const provider = providers.get(RateLimitGuard);
    return provider !== undefined && !(provider.instance instanceof RateLimitGuard);
  });
}
