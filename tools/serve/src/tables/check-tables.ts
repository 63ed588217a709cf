import type { LimitDefinition, Limits } from '@sluice/core';
import { listed, shownName } from '@sluice/core/kit';
import type { Position, Problems } from '@sluice/config/kit';
import type { EnvoyRule, HttpRule, Tables } from './table.ts';

/** Validates tables together with the limits that they name. */
export function checkTables(tables: Tables, limits: Limits, problems: Problems): void {
  const check = new TableCheck(new Map(Object.entries(limits)), problems);
  for (const { rules } of tables.http.values()) for (const rule of rules) check.httpRule(rule);
  for (const { rules } of tables.envoy.values()) check.envoyRules(rules);
  for (const [limit, { at }] of tables.onFailure) check.known(limit, at);
}

class TableCheck {
  readonly #limits: ReadonlyMap<string, LimitDefinition>;
  readonly #problems: Problems;

  constructor(limits: ReadonlyMap<string, LimitDefinition>, problems: Problems) {
    this.#limits = limits;
    this.#problems = problems;
  }

  httpRule({ limit, limitAt, id, idAt, cost, costAt }: HttpRule): void {
    const definition = this.#usable(limit, limitAt);
    if (definition === undefined) return;
    const burst = burstOf(definition as { burst?: number; count?: number });
    if (cost > burst) {
      const message = `\`cost\` must be at most the burst of the limit \`${limit}\`, which is ${burst}, but was ${cost}. Such a request could never pass.`;
      this.#problems.add(costAt, message, limit);
    }
    const isEveryone = definition.key!.format.name === 'everyone';
    if (isEveryone === (id.from === 'everyone')) return;
    const message = isEveryone
      ? `\`id\` must be left out for the limit \`${limit}\`, whose idFormat is everyone: it has one bucket.`
      : `\`id\` must be given for the limit \`${limit}\`: address, host, method, path, or { header: name }. For example id: address.`;
    this.#problems.add(idAt, message, limit);
  }

  envoyRules(rules: readonly EnvoyRule[]): void {
    const blocked = new Set(rules.flatMap(({ name }) => name ?? []));
    for (const rule of rules) {
      const { name, nameAt } = rule;
      if (name !== undefined && this.#limits.has(name))
        this.#problems.add(nameAt, `\`name\` must not be that of a limit, but was '${name}'. Choose another.`, name);
      for (const replaced of rule.replaces) if (!blocked.has(replaced)) this.known(replaced, rule.replacesAt);
      this.#envoyRule(rule);
    }
  }

  #envoyRule(rule: EnvoyRule): void {
    const { limit, limitAt } = rule;
    if (limit === undefined) return;
    const definition = this.#usable(limit, limitAt);
    if (definition === undefined) return;
    if ('maxDebt' in definition && definition.maxDebt !== undefined && rule.report === undefined) {
      const message =
        `The limit \`${limit}\` has a maxDebt, so its costs are reported after the work. Its rule must say \`report: charge\`: ` +
        'Envoy ignores the answer to such a report, and a cost that is denied would never be counted. Write report: spend if Envoy asks before the work.';
      this.#problems.add(rule.at, message, limit);
    }
  }

  /** Reports a name that is not that of a limit. */
  known(limit: string, at: Position): boolean {
    if (this.#limits.has(limit)) return true;
    const message = `\`${shownName(limit)}\` is not the name of a limit. Limits: ${listed(this.#limits.keys())}.`;
    this.#problems.add(at, message, limit);
    return false;
  }

  /** Returns the definition of a limit that can be decided for a proxy. */
  #usable(limit: string, at: Position): LimitDefinition | undefined {
    if (!this.known(limit, at)) return undefined;
    const definition = this.#limits.get(limit)!;
    const why = unusable(definition);
    if (why === undefined) return definition;
    this.#problems.add(at, `The limit \`${limit}\` can't be in a table: ${why}`, limit);
    return undefined;
  }
}

/** The most tokens of a rate or a quota. */
function burstOf({
  burst,
  count,
}: {
  readonly burst?: number | undefined;
  readonly count?: number | undefined;
}): number {
  return burst ?? count ?? Infinity;
}

function unusable(definition: LimitDefinition): string | undefined {
  if (definition.key!.format.name === 'missing')
    return 'it has no idFormat in the file of limits. For example idFormat: clientNetwork.';
  const has = (name: string): boolean => (definition as unknown as Record<string, unknown>)[name] !== undefined;
  if (has('concurrency'))
    return 'a service that a proxy asks does not see when a request ends. Use a limit with a period.';
  if (has('load')) return 'it would measure the load of this service, not that of yours. Use a limit with a period.';
  if (has('maxWait')) return 'a proxy does not wait for its answer that long. Leave maxWait out.';
  return undefined;
}
