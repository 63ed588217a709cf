import type { Time } from '@sluice/core';
import { messageOf } from '@sluice/core/kit';
import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { basename, dirname, isAbsolute } from 'node:path';
import type { Call } from '../console/command.ts';
import { UsageError } from '../console/failure.ts';
import { timeoutOf } from '../redis/options.ts';
import { Check, type Examined, type Finding } from './finding.ts';
import { ofStore } from './store.ts';

/** What other users may not do with the socket and its folder. */
const [ANY_OF_OTHERS, WRITTEN_BY_OTHERS, STICKY] = [0o077, 0o022, 0o1000];

/** The first message of a client: a version that is later than all is answered by that of the server, and is no mistake. */
const HELLO_BYTES = 32;
const LATER_VERSION = 0xff_ff_ff_ff;

/** Looks at the socket of a host store. It never takes the place of the process that serves. */
export async function examineHost(call: Call, socket: string, deadlineMs: number): Promise<readonly Examined[]> {
  if (!isAbsolute(socket)) {
    throw new UsageError('`--store host:` must have an absolute path. For example --store host:/run/app.sock.');
  }
  const [folder, path] = [folderOf(socket), newestOf(socket)];
  if (path === undefined) return [{ findings: [folder, nobody(socket)] }];
  const file = await lstat(path);
  if (!file.isSocket()) {
    const found = new Check('socket').wrong(`${path} is not a socket`, 'Delete it, or give the store another path.');
    return [{ findings: [folder, found] }];
  }
  const answered = await versionAt(path, timeoutOf(call), call.console.time);
  if (typeof answered !== 'number') return [{ server: path, findings: [folder, permissions(file), answered] }];
  const protocol = new Check('protocol').ok(`version ${answered}`);
  return [{ server: path, findings: [...(await ofStore(call, deadlineMs)), folder, permissions(file), protocol] }];
}

function folderOf(socket: string): Finding {
  const check = new Check('folder');
  const path = dirname(socket);
  const folder = lstatSync(path, { throwIfNoEntry: false });
  if (folder?.isDirectory() !== true) {
    return check.wrong(`${path} is not a folder`, 'Create it, owned by the user of your processes.');
  }
  if ((folder.mode & WRITTEN_BY_OTHERS) !== 0 && (folder.mode & STICKY) === 0) {
    const remedy = `Another user could put a socket there. Run chmod go-w ${path}.`;
    return check.wrong(`${path} can be written by other users (${modeOf(folder)})`, remedy);
  }
  return check.ok(path);
}

/** The socket with the highest number belongs to the process that serves. */
function newestOf(socket: string): string | undefined {
  const start = `${basename(socket)}.`;
  const numbers = namesIn(dirname(socket))
    .filter((name) => name.startsWith(start) && /^[1-9]\d{0,14}$/.test(name.slice(start.length)))
    .map((name) => Number(name.slice(start.length)));
  return numbers.length === 0 ? undefined : `${socket}.${Math.max(...numbers)}`;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function nobody(socket: string): Finding {
  const remedy = 'Start one of your processes, or correct the path in `--store`.';
  return new Check('store').wrong(`no process serves the buckets of ${socket}`, remedy);
}

function permissions(file: Stats): Finding {
  const check = new Check('permissions');
  const own = process.getuid?.();
  if (own !== undefined && file.uid !== own) {
    const remedy = 'All processes must run as one user. Run them, and this command, as that user.';
    return check.wrong(`the socket belongs to user ${file.uid}, and this is user ${own}`, remedy);
  }
  if ((file.mode & ANY_OF_OTHERS) === 0) return check.ok(modeOf(file));
  return check.wrong(`other users may connect (${modeOf(file)})`, 'Run chmod 600 on the socket.');
}

function modeOf({ mode }: Stats): string {
  return `0${(mode & 0o7777).toString(8)}`;
}

/** Asks the process that serves for its version; returns what is wrong if it does not say. */
function versionAt(path: string, timeoutMs: number, time: Time): Promise<number | Finding> {
  const check = new Check('store');
  return new Promise((resolve) => {
    const socket = createConnection({ path });
    const end = (found: number | Finding): void => {
      late.cancel();
      socket.destroy();
      resolve(found);
    };
    // For the whole answer: another program may send its bytes one by one.
    const late = time.alarm(timeoutMs, () =>
      end(
        check.wrong(
          `the process does not answer within ${timeoutMs} ms`,
          'It hangs or is stopped. Look at it, or restart it.',
        ),
      ),
    );
    socket.on('error', (error: NodeJS.ErrnoException) => {
      const hasEnded = error.code === 'ECONNREFUSED';
      const found = hasEnded ? 'the process that served has ended' : `no connection: ${messageOf(error)}`;
      end(check.wrong(found, 'Start one of your processes; it takes over what was handed over.'));
    });
    socket.on('close', () =>
      end(check.wrong('it closed the connection', 'It is not a host store. Correct the path in `--store`.')),
    );
    let answer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk]);
      if (!'sluice\r\n'.startsWith(answer.toString('latin1', 0, 8))) {
        end(check.wrong('another program answers', 'Give the store a path of its own.'));
      } else if (answer.length >= HELLO_BYTES) end(answer.readUInt32LE(8));
    });
    const hello = Buffer.alloc(HELLO_BYTES);
    hello.write('sluice\r\n', 'latin1');
    hello.writeUInt32LE(LATER_VERSION, 8);
    socket.write(hello);
  });
}
