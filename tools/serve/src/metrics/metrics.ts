// The room metrics: what a service counts beside its limiter, and events.
import type { Attributes, Instrument, Metric } from '@sluice/core/metrics';

/** What an answer was. `invalid`: the request could not be decided because it has no valid id. */
export type CheckAnswer = 'allowed' | 'denied' | 'unavailable' | 'invalid' | 'error';

const ANSWERS: Instrument = {
  name: 'sluice.serve.answers',
  type: 'counter',
  unit: '{request}',
  description: 'Answers to proxies, by table and outcome.',
  attributes: ['table', 'outcome'],
};
const REJECTED_PEERS: Instrument = {
  name: 'sluice.serve.rejected_peers',
  type: 'counter',
  unit: '{request}',
  description: 'Requests of peers that are not trusted.',
  attributes: [],
};
const RELOADS: Instrument = {
  name: 'sluice.serve.reloads',
  type: 'counter',
  unit: '{reload}',
  description: 'Changed files, by outcome.',
  attributes: ['outcome'],
};

/** Counts what one process answers beside what its limiter decides. Never by an id, an address or a path. */
export class Metrics {
  /** By table. */
  readonly #answers = new Map<string, Map<CheckAnswer, number>>();
  readonly #reloads = { accepted: 0, rejected: 0 };
  #rejectedPeers = 0;

  answered(table: string, answer: CheckAnswer): void {
    let ofTable = this.#answers.get(table);
    if (ofTable === undefined) this.#answers.set(table, (ofTable = new Map()));
    ofTable.set(answer, (ofTable.get(answer) ?? 0) + 1);
  }

  rejectedPeer(): void {
    this.#rejectedPeers++;
  }

  reloaded(outcome: 'accepted' | 'rejected'): void {
    this.#reloads[outcome]++;
  }

  /** Returns what was counted so far. */
  read(): readonly Metric[] {
    const answers = [...this.#answers].flatMap(([table, counts]) =>
      [...counts].map(([outcome, value]) => sampleOf({ table, outcome }, value)),
    );
    const reloads = Object.entries(this.#reloads).map(([outcome, value]) => sampleOf({ outcome }, value));
    return [
      { ...ANSWERS, samples: answers },
      { ...REJECTED_PEERS, samples: [sampleOf({}, this.#rejectedPeers)] },
      { ...RELOADS, samples: reloads },
    ];
  }
}

function sampleOf(attributes: Attributes, value: number): Metric['samples'][number] {
  return { attributes, value };
}
