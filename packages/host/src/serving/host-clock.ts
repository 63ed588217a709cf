// Taken when the module is loaded: fake timers of a test may replace the function, and stop the clock of all processes.
const { hrtime } = process;

/**
 * Reads the monotonic clock of the operating system, in whole microseconds. All processes of a host read the same clock,
 * unlike `performance.now()`, whose origin is the start of the process. So the moments of one serving process keep their
 * meaning for the next one, and a caller can say until when it waits. It is not the option `time`, because that is
 * another one in each process.
 */
export function hostMicros(): number {
  const [seconds, nanos] = hrtime();
  return seconds * 1e6 + Math.floor(nanos / 1000);
}
