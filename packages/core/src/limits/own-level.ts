import type { Limit } from './limit.ts';

/** Returns the level that a limit has by itself; undefined for those whose levels are in a store. */
export function ownLevelOf({ kind, own }: Pick<Limit<never>, 'kind' | 'own'>): number | undefined {
  return kind.level === 'own' ? (own as { readonly level: number }).level : undefined;
}
