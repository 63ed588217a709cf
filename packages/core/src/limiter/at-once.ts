import { SluiceError } from '../checks/errors.ts';

/**
 * Rejects a decision at once, before anything is taken, when the store takes time or one of its parts is not there yet.
 *
 * @param call - `spend` or `check`.
 * @param answersAtOnce - Whether the store does.
 * @param parts - What was made of the arguments of the call.
 * @throws {SluiceError} `ERR_OPTION`.
 */
export function assertAtOnce(call: string, answersAtOnce: boolean, parts: readonly unknown[]): void {
  if (!answersAtOnce) throw notAtOnce(call, 'the store does not answer at once', parts);
  for (let i = 0; i < parts.length; i++) {
    if (parts[i] instanceof Promise) throw notAtOnce(call, 'the `overrides` function returned a promise', parts);
  }
}

function notAtOnce(call: string, why: string, parts: readonly unknown[]): SluiceError {
  // Avoids unhandled rejections: this error replaces what they would say.
  for (const part of parts) if (part instanceof Promise) part.catch(() => undefined);
  return new SluiceError(
    'ERR_OPTION',
    `\`${call}Sync\` can't decide at once: ${why}. Use \`await ${call}(…)\` instead.`,
  );
}
