/**
 * How many scripts a Redis has run, of those that it knew by their digest.
 *
 * @param {import('ioredis').Redis} client
 */
export async function scriptsOf(client) {
  return callsIn(await client.info('commandstats'), 'evalsha');
}

/**
 * How often a Redis has run a command, also in scripts.
 *
 * @param {string} commandStats
 * @param {string} command
 */
export function callsIn(commandStats, command) {
  const [, calls = 0] = new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(commandStats) ?? [];
  return Number(calls);
}
