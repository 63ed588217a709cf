import { expect, test } from 'vitest';
import { fingerprintOf } from './function-fingerprints.ts';
import { storedFormats } from './stored-formats.ts';

/**
 * What each version of a format is made of. A line here never changes: when a format does, raise its version, see to it that
 * the version before is still read, and add a line.
 */
const FINGERPRINTS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  'protocol of the host store': { 5: '67453d57a36096e4' },
  'hand-over file of the host store': { 4: 'c910a82dde533e1e' },
  'dump of the memory store': { 1: '471b9ea449fbf646' },
  'slots that are handed over': { 1: 'e6a835676e201bea' },
  'arguments of the function in PostgreSQL': { 2: '25ada1107779551c' },
  'tables in PostgreSQL': { 1: '3d7763a17c56512d' },
  'keys in Redis': { 1: '4885edbe6fad06c5' },
  'blocks of a store': { 1: '028c3500f2b1cda9' },
};

test('no format changes without its version', async () => {
  const formats = await storedFormats();
  const made = formats.map(({ name, version, sample }) => ({ name, version, fingerprint: fingerprintOf(sample) }));
  expect(made).toEqual(made.map((each) => ({ ...each, fingerprint: FINGERPRINTS[each.name]?.[each.version] })));
});
