// The buckets of the golden samples, and what is done to them: by the packages of the version before, and read by this one.

const TICKS_PER_MS = 16_000;
const DAY_MS = 86_400_000;

/** When the samples of a steered clock were made. */
export const MADE_MS = Date.UTC(2026, 10, 29);

/** A token of the rate comes back after a year, so that a sample has a level for some years. */
const TOKEN_TICKS = 365 * DAY_MS * TICKS_PER_MS;
const MOST = 10;

/** Two periods of the quota, within what ticks can count. */
const PERIOD = /** @type {const} */ ([Date.UTC(2026, 0, 1), Date.UTC(2036, 0, 1), Date.UTC(2042, 0, 1)]);

/** Slots are held for so long. */
export const EXPIRY_MS = 50 * 60_000;

const rate = { limit: 'Rate', id: 'a:b é', fitTicks: MOST * TOKEN_TICKS, capTicks: MOST * TOKEN_TICKS };
const quota = { limit: 'Quota', id: 'a', fitTicks: MOST, capTicks: MOST, calendar: 'decade:UTC', period: PERIOD };
const slots = { limit: 'Slots', id: 'a', fitTicks: MOST, capTicks: MOST, slots: /** @type {const} */ (true) };
const mode = /** @type {const} */ ('check-and-spend');

/**
 * What made the samples: seven tokens of the rate, three of the quota, two slots of one holder and one of another.
 *
 * @type {readonly import('@sluice/core/store').StoreOperation[]}
 */
export const MAKING = [
  {
    kind: 'spend',
    alternatives: [
      [
        { ...rate, incrementTicks: 5 * TOKEN_TICKS, mode },
        { ...quota, incrementTicks: 3, mode },
        { ...slots, incrementTicks: 2, mode, holding: { holder: 'h1', expiryMs: EXPIRY_MS } },
      ],
    ],
  },
  { kind: 'charge', batch: [{ ...rate, incrementTicks: 2 * TOKEN_TICKS }] },
  { kind: 'renew', batch: [{ ...slots, holder: 'h2', expiryMs: EXPIRY_MS, first: 4, count: 1 }] },
];

/**
 * A look at all of them.
 *
 * @type {import('@sluice/core/store').StoreOperation}
 */
export const LOOK = {
  kind: 'check',
  alternatives: [
    [
      { ...rate, incrementTicks: 0, mode: 'check-only' },
      { ...quota, incrementTicks: 0, mode: 'check-only' },
      { ...slots, incrementTicks: 0, mode: 'check-only', holding: { holder: 'x', expiryMs: EXPIRY_MS } },
    ],
  ],
};

/** What the look finds: tokens of the rate, tokens of the quota, slots. */
export const FOUND = [7, 3, 3];

/**
 * The counts of a reading.
 *
 * @param {import('@sluice/core/store').StoreReading} reading
 */
export function countsIn({ levelsTicks: [ofRate = 0, ofQuota = 0, ofSlots = 0] }) {
  return [Math.ceil(ofRate / TOKEN_TICKS), ofQuota, ofSlots];
}

/** What a client of a host store sends: one operation of each kind, with each property that an entry may have. */
export const SENT = [
  ...MAKING,
  LOOK,
  { kind: 'refund', batch: [{ ...rate, incrementTicks: TOKEN_TICKS, lineTicks: 9 * TOKEN_TICKS }] },
  { kind: 'refund', batch: [{ ...quota, incrementTicks: 1, tatAfterSpendTicks: 7 }] },
  { kind: 'cap', batch: [{ ...quota, capTicks: 1 }] },
  { kind: 'release', batch: [{ ...slots, holder: 'h2', expiryMs: EXPIRY_MS, first: 4, count: 1 }] },
  { kind: 'reset', batch: [slots] },
];
