// The examples of the documentation of better-auth's rate limits.
import { rateLimitStorage } from '@sluice/drop-in/better-auth';
import { betterAuth, type BetterAuthRateLimitOptions } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { answerOfResponse, inTurn, type Usage } from './usage.ts';

const PAGE = 'http://localhost:3000';
let clients = 0;

interface Used {
  readonly name: string;
  readonly options: BetterAuthRateLimitOptions;
  readonly paths: readonly string[];
}

const signIns = (count: number): string[] => Array<string>(count).fill('/sign-in/email');

const USED: readonly Used[] = [
  { name: 'a window and a max', options: { window: 10, max: 3 }, paths: ['/ok', '/ok', '/ok', '/ok', '/error'] },
  { name: 'the stricter rules of sign-ins', options: {}, paths: [...signIns(5), '/ok'] },
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
      ...signIns(5),
      '/two-factor/a',
      '/two-factor/a',
      ...Array<string>(4).fill('/get-session'),
      '/ok',
      '/ok',
      '/ok',
    ],
  },
];

export const BETTER_AUTH_USAGES: readonly Usage[] = USED.map(({ name, options, paths }) => ({
  name,
  answers(isOurs) {
    const storage = isOurs ? { customStorage: rateLimitStorage({ log: false }) } : { storage: 'memory' as const };
    const auth = betterAuth({
      baseURL: PAGE,
      secret: 'a secret of at least thirty-two characters',
      database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
      emailAndPassword: { enabled: true },
      rateLimit: { enabled: true, ...options, ...storage },
      advanced: { ipAddress: { ipAddressHeaders: ['x-client'] } },
      logger: { disabled: true },
    });
    // All instances of it share the memory of the process.
    const headers = { 'content-type': 'application/json', 'x-client': `203.0.113.${++clients}` };
    const body = JSON.stringify({ email: 'someone@example.com', password: 'not this one' });
    const request = (path: string): Request =>
      new Request(`${PAGE}/api/auth${path}`, { headers, ...(path.startsWith('/sign-in') && { method: 'POST', body }) });
    return inTurn(paths.map((path) => async () => answerOfResponse(await auth.handler(request(path)))));
  },
}));
