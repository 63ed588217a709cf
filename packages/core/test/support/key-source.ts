import { IpAddress } from '@sluice/core';
import type { KeySource } from '../../src/keys/key.ts';

/** What a middleware gives to keys: a request, and an address of its client. */
export function keySource<Request>(request: Request): KeySource<Request> {
  return { request, clientAddress: IpAddress.parse('192.0.2.1')! };
}
