import { SluiceError } from '@sluice/core';
import { messageOf } from '@sluice/core/kit';

/** Makes the errors of a host store, which name its socket. */
export class HostErrors {
  readonly #socket: string;

  constructor(socket: string) {
    this.#socket = socket;
  }

  /** For calls after `close`. */
  closed(): SluiceError {
    return new SluiceError('ERR_CLOSED', 'This host store was closed. Make a new one with hostStore().');
  }

  closedWhileWaiting(): SluiceError {
    return this.#unavailable('was closed before the process that serves had answered.');
  }

  missed(deadlineMs: number, serverPid: number | undefined): SluiceError {
    const subject =
      serverPid === undefined ? 'No process answered' : `Process ${serverPid}, which serves, did not answer`;
    return new SluiceError(
      'ERR_STORE_DEADLINE',
      `${subject} for the host store at ${this.#socket} within ${deadlineMs} ms.`,
    );
  }

  down(cause: unknown): SluiceError {
    return this.#unavailable(`can't be used: ${messageOf(cause).replace(/\.$/, '')}.${remedyOf(cause)}`, cause);
  }

  notReady(timeoutMs: number, cause: unknown): SluiceError {
    const reason = cause === undefined ? SILENT : messageOf(cause).replace(/\.$/, '');
    return this.#unavailable(`was not ready within ${timeoutMs} ms: ${reason}.${remedyOf(cause)}`, cause);
  }

  /** For calls that were sent to a process that still serves. */
  connectionLost(): SluiceError {
    return this.#unavailable('has lost the connection to the process that serves, which may have executed the call.');
  }

  #unavailable(what: string, cause?: unknown): SluiceError {
    return new SluiceError('ERR_STORE_UNAVAILABLE', `The host store at ${this.#socket} ${what}`, { cause });
  }
}

const SILENT = 'the process that serves does not answer. If it hangs, end it: another one takes over';

/** Errors of the system about the folder of the socket. */
const OF_FOLDER: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS']);

/** What to do about an error, after a space; nothing for errors of other processes. */
function remedyOf(cause: unknown): string {
  const { code } = (cause ?? {}) as { readonly code?: unknown };
  if (!OF_FOLDER.has(code)) return '';
  return ' The folder of `socket` must exist, and this process needs the permission to create files in it.';
}
