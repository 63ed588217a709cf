import type { Line, LineOptions } from './line.ts';

/**
 * Opens a connection of our own beside the user's client, or by a URL.
 *
 * @throws {SluiceError} `ERR_OPTION` for what is no client and no URL, or when the package ioredis is not installed.
 */
export function openLine(_options: LineOptions): Line {
  throw new Error('in the making');
}
