import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { bury, forget } from '../servers/undertaker.ts';

/** Forks a program whose argument is its orders. It ends when this process does. */
export function forkedWith(file: string, orders: object): ChildProcess {
  return watched(
    fork(file, [JSON.stringify(orders)], {
      execArgv: [],
      env: { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'production' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    }),
  );
}

/** Has a process killed when this one ends. */
export function watched(child: ChildProcess): ChildProcess {
  const { pid } = child;
  if (pid !== undefined) {
    bury(pid);
    child.once('exit', () => forget(pid));
  }
  return child;
}

/** Returns the next message of a process. It is an error if the process ends before. */
export async function answerOf<T>(child: ChildProcess): Promise<T> {
  const over = new AbortController();
  const { signal } = over;
  const ended = once(child, 'exit', { signal }).then(([code, by]) => {
    throw new Error(`A process ended with ${String(by ?? code)} before it answered.`);
  });
  ended.catch(() => undefined);
  try {
    const [answer] = (await Promise.race([once(child, 'message', { signal }), ended])) as [T];
    return answer;
  } finally {
    // Removes the listener of the other event. Otherwise each call would leave one.
    over.abort();
  }
}
