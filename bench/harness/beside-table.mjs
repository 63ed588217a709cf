import { tableText } from './table.mjs';

/** Figures of which more is better; of all others less is. */
const MORE_IS_BETTER = /Per(Cpu)?Second$/;
/** Figures that say how a run was measured, not how well it went. */
const ABOUT_THE_RUN = /Busy$/;
/** Fewer turns have no quartiles. */
const FEWEST = 3;

/**
 * The figures of Sluice beside those of the same contender with the packages of other clones, and the ratio of the two,
 * turn by turn: its median and its quartiles. It is worse when even the better quartile is.
 *
 * @param {import('./results.mjs').Results} results
 * @param {readonly string[]} clones Their names.
 * @param {Readonly<Record<string, import('./part.ts').Bound>>} [bounds] Of the only figures that are shown. Default: all.
 * @returns {{ text: string, worse: string[] }} the table, and its lines in which this clone is worse
 */
export function besideTable(results, clones, bounds) {
  const rows = rowsOf(results, clones, bounds);
  const head = ['', ...clones, 'now', ...clones.map((clone) => `÷ ${clone} (quartiles)`), ''];
  const runs = [...results.notCompared.keys()];
  const reasons = new Set(results.notCompared.values());
  const notes = [...reasons].map((reason) => {
    const names = runs.filter((run) => results.notCompared.get(run) === reason);
    return `Cannot be compared: ${names.join('; ')}. ${reason}`;
  });
  const text = rows.length + notes.length === 0 ? '' : tableText({ title: 'Beside', rows: [head, ...rows], notes });
  return { text, worse: rows.filter((row) => row.at(-1) !== '').map((row) => row.join('  ')) };
}

/**
 * @param {import('./results.mjs').Results} results
 * @param {readonly string[]} clones
 * @param {Readonly<Record<string, import('./part.ts').Bound>>} [bounds]
 */
function rowsOf(results, clones, bounds) {
  const all = results.toJSON();
  const isCompared = (/** @type {typeof all[number]} */ own) =>
    all.some(
      (other) => other.case === own.case && clones.some((clone) => other.contender === ofClone(own.contender, clone)),
    );
  return all.filter(isCompared).flatMap(({ contender, case: name, rounds }) => {
    const measured = Object.keys(rounds[0] ?? {}).filter((figure) => !ABOUT_THE_RUN.test(figure));
    const figures = measured.filter((figure) => bounds === undefined || figure in bounds);
    return figures.map((figure) => {
      const others = clones.map((clone) => ofClone(contender, clone));
      const medians = [...others, contender].map((each) => results.figure(each, name, figure)?.median);
      const ratios = others.map((other) => results.ratioQuartiles(contender, other, name, figure));
      const worse = clones.filter((_, n) => isWorse(figure, ratios[n], bounds?.[figure]));
      return [
        `${name}: ${contender}: ${figure}`,
        ...medians.map(numberText),
        ...ratios.map(ratioText),
        worse.length === 0 ? '' : `worse than ${worse.join(' and ')}`,
      ];
    });
  });
}

/**
 * What a contender is called that has the packages of another clone.
 *
 * @param {string} contender
 * @param {string} clone
 */
export function ofClone(contender, clone) {
  return `${contender} of ${clone}`;
}

/**
 * @param {string} figure
 * @param {import('./statistics.mjs').Quartiles | undefined} ratio
 * @param {import('./part.ts').Bound} [bound] Of a count, which needs no quartiles.
 */
function isWorse(figure, ratio, bound) {
  if (ratio === undefined || (bound === undefined && ratio.of < FEWEST)) return false;
  const share = typeof bound === 'object' ? 1 : (bound ?? 0);
  return MORE_IS_BETTER.test(figure) ? ratio.high < 1 : ratio.low > 1 + share;
}

/** @param {number | undefined} value */
function numberText(value) {
  return value === undefined ? '–' : String(Number(value.toPrecision(3)));
}

/** @param {import('./statistics.mjs').Quartiles | undefined} ratio */
function ratioText(ratio) {
  if (ratio === undefined) return '–';
  const [low, median, high] = [ratio.low, ratio.median, ratio.high].map((value) => value.toFixed(2));
  return `${median} (${low}–${high})`;
}
