// The examples of the documentation of better-auth's rate limits.
import { rateLimitStorage, type RateLimitStorage } from '@sluice/drop-in/better-auth';
import type { BetterAuthOptions, BetterAuthRateLimitOptions } from 'better-auth';
import { peer } from './peers.ts';
import { answerOfResponse, inTurn, type Answer, type Usage } from './usage.ts';

type Library = typeof import('better-auth');
type MemoryAdapter = typeof import('better-auth/adapters/memory');

/** The two storages that are compared. */
export interface BetterAuthStores {
  readonly own: () => Pick<BetterAuthOptions, 'secondaryStorage'> & {
    readonly storage: NonNullable<BetterAuthRateLimitOptions['storage']>;
  };
  readonly ours: () => RateLimitStorage;
}

const ours = (): RateLimitStorage => rateLimitStorage({ log: false });
export const BETTER_AUTH_IN_MEMORY: BetterAuthStores = { own: () => ({ storage: 'memory' }), ours };
export const BETTER_AUTH_IN_DATABASE: BetterAuthStores = { own: () => ({ storage: 'database' }), ours };

const PAGE = 'http://localhost:3000';
const CLIENT = 'x-client';
let clients = 0;

interface Used {
  readonly name: string;
  readonly options: BetterAuthRateLimitOptions;
  readonly others?: Pick<BetterAuthOptions, 'advanced' | 'plugins'>;
  readonly paths: readonly string[];
  /** The address of a request, of a client that no other usage has. Default: always the same. */
  readonly address?: (client: number, request: number) => string;
}

const times = (count: number, path: string): string[] => Array<string>(count).fill(path);

const USED: readonly Used[] = [
  { name: 'a window and a max', options: { window: 10, max: 3 }, paths: [...times(4, '/ok'), '/error'] },
  { name: 'the stricter rules of sign-ins', options: {}, paths: [...times(5, '/sign-in/email'), '/ok'] },
  {
    name: 'rules of paths',
    options: {
      max: 2,
      customRules: {
        '/sign-in/email': { window: 10, max: 4 },
        '/two-factor/*': () => Promise.resolve({ window: 10, max: 1 }),
        '/get-session': false,
      },
    },
    paths: [
      ...times(5, '/sign-in/email'),
      ...times(2, '/two-factor/a'),
      ...times(4, '/get-session'),
      ...times(3, '/ok'),
    ],
  },
  {
    name: 'a rule that is a function of the request and of the rule before it',
    options: {
      window: 60,
      max: 1,
      customRules: { '/ok': (request, rule) => ({ ...rule, max: request.headers.has(CLIENT) ? 3 : 1 }) },
    },
    paths: [...times(5, '/ok'), ...times(2, '/error')],
  },
  {
    name: 'rules of a plugin',
    options: {},
    others: { plugins: [{ id: 'mine', rateLimit: [{ pathMatcher: (path) => path === '/ok', window: 60, max: 2 }] }] },
    paths: [...times(4, '/ok'), '/error'],
  },
  {
    name: 'clients of one IPv6 network, which share',
    options: { window: 60, max: 3 },
    others: { advanced: { ipAddress: { ipAddressHeaders: [CLIENT], ipv6Subnet: 64 } } },
    paths: times(5, '/ok'),
    address: (client, request) => `2001:db8:${client}::${request}`,
  },
  {
    name: 'a client behind a trusted proxy, whatever addresses it claims',
    options: { window: 60, max: 3 },
    others: { advanced: { ipAddress: { ipAddressHeaders: [CLIENT], trustedProxies: ['192.0.2.0/24'] } } },
    paths: times(5, '/ok'),
    address: (client, request) => `198.51.100.${request}, 203.0.113.${client}, 192.0.2.10`,
  },
];

/** An authentication that knows clients by a header. Passwords are not hashed, because that takes half a second. */
async function authOf(
  { options, others = {} }: Used,
  isOurs: boolean,
  stores: BetterAuthStores,
): Promise<Pick<ReturnType<Library['betterAuth']>, 'handler'>> {
  const { betterAuth } = (await peer('better-auth')) as Library;
  const { memoryAdapter } = (await peer('better-auth/adapters/memory')) as MemoryAdapter;
  const { secondaryStorage, ...storage } = isOurs ? { customStorage: stores.ours() } : stores.own();
  return betterAuth({
    baseURL: PAGE,
    secret: 'a secret of at least thirty-two characters',
    database: memoryAdapter({ user: [], session: [], account: [], verification: [], rateLimit: [] }),
    emailAndPassword: {
      enabled: true,
      password: { hash: (password) => Promise.resolve(password), verify: () => Promise.resolve(false) },
    },
    rateLimit: { enabled: true, ...options, ...storage },
    advanced: { ipAddress: { ipAddressHeaders: [CLIENT] } },
    logger: { disabled: true },
    ...(secondaryStorage && { secondaryStorage }),
    ...others,
  });
}

/**
 * Clients of which better-auth knows no address, in production: elsewhere it takes that of the machine. Without its own
 * headers it knows the claims of a chain, which it does not believe.
 */
export const UNKNOWN_CLIENTS: Used = {
  name: 'clients whose addresses it does not know, which share',
  options: { window: 60, max: 3 },
  paths: times(5, '/ok'),
  address: (client, request) => `198.51.100.${request}, 203.0.113.${client}`,
};

export function betterAuthUsages(stores: BetterAuthStores, usages: readonly Used[] = USED): readonly Usage[] {
  return usages.map((used) => ({
    name: used.name,
    async answers(isOurs) {
      const auth = await authOf(used, isOurs, stores);
      const { address: addressOf = (one) => `203.0.113.${one}` } = used;
      // All instances of it share the memory of the process.
      const client = ++clients;
      const body = JSON.stringify({ email: 'someone@example.com', password: 'not this one' });
      const ask = async (path: string, i: number): Promise<Answer> => {
        const headers = { 'content-type': 'application/json', [CLIENT]: addressOf(client, i) };
        const method = path.startsWith('/sign-in') ? { method: 'POST', body } : {};
        return answerOfResponse(await auth.handler(new Request(`${PAGE}/api/auth${path}`, { headers, ...method })));
      };
      return inTurn(used.paths.map((path, i) => () => ask(path, i)));
    },
  }));
}
