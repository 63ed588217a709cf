import { expect, test } from 'vitest';
import type { StoreReading, StoreTransaction } from '../../src/store/store.ts';
import { brokenPromises, type Mistake } from './broken-promises.ts';
import { checked, MapStore } from './map-store.ts';

type Alternatives = readonly (readonly StoreTransaction[])[];

test.each<Mistake>([
  {
    mistake: 'takes from two alternatives',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        const readings = await super.spendFirst(alternatives);
        const next = alternatives[readings.length];
        if (next !== undefined) await this.spend(next);
        return readings;
      }
    },
    breaks: 'the first alternative that passes is taken, and no other is tried',
  },
  {
    mistake: 'says that a denied batch passed',
    Broken: class extends MapStore {
      override async spend(batch: readonly StoreTransaction[]): Promise<StoreReading> {
        return { ...(await super.spend(batch)), passed: 0 };
      }
    },
    breaks: 'spend and check say which batch passed, the first that fits, or -1 when all are denied',
  },
  {
    mistake: 'says nothing about what passed, as if its levels were enough',
    Broken: class extends MapStore {
      override async check(batch: readonly StoreTransaction[]): Promise<StoreReading> {
        return this.read(batch);
      }
    },
    breaks: 'spend and check say which batch passed, the first that fits, or -1 when all are denied',
  },
  {
    mistake: 'reports the alternatives that it tried in another order',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        return (await super.spendFirst(alternatives)).toReversed();
      }
    },
    breaks: 'the next alternative is tried when one is denied, until one passes',
  },
  {
    mistake: 'takes a later alternative although an earlier one passes',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        return super.spendFirst(alternatives.toReversed());
      }
    },
    breaks: 'the first alternative that passes is taken, and no other is tried',
  },
  {
    mistake: 'reports only the alternative that passed',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        return (await super.spendFirst(alternatives)).slice(-1);
      }
    },
    breaks: 'the next alternative is tried when one is denied, until one passes',
  },
  {
    mistake: 'reads the alternatives after the one that passed',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        const readings = await super.spendFirst(alternatives);
        return [...readings, ...alternatives.slice(readings.length).map((batch) => checked(batch, this.read(batch)))];
      }
    },
    breaks: 'the first alternative that passes is taken, and no other is tried',
  },
  {
    mistake: 'keeps what it took for a denied alternative',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        const readings = await super.spendFirst(alternatives);
        for (const [index, reading] of readings.slice(0, -1).entries()) {
          this.takeAll(alternatives.at(index)!.slice(0, 1), reading);
        }
        return readings;
      }
    },
    breaks: 'a denied alternative takes nothing, in whatever mode',
  },
  {
    mistake: 'charges the pool of a denied alternative',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        const readings = await super.spendFirst(alternatives);
        const charges = alternatives.at(0)!.filter(({ mode }) => mode === 'charge');
        if (readings.length > 1) await this.spend(charges);
        return readings;
      }
    },
    breaks: 'an alternative charges a bucket up to its cap, also above what fits',
  },
  {
    mistake: 'takes the last alternative though it is denied',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        const readings = await super.spendFirst(alternatives);
        if (readings.length === alternatives.length) this.takeAll(alternatives.at(-1)!, readings.at(-1)!);
        return readings;
      }
    },
    breaks: 'nothing is taken when all alternatives are denied',
  },
  {
    mistake: 'lets an alternative without transactions deny',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        return super.spendFirst(alternatives.filter(({ length }) => length > 0));
      }
    },
    breaks: 'an alternative without transactions passes',
  },
  {
    mistake: 'answers alternatives at once, and a spend by a promise',
    Broken: class extends MapStore {
      override spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        return alternatives.map((batch) => checked(batch, this.read(batch))) as unknown as Promise<
          readonly StoreReading[]
        >;
      }
    },
    breaks: 'alternatives are answered at once or by a promise, as a spend is',
  },
  {
    mistake: 'spends alternatives after it was closed',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        return this.closed ? [] : super.spendFirst(alternatives);
      }
    },
    breaks: 'after close a spend of alternatives is the error ERR_CLOSED',
  },
  {
    mistake: 'takes the alternative that a check finds',
    Broken: class extends MapStore {
      override async checkFirst(alternatives: Alternatives): Promise<StoreReading> {
        return this.spendAny(alternatives);
      }
    },
    breaks: 'check finds the first alternative that would pass, and takes nothing',
  },
  {
    mistake: 'checks all alternatives',
    Broken: class extends MapStore {
      override async checkFirst(alternatives: Alternatives): Promise<StoreReading> {
        return this.read(alternatives.flat());
      }
    },
    breaks: 'check finds the first alternative that would pass, and takes nothing',
  },
])('the contract finds a store that $mistake', async ({ Broken, breaks }) => {
  expect(await brokenPromises(Broken)).toContain(breaks);
});
