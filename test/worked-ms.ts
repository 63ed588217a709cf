/** The time that all threads of this process have worked so far, which other processes do not lengthen. */
export function workedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
