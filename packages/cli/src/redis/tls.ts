import { readFileSync } from 'node:fs';
import { messageOf } from '@sluice/core/kit';
import type { Call } from '../console/command.ts';
import { UsageError } from '../console/failure.ts';

/** How a client encrypts its connections, as `node:tls` takes it. */
export interface TlsOptions {
  /** The certificates of the authorities that are trusted. Default: those of Node. */
  readonly ca?: string;
}

/**
 * Returns how connections are encrypted; undefined if they are not.
 *
 * @param isTls - Whether the URL begins with `rediss:`.
 * @throws {UsageError} If `--tls-ca` can't be read, or is given without TLS.
 */
export function tlsOf(call: Call, isTls: boolean): TlsOptions | undefined {
  const file = call.text('tlsCa');
  if (file === undefined) return isTls ? {} : undefined;
  if (!isTls) {
    throw new UsageError(
      '`--tls-ca` must be given with a URL that begins with rediss://, because redis:// is not encrypted.',
    );
  }
  try {
    return { ca: readFileSync(file, 'utf8') };
  } catch (error) {
    throw new UsageError(
      `\`--tls-ca\` must be a file of certificates (PEM), but ${file} can't be read: ${messageOf(error)}.`,
    );
  }
}
