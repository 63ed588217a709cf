// The room metrics: counters, their text for Prometheus, and events.
import type { Decision } from '@sluice/core';

/** What an answer was. `invalid`: the request could not be decided because it has no valid id. */
export type Answer = 'allowed' | 'denied' | 'unavailable' | 'invalid' | 'error';

/** One number, for Prometheus. */
export interface Sample {
  readonly name: string;
  /** As they are written between braces; '' for none. */
  readonly labels: string;
  readonly value: number;
}

/** The upper ends of the classes of durations, in seconds. */
const CLASSES = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5];

const HELP: Readonly<Record<string, readonly [type: string, help: string]>> = {
  sluice_decisions_total: ['counter', 'Answers to proxies, by table and outcome.'],
  sluice_limit_denials_total: [
    'counter',
    'Denials by limit. With shadow="true": what a limit in shadow mode would have denied.',
  ],
  sluice_rejected_peers_total: ['counter', 'Requests of peers that are not trusted.'],
  sluice_reloads_total: ['counter', 'Changed files, by outcome.'],
  sluice_decision_duration_seconds: ['histogram', 'The time from a request to its answer.'],
  sluice_store_failing: ['gauge', 'How many processes can not reach their store.'],
  sluice_policy_decisions_total: ['counter', 'Decisions by the failure policies of limits.'],
};

/** Counts what one process answers. Never by an id, an address or a path. */
export class Metrics {
  readonly #counters = new Map<string, Map<string, number>>();
  /** By table. Labels are made when they are read: this is counted for each answer. */
  readonly #answers = new Map<string, Map<Answer, number>>();
  readonly #durations = CLASSES.map(() => 0);
  #durationSum = 0;
  #durationCount = 0;

  answered(table: string, answer: Answer, seconds: number): void {
    let ofTable = this.#answers.get(table);
    if (ofTable === undefined) this.#answers.set(table, (ofTable = new Map()));
    ofTable.set(answer, (ofTable.get(answer) ?? 0) + 1);
    this.#durationSum += seconds;
    this.#durationCount++;
    const index = CLASSES.findIndex((end) => seconds <= end);
    if (index >= 0) this.#durations[index]!++;
  }

  /** Counts the limits that denied a request, or would have denied it in shadow mode. */
  decided(decision: Decision | null, shadow: Decision | null): void {
    if (decision !== null && !decision.allowed) this.#denied(decision, false);
    if (shadow !== null && !shadow.allowed) this.#denied(shadow, true);
  }

  #denied({ results }: Decision, shadow: boolean): void {
    for (const { limit, allowed } of results) if (!allowed) this.denied(limit, shadow);
  }

  denied(limit: string, shadow: boolean): void {
    this.#count('sluice_limit_denials_total', `limit="${limit}",shadow="${shadow}"`);
  }

  rejectedPeer(): void {
    this.#count('sluice_rejected_peers_total', '');
  }

  reloaded(outcome: 'accepted' | 'rejected'): void {
    this.#count('sluice_reloads_total', `outcome="${outcome}"`);
  }

  samples(): readonly Sample[] {
    const counted = [...this.#counters].flatMap(([name, byLabels]) =>
      [...byLabels].map(([labels, value]) => ({ name, labels, value })),
    );
    return [...this.#decisions(), ...counted, ...this.#histogram()];
  }

  #decisions(): readonly Sample[] {
    return [...this.#answers].flatMap(([table, counts]) =>
      [...counts].map(([answer, value]) => ({
        name: 'sluice_decisions_total',
        labels: `table="${escaped(table)}",outcome="${answer}"`,
        value,
      })),
    );
  }

  #histogram(): readonly Sample[] {
    const name = 'sluice_decision_duration_seconds';
    let sum = 0;
    const classes = CLASSES.map((end, i) => ({
      name: `${name}_bucket`,
      labels: `le="${end}"`,
      value: (sum += this.#durations[i]!),
    }));
    return [
      ...classes,
      { name: `${name}_bucket`, labels: 'le="+Inf"', value: this.#durationCount },
      { name: `${name}_sum`, labels: '', value: this.#durationSum },
      { name: `${name}_count`, labels: '', value: this.#durationCount },
    ];
  }

  #count(name: string, labels: string): void {
    let byLabels = this.#counters.get(name);
    if (byLabels === undefined) this.#counters.set(name, (byLabels = new Map()));
    byLabels.set(labels, (byLabels.get(labels) ?? 0) + 1);
  }
}

/** Adds up the samples of several processes. */
export function summed(processes: Iterable<readonly Sample[]>): readonly Sample[] {
  const sums = new Map<string, Sample>();
  for (const samples of processes) {
    for (const sample of samples) {
      const key = `${sample.name}{${sample.labels}}`;
      sums.set(key, { ...sample, value: sample.value + (sums.get(key)?.value ?? 0) });
    }
  }
  return [...sums.values()];
}

/** Writes samples in the text format of Prometheus, version 0.0.4. */
export function metricsText(samples: readonly Sample[]): string {
  const families = new Map<string, Sample[]>();
  for (const sample of samples) {
    const family = sample.name.replace(/_(?:bucket|sum|count)$/, '');
    families.set(family, [...(families.get(family) ?? []), sample]);
  }
  const lines: string[] = [];
  for (const [family, members] of families) {
    const [type, help] = HELP[family]!;
    lines.push(`# HELP ${family} ${help}`, `# TYPE ${family} ${type}`);
    for (const { name, labels, value } of members) lines.push(`${name}${labels === '' ? '' : `{${labels}}`} ${value}`);
  }
  return `${lines.join('\n')}\n`;
}

function escaped(text: string): string {
  return text
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`);
}
