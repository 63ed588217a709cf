import { SluiceError } from '@sluice/core';
import type { OpenCall } from './open-call.ts';
import { StreamWatch } from './stream-watch.ts';
import type { UsageOf } from './usage-of.ts';
import { partsBy } from './watched-iterable.ts';

/** What the `stream()` methods of the SDKs return: it reads its stream by itself, and emits each part. */
interface StreamHelper {
  readonly ended: boolean;
  readonly errored: boolean;
  readonly aborted: boolean;
  on(event: string, listener: (part: unknown) => void): unknown;
}

/** The events of a part as the provider sent it: of `messages`, of `chat.completions`, and of `responses`. */
const PART_EVENTS = ['streamEvent', 'chunk', 'event'] as const;

/** Whether an answer is the helper of a stream. */
export function isStreamHelper(answer: unknown): answer is StreamHelper {
  if (typeof answer !== 'object' || answer === null) return false;
  const { on, ended, aborted } = answer as Partial<StreamHelper>;
  return typeof on === 'function' && typeof ended === 'boolean' && typeof aborted === 'boolean';
}

/** Makes a helper settle the call when its stream ends, however it is read. */
export function watchHelper<Helper extends StreamHelper>(helper: Helper, call: OpenCall, reads: UsageOf): Helper {
  const watch = new StreamWatch(call);
  const partsOf = partsBy(reads);
  for (const event of PART_EVENTS) helper.on(event, (sent) => partsOf(sent).forEach((part) => watch.passed(part)));
  // `end` follows an error, too. With a listener of `error`, the SDK would take errors that nobody handles for handled.
  helper.on('end', () => {
    if (helper.aborted) watch.cut();
    else if (helper.errored) watch.failed(undefined);
    else watch.ended();
  });
  return helper;
}

/**
 * Rejects the loops of tools of the SDKs, `runTools` and `toolRunner`: they make several calls of a model, of which only the
 * first would be decided.
 *
 * @throws {SluiceError} `ERR_OPTION`.
 */
export function notToolLoop<T>(made: T): T {
  const { runUntilDone, constructor } = (made ?? {}) as ToolLoop;
  const isRunner = typeof constructor?.runTools === 'function';
  if (!isRunner && typeof runUntilDone !== 'function') return made;
  if (isRunner) stop(made as object as RunningLoop);
  throw new SluiceError(
    'ERR_OPTION',
    'must not return a loop of tools, which makes several calls of a model. Return one call, such as create(…) or ' +
      'stream(…), and call what around returns for each step.',
    { path: 'around.call' },
  );
}

/** The properties that identify a loop of tools: a method of Anthropic's, and a static method of OpenAI's classes. */
interface ToolLoop {
  readonly runUntilDone?: unknown;
  readonly constructor?: { readonly runTools?: unknown };
}

/** A loop of tools that begins by itself, in a later turn. */
interface RunningLoop {
  abort(): void;
  done(): Promise<void>;
}

function stop(loop: RunningLoop): void {
  loop.done().catch(() => undefined);
  loop.abort();
}
