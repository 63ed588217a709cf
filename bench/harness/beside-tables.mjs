import { tenths, withSpread } from './table.mjs';

/**
 * The figures of Sluice beside those of the same contender with the packages of other clones. A median outside of the
 * spread of the other one is marked.
 *
 * @param {import('./results.mjs').Results} results
 * @returns {import('./part.ts').Table[]}
 */
export function besideTables(results) {
  const all = results.toJSON();
  const rows = all.flatMap(({ contender, case: name, rounds }) => {
    const own = all.find((each) => each.case === name && contender.startsWith(`${each.contender} of `));
    return Object.keys(own === undefined ? {} : (rounds[0] ?? {})).map((figure) => {
      const [here, there] = [own?.contender ?? '', contender].map((each) => results.figure(each, name, figure));
      const differs = here !== undefined && there !== undefined && (here.median < there.min || here.median > there.max);
      const [one, other] = [here, there].map((spread) => withSpread(spread, tenths));
      return [`${contender}, ${name}: ${figure}`, one ?? '', other ?? '', differs ? 'differs' : ''];
    });
  });
  return rows.length === 0 ? [] : [{ title: 'Beside other clones', rows: [['', 'here', 'there', ''], ...rows] }];
}
