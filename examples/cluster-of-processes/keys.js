import { createHmac } from 'node:crypto';

const secret = process.env.SECRET ?? 'of this example alone';

/** The API key of an account: its name and a signature, so that no client can invent one. */
export const keyFor = (/** @type {string} */ account) =>
  `${account}.${createHmac('sha256', secret).update(account).digest('hex')}`;

/** The account of an API key; undefined if this service has not issued it. */
export function accountOf(/** @type {string} */ key) {
  const [account = ''] = key.split('.', 1);
  return key === keyFor(account) ? account : undefined;
}
