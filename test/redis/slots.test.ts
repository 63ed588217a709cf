// The short ones of the scenarios with slots that `npm run trial -- faults` runs.
import { expect, it } from 'vitest';
import { brokenSlotPromises } from './slots/outcome.ts';
import { SHORT_SLOT_SCENARIOS } from './slots/scenarios.ts';

it.each(SHORT_SLOT_SCENARIOS)(
  '$name: no slot too many is used, none is lost for longer than its expiry',
  async (scenario) => {
    const outcome = await scenario.run();
    expect({ outcome, broken: brokenSlotPromises(outcome) }).toMatchObject({ broken: [] });
  },
);
