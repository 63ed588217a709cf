/** The beginning of the condition of the short way. Mutants change the rest. */
const CONDITION = /^if (?=.*#args == 5 )/gm;

/** Returns the text of decide.lua without its short way for one plain transaction: all calls go the general way. */
export function withoutShortWay(source: string): string {
  const parts = source.split(CONDITION);
  if (parts.length !== 2) throw new Error(`decide.lua has ${parts.length - 1} short ways instead of one`);
  return parts.join('if false and ');
}
