/**
 * The processor time that a Redis has used, in microseconds.
 *
 * @param {import('ioredis').Redis} client
 */
export async function cpuMicrosOf(client) {
  const cpu = await client.info('cpu');
  return 1e6 * (secondsIn(cpu, /^used_cpu_user:([\d.]+)/m) + secondsIn(cpu, /^used_cpu_sys:([\d.]+)/m));
}

/**
 * @param {string} info
 * @param {RegExp} field
 */
function secondsIn(info, field) {
  return Number(field.exec(info)?.[1] ?? NaN);
}
